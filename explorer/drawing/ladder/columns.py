"""The columns of a ladder: two lanes with the ways past their boxes, the leaves, the gradients."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from explorer.drawing.picture import Card
from explorer.drawing.structure import Link, Neighbours, links_of, neighbours
from explorer.drawing.style import MARGIN
from explorer.model.graph import Edge, GradGraph, Node

# Lanes

CLEARANCE: Final = 12.0
"""How far a passing edge stays from a box, in points."""

APART: Final = 6.0
"""How far passing edges of different origins stay from each other, in points."""

OUTSIDE: Final = 40.0
"""How far beside its outermost boxes a lane still has ways of its own, in points."""

FAR: Final = 60
"""An edge that passes more rows than this takes the gutter: no way between boxes is looked for."""

GUTTER: Final = 12.0
"""How far beside the lane its gutter begins, in points, beyond the clearance of passing edges."""

GUTTER_WAYS: Final = 24
"""How many ways a gutter has; with more origins than this, edges lie over each other again."""


class Interval(NamedTuple):
    """The x from ``left`` to ``right``, in points."""

    left: float
    right: float


class BoxSpan(NamedTuple):
    """The x of the left and the right side of a node's box."""

    left: float
    right: float
    node: str


class Way(NamedTuple):
    """A vertical way past one row, and the node whose edges take it."""

    x: float
    origin: str


class _Passing(NamedTuple):
    """An edge that passes rows of its lane.

    ``length`` is the number of the last row to pass less that of the first; ``first`` and ``last``
    are the first and the last of these rows that have boxes in them.
    """

    origin: str
    target: str
    length: int
    first: int
    last: int


