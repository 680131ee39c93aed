"""Scenarios: found and loaded, their matrix of cases, and one start for the nets of all engines."""
