"""Writes a small gradient graph as a Mermaid flowchart, for pages that render Mermaid."""

from typing import Final

from explorer.drawing.cards import cards, label_lines
from explorer.drawing.label_text import printable
from explorer.drawing.marks import Marks
from explorer.drawing.picture import BoxRole, Card
from explorer.drawing.style import FILL, LIGHT
from explorer.model.errors import UsageError
from explorer.model.graph import EdgeKind, GradGraph

MOST_NODES: Final = 60
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

    Raises UsageError for more than MOST_NODES nodes.
    """
    if len(graph.nodes) > MOST_NODES:
        raise UsageError(
            f"{len(graph.nodes)} nodes are too many for Mermaid, which shows at most {MOST_NODES}: "
            "collapse modules with a smaller depth, or take svg"
        )
    shown = cards(graph, marks)
    lines = ["flowchart TB"]
    for phase in ("forward", "backward"):
        lines.append(f"  subgraph {phase}")
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
