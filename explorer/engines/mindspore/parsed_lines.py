"""The lines of the functions that MindSpore's compiler parses, looked up once each.

It parses some forty functions at each compilation, the same ones every time. It keeps their syntax
trees and finds the lines of each anew (2.10.0), which is up to a tenth of a small net's compilation.
"""

import functools
import inspect
from types import CodeType
from typing import Any

Lines = tuple[list[str], int]
"""The lines of a function, and the number of the first."""

MOST = 4096
"""Functions whose lines are kept; a framework has some hundred that are parsed."""

_find = inspect.getsourcelines


def keep() -> None:
    """From now on, keep what ``inspect.getsourcelines`` finds in this process."""
    inspect.getsourcelines = lines  # type: ignore[assignment]  # it takes what the other takes


def lines(function: Any) -> Lines:
    """The lines of a function and the number of the first, as ``inspect.getsourcelines`` has them.

    Raises OSError where there is no source, and TypeError for what has none.
    """
    inner = inspect.unwrap(function)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    if not isinstance(code, CodeType):
        return _find(function)
    found, first = _lines_of(code, code.co_filename)
    return list(found), first


@functools.lru_cache(MOST)
def _lines_of(code: CodeType, _: str) -> Lines:
    # The code and not the function, whose closure would keep a whole net. Of two files, equal
    # functions in the same lines have equal code: the name of the file tells them apart.
    return _find(code)
