"""Reads a layout request on stdin and writes the place of every node on stdout: Graphviz, alone in
its process.
"""

import sys
from collections import defaultdict

import msgspec
import pygraphviz

from explorer.drawing.layout import POINTS, Request

HEAVY = 8
"""How much more an edge of the flow holds its ends together than one that only keeps a value for
later.
"""


LONGEST = 40
"""The most characters of a cluster's label that get room."""


def place(request: Request) -> dict[str, tuple[float, float]]:
    """The centre of every node as ``dot`` places it, y growing downwards."""
    graph = pygraphviz.AGraph(
        directed=True, strict=True, splines="false", nodesep=request.across / POINTS
    )
    graph.graph_attr.update(
        ranksep=f"{request.down / POINTS:.4f}", nslimit="4", nslimit1="4", mclimit="1"
    )
    graph.node_attr.update(shape="box", fixedsize="true", label="")
    for node, (width, height) in request.sizes.items():
        graph.add_node(node, width=f"{width / POINTS:.4f}", height=f"{height / POINTS:.4f}")
    light = set(request.light)
    for origin, target in request.edges:
        graph.add_edge(origin, target, weight=1 if (origin, target) in light else HEAVY)
    if request.last:
        graph.add_subgraph(request.last, rank="sink")
    _clusters(graph, request)
    graph.layout("dot")
    places = {
        node: tuple(map(float, graph.get_node(node).attr["pos"].split(",")))
        for node in request.sizes
    }
    top = max(y for _, y in places.values())
    return {node: (x, top - y) for node, (x, y) in places.items()}


def _clusters(graph: "pygraphviz.AGraph", request: Request) -> None:
    members: defaultdict[str, list[str]] = defaultdict(list)
    for node, label in request.clusters.items():
        members[label].append(node)
    for index, (label, nodes) in enumerate(members.items()):
        # Room for the label; the text itself is not given, for Graphviz reads some as markup.
        graph.add_subgraph(
            nodes,
            name=f"cluster{index}",
            margin="24",
            label="x" * min(len(label), LONGEST),
            fontsize="9",
        )


if __name__ == "__main__":
    sys.stdout.buffer.write(
        msgspec.json.encode(place(msgspec.json.decode(sys.stdin.buffer.read(), type=Request)))
    )
