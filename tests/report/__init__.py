"""Tests of the reports, studies and boards in all their formats."""
