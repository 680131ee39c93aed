"""Tests of arithmetic on arrays."""
