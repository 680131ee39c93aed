"""Measurements on cells and modules for the claims about networks; each pair of functions asks both frameworks one question."""
