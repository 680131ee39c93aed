"""Runs Graphviz in a process of its own: a layout request on stdin, the places on stdout."""

import sys
from collections import defaultdict
from collections.abc import Mapping

import msgspec
import pygraphviz

from explorer.drawing.layout import LayoutRequest
from explorer.drawing.picture import Point
from explorer.drawing.style import LABEL_SIZE

POINTS = 72.0
"""Points to the inch, which Graphviz measures sizes and distances in; it answers in points."""

HEAVY = 8
"""The weight of an edge in comparison with a light one: how much it holds its ends together."""

LONGEST_LABEL = 40
"""The most characters of a cluster's label that get room."""

CLUSTER_MARGIN = "24"
"""Room between a cluster's boxes and its border, in points."""

# Bounds on the passes of the network simplex, in multiples of the number of nodes, and of the
# reduction of crossings (https://graphviz.org/docs/attrs/nslimit): in a large graph the search for
# an optimum takes long, and the gain is hardly visible.
LIMITS = {"nslimit": "4", "nslimit1": "4", "mclimit": "1"}


def place(request: LayoutRequest) -> dict[str, Point]:
    """The centre of every node as ``dot`` places it, in points, y growing downwards."""
    graph = pygraphviz.AGraph(
        directed=True, strict=True, splines="false", nodesep=request.column_gap / POINTS
    )
    graph.graph_attr.update(ranksep=_inches(request.row_gap), **LIMITS)
    graph.node_attr.update(shape="box", fixedsize="true", label="")
    for node, (width, height) in request.sizes.items():
        graph.add_node(node, width=_inches(width), height=_inches(height))
    light = set(request.light)
    for link in request.edges:
        graph.add_edge(*link, weight=1 if link in light else HEAVY)
    if request.layers:
        _add_layers(graph, request.layers)
    else:
        if request.bottom_row:
            graph.add_subgraph(request.bottom_row, rank="sink")
        _add_clusters(graph, request)
    graph.layout("dot")

    centres = {}
    for node in request.sizes:
        x, y = graph.get_node(node).attr["pos"].split(",")
        centres[node] = (float(x), float(y))
    # Graphviz counts y upwards from the bottom.
    top = max(y for _, y in centres.values())
    return {node: (x, top - y) for node, (x, y) in centres.items()}


def _inches(points: float) -> str:
    return f"{points / POINTS:.4f}"


def _add_layers(graph: "pygraphviz.AGraph", layers: Mapping[str, int]) -> None:
    """Hold every node in its layer, by a chain of nodes without size, one to each layer."""
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for node, layer in layers.items():
        rows[layer].append(node)
    for layer in range(max(rows) + 1):
        holder = f"layer {layer}"
        graph.add_node(holder, width="0", height="0", style="invis")
        graph.add_subgraph([holder, *rows[layer]], name=f"layer{layer}", rank="same")
        if layer:
            graph.add_edge(f"layer {layer - 1}", holder, style="invis")


def _add_clusters(graph: "pygraphviz.AGraph", request: LayoutRequest) -> None:
    members: defaultdict[str, list[str]] = defaultdict(list)
    for node, label in request.clusters.items():
        members[label].append(node)
    for index, (label, nodes) in enumerate(members.items()):
        # Room for the label; the text itself is not given, for Graphviz reads some as markup.
        graph.add_subgraph(
            nodes,
            name=f"cluster{index}",
            margin=CLUSTER_MARGIN,
            label="x" * min(len(label), LONGEST_LABEL),
            fontsize=str(LABEL_SIZE),
        )


if __name__ == "__main__":
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=LayoutRequest)
    sys.stdout.buffer.write(msgspec.json.encode(place(request)))
