"""Writes a gradient graph as Graphviz DOT: labels escaped, ids of our own, forward and backward in
clusters of their own.
"""

from collections.abc import Mapping
from typing import Final

import graphviz

from explorer.drawing.cards import card
from explorer.drawing.picture import Card
from explorer.drawing.style import FILL, LIGHT, WIRE
from explorer.drawing.text import clean
from explorer.model.graph import GradGraph

DASHES: Final = {"saved": "dashed", "control": "dotted"}
STYLES: Final = {
    "accumulate": "filled,rounded,bold",
    "seed": "filled,rounded,dashed",
    "call": "filled,rounded,bold",
    "call-backward": "filled,rounded,bold",
}


def dot(graph: GradGraph, numbers: Mapping[str, int], title: str) -> bytes:
    """DOT text of the graph; saved edges are dashed and do not shape the layout, which ``dot``
    cannot bear in large graphs.
    """
    made = graphviz.Digraph("gradient_graph", node_attr=_defaults(), edge_attr={"arrowsize": "0.6"})
    made.attr(
        label=graphviz.escape(clean(title)),
        labelloc="t",
        fontname="Helvetica",
        fontsize="14",
        rankdir="TB",
    )
    nodes = graph.by_id()
    for phase in ("forward", "backward"):
        with made.subgraph(name=f"cluster_{phase}") as lane:
            lane.attr(
                label=phase,
                color=LIGHT["group-line"],
                fontcolor=LIGHT[f"{phase}-line"],
                fontname="Helvetica",
            )
            for node in graph.nodes:
                if node.phase == phase:
                    shown = card(node, numbers.get(node.id))
                    fill = FILL[shown.role]
                    line = LIGHT["alarm"] if shown.alarm else LIGHT[f"{fill}-line"]
                    style = STYLES.get(shown.role, "filled,rounded")
                    lane.node(
                        node.id, _label(shown), fillcolor=LIGHT[fill], color=line, style=style
                    )
    for edge in graph.edges:
        if edge.kind == "data":
            made.edge(edge.origin, edge.target, color=LIGHT[WIRE[nodes[edge.target].phase]])
        else:
            made.edge(
                edge.origin,
                edge.target,
                style=DASHES[edge.kind],
                color=LIGHT["rung"],
                constraint="false",
            )
    return str(made.source).encode()


def _defaults() -> dict[str, str]:
    return {
        "shape": "box",
        "fontname": "Helvetica",
        "fontsize": "11",
        "height": "0.3",
        "fontcolor": LIGHT["ink"],
    }


def _label(shown: Card) -> str:
    first = "  ".join(
        filter(None, (f"({shown.badge})" if shown.badge else "", shown.title, shown.shape))
    )
    return r"\n".join(graphviz.escape(line) for line in (first, shown.value) if line)