class Lane:
    """Boxes with a row and a horizontal centre; all lengths in points.

    ``cards``, ``rows`` and ``centres`` give the card, the row and the centre of each box by id;
    ``boxes`` are the boxes of each row from left to right. ``ways`` is the x of the way of each edge
    that passes rows. A way that edges of one origin have taken is closed to all others. A lane is
    shifted to its place once, after its ways are assigned.
    """

    def __init__(
        self,
        cards: Mapping[str, Card],
        rows: Mapping[str, int],
        centres: Mapping[str, float],
        direction: Literal[1, -1],
    ) -> None:
        """``direction`` is 1 where the lane's edges run down, -1 where they run up."""
        self.rows = rows
        self.centres = dict(centres)
        self.direction = direction
        self.ways: dict[Link, float] = {}
        self.cards = cards
        self._taken: defaultdict[int, list[Way]] = defaultdict(list)
        self._gutters: dict[str, float] = {}

        self.boxes: dict[int, list[BoxSpan]] = {}
        for node, centre in self.centres.items():
            half = self.half_width(node)
            span = BoxSpan(centre - half, centre + half, node)
            self.boxes.setdefault(rows[node], []).append(span)
        for spans in self.boxes.values():
            spans.sort()
        self.left = min((spans[0].left for spans in self.boxes.values()), default=0.0)
        self.right = max((spans[-1].right for spans in self.boxes.values()), default=0.0)

    def half_width(self, node: str) -> float:
        """Half the width of a node's box."""
        return self.cards[node].width / 2

    def left_of(self, node: str) -> float:
        """The x of the left side of a node's box."""
        return self.centres[node] - self.half_width(node)

    def right_of(self, node: str) -> float:
        """The x of the right side of a node's box."""
        return self.centres[node] + self.half_width(node)

    def is_leftmost(self, node: str) -> bool:
        """Whether nothing stands between a node and the left end of the lane."""
        return self.boxes[self.rows[node]][0].node == node

    def is_rightmost(self, node: str) -> bool:
        """Whether nothing stands between a node and the right end of the lane."""
        return self.boxes[self.rows[node]][-1].node == node

    def assign_ways(self, links: Iterable[Link]) -> None:
        """Give each edge within the lane that passes rows the free way nearest to its ends."""
        passing = []
        for origin, target in links:
            if origin in self.rows and target in self.rows:
                edge = self._passing(origin, target)
                if edge is not None:
                    passing.append(edge)
        # Shortest edges first, so that the longest run outermost and cross the fewest others.
        for edge in sorted(passing, key=lambda edge: edge.length):
            x = self._free_way(edge)
            self.ways[edge.origin, edge.target] = x
            for row in range(edge.first, edge.last + 1):
                self._taken[row].append(Way(x, edge.origin))

    def _passing(self, origin: str, target: str) -> _Passing | None:
        """An edge with the rows that it has to get past; None where there is none."""
        start, end = self.rows[origin], self.rows[target]
        first, last = min(start, end), max(start, end)
        # An edge against the lane's direction has to get past the rows of its ends too.
        runs_along = (end - start) * self.direction > 0
        if runs_along:
            first, last = first + 1, last - 1
        # A row in which only the other lane has boxes is free.
        rows = [row for row in range(first, last + 1) if row in self.boxes]
        if not rows:
            return None
        return _Passing(origin, target, last - first, rows[0], rows[-1])

    def _free_way(self, edge: _Passing) -> float:
        # Looking at every row that a very long edge passes would take time quadratic in the size of
        # the graph, and there is hardly ever a way through all of them.
        if edge.last - edge.first > FAR:
            return self._gutter(edge.origin)
        blocked = self._blocked(edge)
        ends = (self.centres[edge.target], self.centres[edge.origin])
        choices = [*_free_places(blocked, ends[0]), *_free_places(blocked, ends[1])]
        nearby = [x for x in choices if self.left - OUTSIDE <= x <= self.right + OUTSIDE]
        if not nearby:
            return self._gutter(edge.origin)
        # Of two ways as near, the left one: the same graph has to give the same picture.
        return min(nearby, key=lambda x: (min(abs(x - ends[0]), abs(x - ends[1])), x))

    def _blocked(self, edge: _Passing) -> list[Interval]:
        """Where an edge cannot run, as disjoint intervals from left to right."""
        blocked = []
        for row in range(edge.first, edge.last + 1):
            for left, right, _ in self.boxes.get(row, ()):
                blocked.append(Interval(left - CLEARANCE, right + CLEARANCE))
            for x, origin in self._taken.get(row, ()):
                # Edges of one origin carry one value, so they may share a way.
                if origin != edge.origin:
                    blocked.append(Interval(x - APART, x + APART))
        return union(blocked)

    def _gutter(self, origin: str) -> float:
        """The way outside all boxes for the edges of an origin."""
        if origin not in self._gutters:
            # On the outer side, away from the rungs that cross between the lanes.
            lane_end = self.left
            if self.direction == -1:
                lane_end = self.right
            number = len(self._gutters) % GUTTER_WAYS
            distance = CLEARANCE + GUTTER + APART * number
            self._gutters[origin] = lane_end - self.direction * distance
        return self._gutters[origin]

    def extent(self) -> Interval:
        """The x where the lane begins and ends, with all its ways."""
        left, right = self.left, self.right
        for x in self.ways.values():
            left = min(left, x - CLEARANCE)
            right = max(right, x + CLEARANCE)
        return Interval(left, right)

    def shift(self, distance: float) -> None:
        """Move the whole lane sideways; after that, no way can be assigned any more."""
        self.centres = {node: x + distance for node, x in self.centres.items()}
        self.ways = {link: x + distance for link, x in self.ways.items()}
        for row, spans in self.boxes.items():
            self.boxes[row] = []
            for left, right, node in spans:
                self.boxes[row].append(BoxSpan(left + distance, right + distance, node))
        self.left += distance
        self.right += distance


def union(intervals: Sequence[Interval]) -> list[Interval]:
    """The union of intervals, as disjoint intervals from left to right."""
    united: list[Interval] = []
    for interval in sorted(intervals):
        if united and interval.left <= united[-1].right:
            right = max(interval.right, united[-1].right)
            united[-1] = Interval(united[-1].left, right)
        else:
            united.append(interval)
    return united


def _free_places(blocked: Sequence[Interval], x: float) -> tuple[float, ...]:
    """The free places nearest to ``x``: itself, or both ends of the interval that blocks it."""
    for interval in blocked:
        if interval.left < x < interval.right:
            return tuple(interval)
    return (x,)


