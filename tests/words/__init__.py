"""Tests of what makes text of facts."""
