"""Faults planted by hand in workers and in what readers get, and the tests that must notice each."""