# The column of each node

ColumnName = Literal["leaves", "forward", "backward", "gradients"]

LEAF_KINDS: Final = frozenset({"input", "parameter", "constant"})
"""Kinds of the nodes that no operator computes."""


class Columns(msgspec.Struct, frozen=True):
    """The ids of the nodes in each column from left to right, in the graph's order.

    ``forward`` and ``backward`` are the two lanes, ``leaves`` and ``gradients`` the side columns.
    """

    leaves: list[str]
    forward: list[str]
    backward: list[str]
    gradients: list[str]

    def by_node(self) -> dict[str, ColumnName]:
        """The column of every node, keyed by id."""
        columns: dict[str, ColumnName] = {}
        columns.update(dict.fromkeys(self.leaves, "leaves"))
        columns.update(dict.fromkeys(self.forward, "forward"))
        columns.update(dict.fromkeys(self.backward, "backward"))
        columns.update(dict.fromkeys(self.gradients, "gradients"))
        return columns


def ladder_columns(graph: GradGraph) -> Columns:
    """The four columns of a ladder."""
    computed = {edge.target for edge in graph.edges}
    read = {edge.origin for edge in graph.edges}
    columns = Columns([], [], [], [])
    for node in graph.nodes:
        # A subgraph's own leaf, a leaf that is computed and a gradient that is read on are steps of
        # the computation: they stand in the lanes.
        if _is_leaf(node) and node.id not in computed:
            columns.leaves.append(node.id)
        elif node.phase == "forward":
            columns.forward.append(node.id)
        elif node.kind == "output" and node.id not in read:
            columns.gradients.append(node.id)
        else:
            columns.backward.append(node.id)
    return columns


def single_column(graph: GradGraph) -> Columns:
    """All nodes in one lane that runs down."""
    return Columns([], [node.id for node in graph.nodes], [], [])


def _is_leaf(node: Node) -> bool:
    # A backward constant is a seed, which stands where the backward begins.
    return node.phase == "forward" and node.kind in LEAF_KINDS and not node.body


# The place of each column

CHANNEL: Final = 46.0
"""Width of the space between a lane and the side column next to it, in points."""

BETWEEN_LANES: Final = 104.0
"""Width of the space that the rungs cross, in points."""

LANE_MARGIN: Final = 16.0
"""Room between a lane's outermost box and the channel, in points; the sides of groups fit in."""

NUDGE: Final = 24.0
"""Preferred distance between two leaves, or two gradients, of one row, in points."""


class SideColumn(msgspec.Struct, frozen=True):
    """The leaves or the gradients of a ladder.

    ``order`` is from the top. ``rows`` is the row that each belongs to, ``nudges`` the preferred
    distance below the middle of that row, in points.
    """

    order: list[str]
    rows: dict[str, int]
    nudges: dict[str, float]


class PlacedColumns(msgspec.Struct, frozen=True):
    """The columns of a ladder, each at its x, in points from the left.

    ``edges`` has one edge for each pair of nodes. Leaves end at ``leaves_end``, gradients begin at
    ``gradients_start``; an extent is where a lane begins and ends.
    """

    columns: Columns
    cards: Mapping[str, Card]
    edges: list[Edge]
    forward: Lane
    backward: Lane
    leaves: SideColumn
    gradients: SideColumn
    leaves_end: float
    forward_extent: Interval
    backward_extent: Interval
    gradients_start: float
    width: float


