"""Tests of what benchmarks make of their figures; none of them is timed."""
