"""Tests of recorded steps and of their traces."""
