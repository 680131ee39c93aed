"""Results as a person or a program reads them: a package for each kind, a module for each format.

The kinds are the report on a scenario, the difference of two graphs, a study, the board of claims,
and what the doctor found. The formats are the terminal, JSON, Markdown and HTML; what one format
needs for every kind stands in the module of its name.
"""
