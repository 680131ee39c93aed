"""Keeps what MindSpore's compiler looks up about the functions that it parses.

It parses some forty functions at each compilation, the same ones every time. It keeps their syntax
trees, and finds the lines of each function and the place of each node anew (2.10.0): up to a fifth
of a small net's compilation.
"""

import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

SourceLines = tuple[list[str], int]
"""The lines of a function, and the number of the first."""

MOST = 4096
"""Functions whose lines are kept; a framework has some hundred that are parsed."""

MOST_PLACES = 200_000
"""Places of nodes that are kept: those of some thousand functions."""

_find = inspect.getsourcelines


def keep() -> None:
    """From now on, keep what the compiler's parser looks up in this process."""
    import mindspore.log

    from explorer.engines.mindspore.versions import provided  # the rest needs no framework

    parser, checker = provided("graph._parse.parser"), provided("graph._parse.jit_fallback_modules")

    # Python looks all modules up at the first search for lines, and only new ones later: a tenth of a
    # second that workers which are forked from this process need not spend.
    inspect.getmodule(keep.__code__)
    inspect.getsourcelines = lines  # type: ignore[assignment]  # it takes what the other takes
    parser.get_location = places_kept(parser.get_location)
    checker.is_third_party_module = judgements_kept(checker.is_third_party_module)
    # The parser writes what it does into a debug log, 1,600 times at each compilation.
    mindspore.log.debug = _say_nothing


def lines(function: Any) -> SourceLines:
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
def _lines_of(code: CodeType, _: str) -> SourceLines:
    # The code and not the function, whose closure would keep a whole net. Of two files, equal
    # functions in the same lines have equal code: the name of the file distinguishes them.
    return _find(code)


def places_kept(locate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """``locate``, which has a parser say where a node or a list of nodes is, called once for each."""
    places: dict[tuple[int, int, str, int], tuple[Any, Any, Any]] = {}

    def place(parser: Any, node: Any) -> Any:
        first = last = node
        if isinstance(node, list | tuple):
            if not node:
                return locate(parser, node)
            first, last = node[0], node[-1]
        # Functions with the same text share a tree, wherever they stand.
        key = id(first), id(last), parser.filename, parser.line_offset
        if key not in places:
            if len(places) >= MOST_PLACES:
                places.clear()
            # With the nodes, so that no other ones are made under their ids.
            places[key] = first, last, locate(parser, node)
        return places[key][2]

    return place


def judgements_kept(judge: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """``judge``, which has a checker say whether a module is a library's, called once for each."""
    judgements: dict[tuple[str, str | None], bool] = {}

    def is_third_party(checker: Any, module: Any) -> bool:
        key = module.__name__, getattr(module, "__file__", None)
        if key not in judgements:
            judgements[key] = judge(checker, module)
        return judgements[key]

    return is_third_party


def _say_nothing(*_: Any, **__: Any) -> None:
    """Stands for a log of what is of use to MindSpore's own developers."""
