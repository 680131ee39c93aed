"""The report on a scenario: what it says in words and rows, set in four faces."""
