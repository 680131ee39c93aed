"""Tests of worker processes and their queue."""
