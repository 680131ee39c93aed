"""The catalogue of operators: what each framework calls them, and how their arguments correspond.

Each row of functions and layers was run on both sides; the versions are ``table.CHECKED``.
"""
