"""The picture of a gradient graph in each view, a ladder or a flow, with its titles."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from explorer.drawing.cards import cards
from explorer.drawing.label_text import fit, measure, printable
from explorer.drawing.ladder.assembly import LaidOut, lay_out
from explorer.drawing.ladder.columns import ladder_columns, single_column
from explorer.drawing.marks import Marks
from explorer.drawing.picture import Card, Picture, Text, Wire, WireKind
from explorer.drawing.shown import Shown
from explorer.drawing.style import HEADLINE_SIZE, MARGIN, NOTE_SIZE, SMALL_SIZE
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
