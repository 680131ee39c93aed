"""What a person or a program gets to see: a package for each thing shown, a module for each face.

The things are the report on a scenario, the difference of two graphs, a study, the board of claims,
and what the doctor found. The faces are the terminal, JSON, Markdown and HTML; what faces of all
things share stands in modules of their names.
"""
