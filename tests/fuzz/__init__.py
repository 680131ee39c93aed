"""Tests of the search with random nets."""
