"""Tests of blocks in documents: Markdown, Sphinx, MkDocs."""
