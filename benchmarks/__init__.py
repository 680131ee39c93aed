"""Measures how long the explorer takes and what it finds: `python -m benchmarks` makes one table."""
