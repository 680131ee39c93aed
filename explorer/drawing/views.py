"""The picture of a gradient graph in each view, a ladder or a flow, and as a thumbnail without words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from explorer.drawing.cards import cards
from explorer.drawing.label_text import fit, measure, printable
from explorer.drawing.ladder.assembly import LaidOut, lay_out
from explorer.drawing.ladder.columns import ladder_columns, single_column
from explorer.drawing.marks import Marks, marks
from explorer.drawing.picture import Box, BoxRole, Card, Picture, Text, Wire, WireKind
from explorer.drawing.shown import Shown, show
from explorer.drawing.style import (
    BOX_CORNER,
    BOX_CORNERS,
    FILL,
    HEADLINE_SIZE,
    MARGIN,
    NOTE_SIZE,
    SMALL_SIZE,
    WIRE,
)
from explorer.drawing.svg_elements import SvgAttributes, element, path_data
from explorer.model.graph import GradGraph, Phase
from explorer.text.language import _, later

ViewName = Literal["ladder", "flow"]

WIDEST_TITLE: Final = 720.0
"""The greatest width that a picture gets for its title, in points."""

BOLD: Final = 1.12
"""The most by which a line of text is wider in bold than in regular weight, as a factor."""

TITLE_Y, COUNTS_Y, NOTE_Y = 28.0, 45.0, 60.0
"""The base lines of a picture's first lines, in points."""


class GraphView(NamedTuple):
    """A view: the function that lays a graph out, and a description for those who cannot see it.

    ``lay_out`` takes the graph, its cards by id, and the limit on Graphviz in seconds.
    """

    lay_out: Callable[[GradGraph, Mapping[str, Card], float], LaidOut]
    description: str


def ladder(graph: GradGraph, cards: Mapping[str, Card], timeout: float) -> LaidOut:
    """Forward and backward side by side; ``timeout`` limits Graphviz, in seconds."""
    return lay_out(graph, ladder_columns(graph), cards, timeout)


def flow(graph: GradGraph, cards: Mapping[str, Card], timeout: float) -> LaidOut:
    """All nodes in one lane from top to bottom; ``timeout`` limits Graphviz, in seconds."""
    picture, note = lay_out(graph, single_column(graph), cards, timeout)
    phases = {node.id: node.phase for node in graph.nodes}
    wires = tuple(_coloured_by_phase(wire, phases) for wire in picture.wires)
    return LaidOut(msgspec.structs.replace(picture, wires=wires, texts=()), note)


def _coloured_by_phase(wire: Wire, phases: Mapping[str, Phase]) -> Wire:
    """An edge of a flow: all nodes are in one column, so the phases decide its kind."""
    if wire.kind == "control":
        return wire
    stays_in_phase = phases[wire.origin] == phases[wire.target]
    kind: WireKind = phases[wire.target] if stays_in_phase else "rung"
    return msgspec.structs.replace(wire, kind=kind)


VIEWS: Final[dict[ViewName, GraphView]] = {
    "ladder": GraphView(
        ladder,
        later(
            "Forward runs down on the left, backward up on the right, each backward operator level"
            " with the forward operator it derives from; dashed lines are values kept for backward."
        ),
    ),
    "flow": GraphView(
        flow, later("All nodes from top to bottom, in the order in which values flow.")
    ),
}
"""Every view by name."""


def picture(shown: Shown, view: ViewName, marks: Marks, title: str, timeout: float) -> Picture:
    """The picture of a graph with its title, its counts, and a note where Graphviz failed.

    ``marks`` are by the ids of nodes in sight; ``timeout`` limits Graphviz, in seconds.
    """
    graph = shown.graph
    laid_out, note = VIEWS[view].lay_out(graph, cards(graph, marks), timeout)
    counts = _counts(shown)
    title_width = min(WIDEST_TITLE, measure(title, HEADLINE_SIZE) * BOLD)
    widest_line = max(title_width, measure(counts, SMALL_SIZE), measure(note, NOTE_SIZE))
    width = max(laid_out.width, 2 * MARGIN + widest_line)
    room = width - 2 * MARGIN

    # A narrow graph with a long title: the picture grows with it up to a limit, then it is cut.
    texts = [
        Text(MARGIN, TITLE_Y, fit(printable(title), HEADLINE_SIZE * BOLD, room), "title"),
        Text(MARGIN, COUNTS_Y, fit(printable(counts), SMALL_SIZE, room), "subtitle"),
    ]
    if note:
        texts.append(Text(MARGIN, NOTE_Y, printable(note), "note"))
    return msgspec.structs.replace(
        laid_out,
        width=width,
        texts=(*texts, *laid_out.texts),
        title=title,
        description=_("{counts}. {description} {note}")
        .format(counts=counts, description=_(VIEWS[view].description), note=note)
        .rstrip(),
    )


def _counts(shown: Shown) -> str:
    """How many nodes of each phase are in sight, how many values are kept for backward, the depth."""
    counts = _phase_counts(shown.graph)
    if shown.folding.merges_nothing:
        return counts
    how_far = _("by module")
    if shown.depth is not None:
        how_far = _("to depth {depth}").format(depth=shown.depth)
    if shown.folding.stretches:
        how_far = _("into stretches of what follows one another")
    collapsed = _('{counts} · collapsed {how_far}: {n} of {total} nodes, the others at depth "all"')
    return collapsed.format(
        counts=counts, how_far=how_far, n=len(shown.graph.nodes), total=shown.whole
    )


def _phase_counts(graph: GradGraph) -> str:
    forward = sum(node.phase == "forward" for node in graph.nodes)
    backward = len(graph.nodes) - forward
    counts = _("{stage}: {forward} forward, {backward} backward nodes").format(
        stage=graph.stage, forward=forward, backward=backward
    )
    saved = {edge.origin for edge in graph.edges if edge.kind == "saved"}
    if not saved:
        return counts
    kept = _("{counts}, 1 value kept for backward")
    if len(saved) > 1:
        kept = _("{counts}, {n} values kept for backward")
    return kept.format(counts=counts, n=len(saved))


THUMBNAIL_NODES: Final = 40
"""More nodes than this are merged by module where that helps: smaller boxes could not be seen."""

THUMBNAIL_COLOURS: Final = {
    "forward": "#4a8fd4",
    "backward": "#d9803a",
    "leaf": "#6ba045",
    "accumulate": "#a078cf",
    "quiet": "#8a97a3",
    "rung": "#8a97a3",
}
"""Colours between those of light and of dark paper, which are seen on both."""

THUMBNAIL_SECONDS: Final = 10.0

THUMBNAIL_MARGIN: Final = 4.0
"""Room around the boxes, in points."""


def thumbnail(graph: GradGraph, label: str) -> str:
    """The ladder of a graph as an SVG without text; ``label`` names it for those who cannot see it."""
    shown = show(graph, "fit", THUMBNAIL_NODES)
    unmarked: Marks = marks(shown, {})
    return drawn(picture(shown, "ladder", unmarked, "", THUMBNAIL_SECONDS), label)


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
    width, height = right - left + 2 * THUMBNAIL_MARGIN, bottom - top + 2 * THUMBNAIL_MARGIN
    return f"{left - THUMBNAIL_MARGIN:.0f} {top - THUMBNAIL_MARGIN:.0f} {width:.0f} {height:.0f}"


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
    return THUMBNAIL_COLOURS[FILL[role]]


def _line_colour(kind: WireKind) -> str:
    return THUMBNAIL_COLOURS[WIRE[kind].removesuffix("-line")]
