"""The board of claims in four formats."""
