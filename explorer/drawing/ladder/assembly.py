"""Lays a graph out in columns step by step, and puts the picture together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from explorer.drawing.ladder.columns import Columns, Lane, PlacedColumns, SideColumn, place_columns
from explorer.drawing.ladder.groups import GroupSpan, group_spans
from explorer.drawing.ladder.placement import place_backward, place_forward
from explorer.drawing.ladder.routing import BesideNode, Height, OnTrack, Route, Tracks, route_edges
from explorer.drawing.ladder.rows import Rows, lane_rows
from explorer.drawing.layout import Wish, spread
from explorer.drawing.picture import Box, Card, ModuleGroup, Picture, Text, Waypoint, Wire
from explorer.drawing.structure import PART_DOT, group_paths
from explorer.drawing.style import BOX_HEIGHT, MARGIN
from explorer.model.graph import GradGraph
from explorer.text.language import _

# Heights of rows

HEAD: Final = 82.0
"""Where the rows begin, in points: below the picture's title and the columns' headings."""

ABOVE_LEVEL: Final = 26.0
ABOVE_ROW: Final = 17.0
"""Height of the gap above a row without its tracks, in points: the first of a level, and others."""

TRACK: Final = 6.0
"""How far the tracks of one gap are apart, in points."""

BEFORE_TRACKS: Final = 7.0
"""Room between a row and the first track below it, in points."""

LABEL_HEIGHT: Final = 13.0
"""Room above a row for the label of each of the nested groups that begin there, in points."""

GROUP_END: Final = 4.0
"""Room below a row for the end of each of the nested groups that end there, in points."""

OUTSIDE_ROW: Final = 2.0
"""How far outside a row an edge that passes it turns upright, in points."""

BELOW: Final = 14.0
"""Room below all rows, in points."""


class Heights(msgspec.Struct, frozen=True):
    """The y of everything that a route can meet, in points.

    ``centres`` and ``halves`` are the centres and the half heights of the rows, ``first_tracks``
    the first tracks of the gaps: one above each row, and one below the last.
    """

    centres: list[float]
    halves: list[float]
    first_tracks: list[float]
    bottom: float

    def top_of(self, row: int) -> float:
        """The y of a row's upper edge."""
        return self.centres[row] - self.halves[row]

    def bottom_of(self, row: int) -> float:
        """The y of a row's lower edge."""
        return self.centres[row] + self.halves[row]

    def y(self, height: Height, boxes: Mapping[str, Box]) -> float:
        """The y of a point of a route, in points; ``boxes`` are the placed boxes, by id."""
        if isinstance(height, BesideNode):
            box = boxes[height.node]
            return box.y + box.card.height / 2 + height.offset
        if isinstance(height, OnTrack):
            return self.first_tracks[height.gap] + TRACK * height.track
        outside = self.halves[height.row] + OUTSIDE_ROW
        if height.edge == "top":
            return self.centres[height.row] - outside
        return self.centres[height.row] + outside


def row_heights(
    cards: Mapping[str, Card], rows: Rows, tracks: Tracks, groups: Sequence[GroupSpan]
) -> Heights:
    """The heights of all rows, each with room for its boxes, its tracks and its groups' labels."""
    row_of = {**rows.forward, **rows.backward}
    box_heights: defaultdict[int, float] = defaultdict(lambda: BOX_HEIGHT)
    for node, row in row_of.items():
        box_heights[row] = max(box_heights[row], cards[node].height)
    above: defaultdict[int, float] = defaultdict(float)
    below: defaultdict[int, float] = defaultdict(float)
    for group in groups:
        levels = group.nesting + 1
        above[group.first] = max(above[group.first], LABEL_HEIGHT * levels)
        below[group.last] = max(below[group.last], GROUP_END * levels)

    centres, halves, first_tracks = [], [], []
    y = HEAD
    count = max(row_of.values(), default=-1) + 1
    for row in range(count):
        first_tracks.append(y + BEFORE_TRACKS)
        gap = ABOVE_LEVEL if row in rows.first_rows else ABOVE_ROW
        y += gap + TRACK * tracks.count(row) + above[row]
        centres.append(y + box_heights[row] / 2)
        halves.append(box_heights[row] / 2)
        y += box_heights[row]
        y += below[row]
    first_tracks.append(y + BEFORE_TRACKS)
    bottom = y + TRACK * tracks.count(count) + BELOW
    return Heights(centres, halves, first_tracks, bottom)


# The picture

BETWEEN_IN_COLUMN: Final = 7.0
"""Room between two boxes of a side column, in points."""

BELOW_BOXES: Final = 14.0
"""Room below the lowest box, in points."""

ABOVE_ROWS: Final = 2.0
"""Room between the columns' headings and the rows, in points."""

BELOW_HEADING: Final = 4.0
"""Least distance of the boxes of a side column from where the rows begin, in points."""

IMMOVABLE: Final = 1e9
"""The weight of a place that no box can move."""

ABOVE_LABEL: Final = 1.0
"""Room between the top of a group and its label, in points."""

BELOW_MEMBERS: Final = 5.0
"""Room between the lowest boxes of a group and its bottom, in points."""


