"""A gradient graph as a small picture without words: boxes and edges, on light and on dark paper."""

from collections.abc import Sequence
from typing import Final

from explorer.drawing.marks import Marks, marks
from explorer.drawing.picture import Box, BoxRole, Picture, Wire, WireKind
from explorer.drawing.shown import show
from explorer.drawing.style import BOX_CORNER, BOX_CORNERS, FILL, WIRE
from explorer.drawing.svg_elements import SvgAttributes, element, path_data
from explorer.drawing.views import picture
from explorer.model.graph import GradGraph

MOST_NODES: Final = 40
"""More nodes than this are merged by module where that helps: smaller boxes could not be seen."""

MIDDLE: Final = {
    "forward": "#4a8fd4",
    "backward": "#d9803a",
    "leaf": "#6ba045",
    "accumulate": "#a078cf",
    "quiet": "#8a97a3",
    "rung": "#8a97a3",
}
"""Colours between those of light and of dark paper, which are seen on both."""

SECONDS: Final = 10.0

AROUND: Final = 4.0
"""Room around the boxes, in points."""


def thumbnail(graph: GradGraph, label: str) -> str:
    """The ladder of a graph as an SVG without text; ``label`` names it for those who cannot see it."""
    shown = show(graph, "fit", MOST_NODES)
    unmarked: Marks = marks(shown, {})
    return drawn(picture(shown, "ladder", unmarked, "", SECONDS), label)


def drawn(ladder: Picture, label: str) -> str:
    """A picture's boxes and edges; its texts are left out, and so is the room that they take."""
    wires = [_wire(wire) for wire in ladder.wires if wire.kind != "control"]
    boxes = list(map(_box, ladder.boxes))
    attributes: SvgAttributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": _view_box(ladder.boxes),
        "role": "img",
        "aria-label": label,
    }
    return element("svg", attributes, "".join([*wires, *boxes]))


def _view_box(boxes: Sequence[Box]) -> str:
    """The part of the picture that has boxes, with a margin around it."""
    left = top = 0.0
    right = bottom = 1.0
    if boxes:
        left, top = min(box.x for box in boxes), min(box.y for box in boxes)
        right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    width, height = right - left + 2 * AROUND, bottom - top + 2 * AROUND
    return f"{left - AROUND:.0f} {top - AROUND:.0f} {width:.0f} {height:.0f}"


def _wire(wire: Wire) -> str:
    attributes: dict[str, str | float] = {
        "d": path_data(wire.path),
        "fill": "none",
        "stroke": _line_colour(wire.kind),
        "stroke-width": 1.5,
    }
    if wire.kind == "rung":
        attributes["stroke-dasharray"] = "5 4"
    return element("path", attributes)


def _box(box: Box) -> str:
    colour = _fill_colour(box.card.role)
    attributes: SvgAttributes = {
        "x": box.x,
        "y": box.y,
        "width": box.card.width,
        "height": box.card.height,
        "rx": BOX_CORNERS.get(box.card.role, BOX_CORNER),
        "fill": colour,
        "fill-opacity": 0.45,
        "stroke": colour,
        "stroke-width": 1.5,
    }
    return element("rect", attributes)


def _fill_colour(role: BoxRole) -> str:
    return MIDDLE[FILL[role]]


def _line_colour(kind: WireKind) -> str:
    return MIDDLE[WIRE[kind].removesuffix("-line")]
