"""The report on a scenario: its words and rows (overview, wording), and four formats of them."""
