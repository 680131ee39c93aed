"""Tests of the patch that mends a net."""
