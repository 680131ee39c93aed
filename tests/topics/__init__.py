"""Tests of studies and claims, a file or a few a topic."""
