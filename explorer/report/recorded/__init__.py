"""Recorded results of everything shipped, which faces show until it is run on the reader's machine."""
