"""The board of claims, set in four faces."""
