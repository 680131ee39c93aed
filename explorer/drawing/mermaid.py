"""Writes a small gradient graph as a Mermaid flowchart, for pages that render Mermaid themselves."""

from collections.abc import Mapping
from typing import Final

from explorer.drawing.cards import card
from explorer.drawing.style import FILL, LIGHT
from explorer.drawing.text import clean
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph

LARGEST: Final = 60
"""A Mermaid chart of more nodes than this can no longer be read."""

ARROWS: Final = {"data": "-->", "saved": "-.->", "control": "~~~"}
ROUND: Final = ("([", "])")
SLANTED: Final = ("[/", "/]")
BARRED: Final = ("[[", "]]")
SHAPES: Final = {
    "accumulate": ROUND,
    "leaf": SLANTED,
    "gradient": SLANTED,
    "seed": ROUND,
    "call": BARRED,
    "call-backward": BARRED,
}
PLAIN: Final = frozenset(" .,_-+()·×…‖")


def mermaid(graph: GradGraph, numbers: Mapping[str, int]) -> bytes:
    """The flowchart's text. Raises UsageError for more than LARGEST nodes."""
    if len(graph.nodes) > LARGEST:
        raise UsageError(
            f"{len(graph.nodes)} nodes are too many for Mermaid, which shows at most {LARGEST}: "
            "collapse modules with a smaller depth, or take svg"
        )
    lines = ["flowchart TB"]
    for phase in ("forward", "backward"):
        lines.append(f"  subgraph {phase}")
        for node in graph.nodes:
            if node.phase == phase:
                shown = card(node, numbers.get(node.id))
                start, end = SHAPES.get(shown.role, ("[", "]"))
                words = [f"({shown.badge})" if shown.badge else "", shown.title, shown.shape]
                text = "<br/>".join(
                    filter(None, (quoted(" ".join(filter(None, words))), quoted(shown.value)))
                )
                lines.append(f'    {node.id}{start}"{text}"{end}:::{FILL[shown.role]}')
        lines.append("  end")
    lines += [f"  {edge.origin} {ARROWS[edge.kind]} {edge.target}" for edge in graph.edges]
    for fill in dict.fromkeys(FILL.values()):
        lines.append(
            f"  classDef {fill} fill:{LIGHT[fill]},stroke:{LIGHT[fill + '-line']},color:{LIGHT['ink']}"
        )
    return ("\n".join(lines) + "\n").encode()


def quoted(text: str) -> str:
    """Text for a Mermaid label: everything that Mermaid or HTML could read as syntax becomes a
    character code.
    """
    return "".join(
        sign if sign.isalnum() or sign in PLAIN else f"#{ord(sign)};" for sign in clean(text)
    )
