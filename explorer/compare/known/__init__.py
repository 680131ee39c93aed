"""Divergences that are already known: which claim or surprise is about what two graphs show."""
