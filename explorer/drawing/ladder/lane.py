"""One lane of a ladder: boxes in rows, and the vertical ways past them for edges that pass rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from explorer.drawing.links import Link
from explorer.drawing.picture import Card

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
        return min(nearby, key=lambda x: (min(abs(x - end) for end in ends), x))

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
            lane_end = self.left if self.direction == 1 else self.right
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
