"""Tests of comparing: verdicts on results, and the alignment of gradient graphs."""
