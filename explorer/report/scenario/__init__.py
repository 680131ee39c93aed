"""The report on a scenario: its rows and blocks, pictures and files."""
