"""Tests of several versions of a framework beside each other."""
