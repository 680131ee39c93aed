"""Comparisons between engines: of their results, and of the graphs of their gradients."""
