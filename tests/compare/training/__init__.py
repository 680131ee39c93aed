"""Tests of the comparison of two trainings."""
