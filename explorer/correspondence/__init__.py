"""Which function and layer of MindSpore is which of PyTorch, argument by argument.

Each row of the table was run on both sides; the versions are ``table.CHECKED``.
"""
