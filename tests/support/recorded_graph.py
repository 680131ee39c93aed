"""The graph of one operator as a trace may have it."""

from explorer.model.arrays import AnyArray
from explorer.model.graph import Arguments, Edge, GradGraph, Node, Output
from explorer.numeric.summaries import summarise


def graph(op: str, *arrays: AnyArray, arguments: Arguments | None = None) -> GradGraph:
    """An operator that reads some leaves."""
    leaves, edges = [], []
    for place, array in enumerate(arrays):
        output = Output(array.shape, array.dtype.name, summarise(array))
        leaves.append(
            Node(id=f"n{place}", op="input", kind="input", phase="forward", outputs=(output,))
        )
        edges.append(Edge(f"n{place}", "op", input=place))
    made = Node(id="op", op=op, kind="op", phase="forward", arguments=arguments or {})
    return GradGraph(
        engine="torch-tape",
        case="a step",
        stage="tape",
        nodes=(*leaves, made),
        edges=tuple(edges),
    )
