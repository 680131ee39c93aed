"""Faults planted by hand in what runs in workers, and the tests that must notice each."""
