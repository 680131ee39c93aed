"""Facts in words, in the reader's language: the only place where records become text."""
