"""Writes a gradient graph as Graphviz DOT: labels escaped, each phase in a cluster."""

from typing import Any, Final

import graphviz

from explorer.drawing.cards import cards, label_lines
from explorer.drawing.label_text import printable
from explorer.drawing.marks import Marks
from explorer.drawing.picture import BoxRole, Card
from explorer.drawing.style import FILL, LIGHT, WIRE
from explorer.model.graph import Edge, EdgeKind, GradGraph, Phase

DASHES: Final[dict[EdgeKind, str]] = {"saved": "dashed", "control": "dotted"}

BOX_STYLE: Final = "filled,rounded"
BOX_STYLES: Final[dict[BoxRole, str]] = {
    "accumulate": f"{BOX_STYLE},bold",
    "seed": f"{BOX_STYLE},dashed",
    "call": f"{BOX_STYLE},bold",
    "call-backward": f"{BOX_STYLE},bold",
}
"""The style of a box, and those of some roles."""

FONT: Final = "Helvetica"

NODE_DEFAULTS: Final = {
    "shape": "box",
    "fontname": FONT,
    "fontsize": "11",
    "height": "0.3",
    "fontcolor": LIGHT["ink"],
}


def dot(graph: GradGraph, marks: Marks, title: str) -> bytes:
    """The DOT text of a graph; ``marks`` are by the ids of nodes."""
    shown = cards(graph, marks)
    digraph = graphviz.Digraph(
        "gradient_graph", node_attr=NODE_DEFAULTS, edge_attr={"arrowsize": "0.6"}
    )
    digraph.attr(
        label=graphviz.escape(printable(title)),
        labelloc="t",
        fontname=FONT,
        fontsize="14",
        rankdir="TB",
    )
    # The two phases are clusters, so that Graphviz keeps each together.
    for phase in ("forward", "backward"):
        with digraph.subgraph(name=f"cluster_{phase}") as cluster:
            cluster.attr(
                label=phase,
                color=LIGHT["group-line"],
                fontcolor=LIGHT[f"{phase}-line"],
                fontname=FONT,
            )
            for node in graph.nodes:
                if node.phase == phase:
                    _add_node(cluster, shown[node.id])
    nodes = graph.by_id()
    for edge in graph.edges:
        digraph.edge(edge.origin, edge.target, **_edge_look(edge, nodes[edge.target].phase))
    return str(digraph.source).encode()


def _add_node(cluster: Any, node: Card) -> None:
    # DOT has no style sheet: the colours are the light ones, on the white of Graphviz's paper.
    fill = FILL[node.role]
    is_alarming = node.alarm or node.refuted or node.diverges
    line = "alarm" if is_alarming else f"{fill}-line"
    label = r"\n".join(graphviz.escape(text) for text in label_lines(node, between="  "))
    cluster.node(
        node.id,
        label,
        fillcolor=LIGHT[fill],
        color=LIGHT[line],
        style=BOX_STYLES.get(node.role, BOX_STYLE),
    )


def _edge_look(edge: Edge, phase: Phase) -> dict[str, str]:
    """The attributes of an edge into a node of a phase."""
    if edge.kind == "data":
        return {"color": LIGHT[WIRE[phase]]}
    # Between the phases an edge must not shape the layout: with many such edges, dot takes minutes
    # for a graph that it lays out in a second without them.
    return {"style": DASHES[edge.kind], "color": LIGHT["rung"], "constraint": "false"}
