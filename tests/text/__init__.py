"""Tests of what makes words and numbers readable."""
