"""Parses Python's text in one thread at a time."""

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def parsed(text: str | bytes, name: str = "<unknown>") -> ast.Module:
    """The tree of some text of Python, ``name`` being its file; raises what ast.parse raises."""
    # Python 3.11 counts the depth of a tree once for all threads: two that parse at a time end in
    # SystemError("AST constructor recursion depth mismatch").
    with _ONE_AT_A_TIME:
        return ast.parse(text, name)