def place_columns(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], forward: Lane, backward: Lane
) -> PlacedColumns:
    """The columns at their x; gives the lanes their ways and shifts them to their places."""
    edges = _one_for_each_pair(graph.edges)
    links = links_of(edges)
    makers, readers = neighbours(links)
    leaves = _leaf_column(columns, readers, forward, backward)
    gradients = _gradient_column(columns, makers, leaves, forward, backward)

    # How wide a lane is depends on its ways, so they are assigned before it gets its place.
    forward.assign_ways(links)
    backward.assign_ways(links)
    leaves_end = MARGIN + _widest(leaves, cards)
    channel = CHANNEL if leaves.order else 0.0
    forward_extent = _move(forward, leaves_end + channel)
    between = BETWEEN_LANES if columns.backward else 0.0
    backward_extent = _move(backward, forward_extent.right + between)
    channel = CHANNEL if gradients.order else 0.0
    gradients_start = backward_extent.right + channel
    return PlacedColumns(
        columns=columns,
        cards=cards,
        edges=edges,
        forward=forward,
        backward=backward,
        leaves=leaves,
        gradients=gradients,
        leaves_end=leaves_end,
        forward_extent=forward_extent,
        backward_extent=backward_extent,
        gradients_start=gradients_start,
        width=gradients_start + _widest(gradients, cards),
    )


def _one_for_each_pair(edges: Sequence[Edge]) -> list[Edge]:
    """One edge for each pair of nodes, a "control" edge where there is one."""
    by_link: dict[Link, Edge] = {}
    for edge in sorted(edges, key=lambda edge: edge.kind == "control"):
        by_link[edge.origin, edge.target] = edge
    return list(by_link.values())


def _widest(column: SideColumn, cards: Mapping[str, Card]) -> float:
    return max((cards[node].width for node in column.order), default=0.0)


def _move(lane: Lane, x: float) -> Interval:
    """Shift a lane so that it begins at ``x``; returns where it begins and ends then."""
    if not lane.centres:
        return Interval(x, x)
    extent = lane.extent()
    start = min(extent.left, lane.left - LANE_MARGIN)
    end = max(extent.right, lane.right + LANE_MARGIN)
    lane.shift(x - start)
    return Interval(x, x + end - start)


def _leaf_column(
    columns: Columns, readers: Neighbours, forward: Lane, backward: Lane
) -> SideColumn:
    """The leaves, each beside its uppermost reader in the forward lane, else in the backward."""
    rows = {}
    is_clear = {}
    for leaf in columns.leaves:
        forward_readers = [node for node in readers[leaf] if node in forward.rows]
        lane = forward
        if not forward_readers:
            lane = backward
        rows[leaf] = _uppermost(readers[leaf], lane)
        is_clear[leaf] = all(forward.is_leftmost(node) for node in forward_readers)
    return _side_column(rows, is_clear)


def _gradient_column(
    columns: Columns, makers: Neighbours, leaves: SideColumn, forward: Lane, backward: Lane
) -> SideColumn:
    """The gradients, each beside the first of its ``makers``."""
    maker_rows = {**leaves.rows, **forward.rows, **backward.rows}
    rows = {}
    is_clear = {}
    for gradient in columns.gradients:
        rows[gradient], is_clear[gradient] = 0, True
        if makers[gradient]:
            maker = makers[gradient][0]
            rows[gradient] = maker_rows[maker]
            is_clear[gradient] = maker not in backward.rows or backward.is_rightmost(maker)
    return _side_column(rows, is_clear)


def _uppermost(nodes: Sequence[str], lane: Lane) -> int:
    """The uppermost row of those nodes that stand in a lane; 0 where none does."""
    return min((lane.rows[node] for node in nodes if node in lane.rows), default=0)


def _side_column(rows: dict[str, int], is_clear: Mapping[str, bool]) -> SideColumn:
    # An edge that has a box in its way comes through the gap above its row, so its leaf or
    # gradient stands above the others of the row; these stay in the graph's order.
    order = sorted(rows, key=lambda node: (rows[node], is_clear[node]))
    return SideColumn(order, rows, _nudges(order, rows))


def _nudges(order: Sequence[str], rows: Mapping[str, int]) -> dict[str, float]:
    """The preferred distance of each node below its row's middle; those of a row lie around it."""
    by_row: defaultdict[int, list[str]] = defaultdict(list)
    for node in order:
        by_row[rows[node]].append(node)
    nudges = {}
    for nodes in by_row.values():
        for index, node in enumerate(nodes):
            nudges[node] = NUDGE * (index - (len(nodes) - 1) / 2)
    return nudges