class LaidOut(NamedTuple):
    """A picture without its titles, and a note about its layout.

    ``note`` says why Graphviz did not lay out the forward lane ("" when it did).
    """

    picture: Picture
    note: str


def lay_out(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], timeout: float
) -> LaidOut:
    """The picture of a graph in columns; ``timeout`` limits Graphviz, in seconds."""
    # Graphviz never gets both lanes: with all rungs between them, dot did not finish 500 nodes in
    # 120 s, and took 0.1 s without.
    layout = place_forward(graph, columns, cards, timeout)
    rows = lane_rows(graph, columns, cards, layout.places)
    centres = {node: x for node, (x, _) in layout.places.items()}
    forward = Lane(cards, rows.forward, centres, direction=1)
    centres = place_backward(graph, columns, cards, rows, forward)
    backward = Lane(cards, rows.backward, centres, direction=-1)

    # Rows get their y last: how high a gap is depends on the edges that run through it.
    placed = place_columns(graph, columns, cards, forward, backward)
    tracks = Tracks()
    routes = route_edges(placed, tracks)

    paths = group_paths(graph)
    groups = [*group_spans(forward, paths), *group_spans(backward, paths)]
    heights = row_heights(cards, rows, tracks, groups)
    boxes = _boxes(placed, heights)
    return LaidOut(_picture(graph, placed, routes, boxes, groups, heights), layout.note)


def _boxes(placed: PlacedColumns, heights: Heights) -> dict[str, Box]:
    """Every card at its place, keyed by id."""
    boxes = {}
    for lane in (placed.forward, placed.backward):
        for node in lane.centres:
            card = placed.cards[node]
            y = heights.centres[lane.rows[node]] - card.height / 2
            boxes[node] = Box(card, lane.left_of(node), y)
    for leaf, middle in _middles(placed.leaves, placed.cards, heights).items():
        card = placed.cards[leaf]
        boxes[leaf] = Box(card, placed.leaves_end - card.width, middle - card.height / 2)
    for gradient, middle in _middles(placed.gradients, placed.cards, heights).items():
        card = placed.cards[gradient]
        boxes[gradient] = Box(card, placed.gradients_start, middle - card.height / 2)
    return boxes


def _middles(column: SideColumn, cards: Mapping[str, Card], heights: Heights) -> dict[str, float]:
    """The y of the middle of each box of a side column, as near to its row as can be.

    None stands above the rows.
    """
    # The first stands for where the rows begin.
    wishes = [Wish(HEAD + BELOW_HEADING, 0.0, IMMOVABLE)]
    for node in column.order:
        # A net without operators has no rows that its leaves could stand at.
        y = HEAD
        if heights.centres:
            y = heights.centres[column.rows[node]] + column.nudges[node]
        wishes.append(Wish(y, cards[node].height))
    middles = spread(wishes, BETWEEN_IN_COLUMN)
    return dict(zip(column.order, middles[1:], strict=True))


def _picture(
    graph: GradGraph,
    placed: PlacedColumns,
    routes: Sequence[Route],
    boxes: Mapping[str, Box],
    groups: Sequence[GroupSpan],
    heights: Heights,
) -> Picture:
    bottom = right = 0.0
    for box in boxes.values():
        bottom = max(bottom, box.bottom + BELOW_BOXES)
        right = max(right, box.right)
    return Picture(
        width=max(placed.width, right) + MARGIN,
        height=max(heights.bottom, bottom),
        # In the graph's order, which is also the one in which a screen reader comes to them.
        boxes=tuple(boxes[node.id] for node in graph.nodes),
        wires=tuple(_wire(route, boxes, heights) for route in routes),
        groups=tuple(_module_group(span, heights) for span in groups),
        texts=_headings(placed),
    )


def _wire(route: Route, boxes: Mapping[str, Box], heights: Heights) -> Wire:
    path = [Waypoint(step.turn, step.x, heights.y(step.height, boxes)) for step in route.steps]
    return Wire(route.origin, route.target, route.kind, tuple(path))


def _module_group(span: GroupSpan, heights: Heights) -> ModuleGroup:
    label_height = LABEL_HEIGHT * (span.nesting + 1)
    top = heights.top_of(span.first) - label_height - ABOVE_LABEL
    bottom = heights.bottom_of(span.last) + BELOW_MEMBERS + GROUP_END * span.nesting
    path = span.path.replace(PART_DOT, ".")
    return ModuleGroup(path, span.fitted_label, span.left, top, span.width, bottom - top)


def _headings(placed: PlacedColumns) -> tuple[Text, ...]:
    """The names of the columns that have something in them."""
    y = HEAD - ABOVE_ROWS
    headings = []
    if placed.leaves.order:
        headings.append(Text(placed.leaves_end, y, _("given"), "heading-leaf"))
    if placed.columns.forward:
        headings.append(Text(sum(placed.forward_extent) / 2, y, _("forward"), "heading-forward"))
    if placed.columns.backward:
        headings.append(Text(sum(placed.backward_extent) / 2, y, _("backward"), "heading-backward"))
    if placed.gradients.order:
        headings.append(Text(placed.gradients_start, y, _("gradients"), "heading-gradient"))
    return tuple(headings)
