"""Writes a gradient graph as text for Graphviz and for Mermaid."""

from typing import Any, Final

import graphviz

from explorer.drawing.cards import cards, label_lines
from explorer.drawing.label_text import printable
from explorer.drawing.marks import Marks
from explorer.drawing.picture import BoxRole, Card
from explorer.drawing.style import FILL, LIGHT, WIRE
from explorer.model.errors import UsageError
from explorer.model.graph import Edge, EdgeKind, GradGraph, Phase
from explorer.text.language import _

# DOT


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
                label=_(phase),
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


# Mermaid


MOST_FOR_MERMAID: Final = 60
"""A Mermaid chart of more nodes than this can no longer be read."""

# "~~~" is a link that is not drawn: it only keeps its ends in order.
ARROWS: Final[dict[EdgeKind, str]] = {"data": "-->", "saved": "-.->", "control": "~~~"}

RECTANGLE: Final = ("[", "]")
ROUND: Final = ("([", "])")
SLANTED: Final = ("[/", "/]")
BARRED: Final = ("[[", "]]")
SHAPES: Final[dict[BoxRole, tuple[str, str]]] = {
    "accumulate": ROUND,
    "leaf": SLANTED,
    "gradient": SLANTED,
    "seed": ROUND,
    "call": BARRED,
    "call-backward": BARRED,
}
"""The brackets around the label of a box of some roles; of the others they are RECTANGLE."""

PLAIN: Final = frozenset(" .,_-+()·×…‖")
"""Signs that neither Mermaid nor HTML reads as syntax, beside letters and digits."""


def mermaid(graph: GradGraph, marks: Marks) -> bytes:
    """The flowchart's text; ``marks`` are by the ids of nodes.

    Raises UsageError for more than MOST_FOR_MERMAID nodes.
    """
    if len(graph.nodes) > MOST_FOR_MERMAID:
        text = _(
            "{n} nodes are too many for Mermaid, which shows at most {most}: collapse modules"
            " with a smaller depth, or take svg"
        )
        raise UsageError(text.format(n=len(graph.nodes), most=MOST_FOR_MERMAID))
    shown = cards(graph, marks)
    lines = ["flowchart TB"]
    for phase in ("forward", "backward"):
        # In English the id is the label, too.
        name = _(phase)
        lines.append(f"  subgraph {phase}" + (f'["{name}"]' if name != phase else ""))
        nodes = [node for node in graph.nodes if node.phase == phase]
        lines += [f"    {_box(shown[node.id])}" for node in nodes]
        lines.append("  end")
    lines += [f"  {edge.origin} {ARROWS[edge.kind]} {edge.target}" for edge in graph.edges]
    # Each colour once, in the order of the table: a set would change from run to run.
    for fill in dict.fromkeys(FILL.values()):
        line = LIGHT[f"{fill}-line"]
        look = f"fill:{LIGHT[fill]},stroke:{line},color:{LIGHT['ink']}"
        lines.append(f"  classDef {fill} {look}")
    return ("\n".join(lines) + "\n").encode()


def _box(node: Card) -> str:
    """One node: its id, the brackets of its shape around its label, and its colours."""
    label = "<br/>".join(quoted(line) for line in label_lines(node, between=" "))
    start, end = SHAPES.get(node.role, RECTANGLE)
    return f'{node.id}{start}"{label}"{end}:::{FILL[node.role]}'


def quoted(text: str) -> str:
    """Text for a Mermaid label, with character codes for the syntax of Mermaid and HTML."""
    characters = []
    for character in printable(text):
        if character.isalnum() or character in PLAIN:
            characters.append(character)
        else:
            characters.append(f"#{ord(character)};")
    return "".join(characters)
