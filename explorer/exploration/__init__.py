"""Exploring a scenario with every engine, and looking at what is installed."""
