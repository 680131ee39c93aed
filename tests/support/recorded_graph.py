"""The graph of one operator as a trace may have it."""

from explorer.model.arrays import AnyArray
from explorer.model.graph import Arguments, GradGraph
from tests.support.handmade_graph import HandmadeGraph


def graph(op: str, *arrays: AnyArray, arguments: Arguments | None = None) -> GradGraph:
    """An operator that reads some leaves."""
    g = HandmadeGraph()
    leaves = [g.add("input", kind="input", value=it, dtype=it.dtype.name) for it in arrays]
    g.add(op, leaves, arguments=arguments, id_="op")
    return g.record("a step")
