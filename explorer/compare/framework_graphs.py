"""Which graph of a framework is looked at for remarks that concern its net and not its style."""

from collections.abc import Iterable

from explorer.model.engines import Framework, engine_named
from explorer.model.graph import GradGraph


def graphs_of_frameworks(graphs: Iterable[GradGraph]) -> list[GradGraph]:
    """A graph of each framework, in the order of the first of each: the tape's where there is one.

    The nodes of a tape are measured themselves, and a compiled graph has the same places.
    """
    by_framework: dict[Framework, GradGraph] = {}
    for graph in graphs:
        engine = engine_named(graph.engine)
        if engine.style == "tape" or engine.framework not in by_framework:
            by_framework[engine.framework] = graph
    return list(by_framework.values())
