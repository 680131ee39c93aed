"""Outcomes of calls: how equal they are, which of them is right, and what is remarkable about them."""
