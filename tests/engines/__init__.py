"""Tests of the engines, and of what they share."""
