"""Keeps what was found of the graphs that were asked about last."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from explorer.model.graph import GradGraph

MOST_KEPT: Final = 16
"""How many answers a function keeps: two for each graph of a report, with the stages of a compiler."""

Rest = ParamSpec("Rest")
Found = TypeVar("Found")


class _Itself:
    """A graph that equals itself alone: to compare all nodes of two takes as long as to show one."""

    def __init__(self, graph: GradGraph) -> None:
        self.graph = graph

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.graph is other.graph

    def __hash__(self) -> int:
        return id(self.graph)


def kept(
    find: Callable[Concatenate[GradGraph, Rest], Found],
) -> Callable[Concatenate[GradGraph, Rest], Found]:
    """The function with its last answers kept; arguments after the graph must be hashable.

    A report in several files draws each graph up to four times.
    """

    @lru_cache(MOST_KEPT)
    def found(graph: _Itself, /, *rest: Hashable, **named: Hashable) -> Found:
        return find(graph.graph, *rest, **named)  # type: ignore[arg-type]  # those of find

    @wraps(find)
    def ask(graph: GradGraph, /, *rest: Rest.args, **named: Rest.kwargs) -> Found:
        return found(_Itself(graph), *rest, **named)  # type: ignore[arg-type]  # they are hashable

    return ask
