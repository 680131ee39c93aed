"""Finds the way of every edge between settled columns: within a lane, from the leaves, across as a
rung, out to the gradients.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

from explorer.drawing.ladder.columns import ColumnName
from explorer.drawing.ladder.frame import Frame
from explorer.drawing.ladder.lane_routes import INSET, route_within
from explorer.drawing.ladder.routes import (
    BesideNode,
    Height,
    Route,
    Step,
    Tracks,
    across,
    bottom_of,
    line,
    top_of,
)
from explorer.drawing.picture import WireKind
from explorer.model.graph import Edge

PORT: Final = 6.0
"""Greatest distance between two edges that meet one side of a box, in points."""

PORT_ENDS: Final = 8.0
"""Room that the edges that meet one side leave free at its two corners together, in points."""

FIRST_RUN: Final = 9.0
NEXT_RUN: Final = 5.0
RUNS: Final = 6
"""The upright runs beside the leaves, in points: where the first is, how far apart they are, and how
many there are before they are used again.
"""


class _Rule(NamedTuple):
    """How edges between two columns are drawn, and what finds the steps from origin to target."""

    kind: WireKind
    find: Callable[[str, str], list[Step]]


def route_edges(frame: Frame, tracks: Tracks) -> list[Route]:
    """The route of every edge of a frame; ``tracks`` are taken on the way."""
    wiring = _Wiring(frame, tracks)
    return [wiring.route(edge) for edge in frame.edges]


class _Wiring:
    """Routes for edges between settled columns."""

    def __init__(self, frame: Frame, tracks: Tracks) -> None:
        self.frame, self.tracks = frame, tracks
        self.forward, self.backward = frame.forward, frame.backward
        self.column_of = frame.columns.by_node()
        self.leaf_numbers = {leaf: number for number, leaf in enumerate(frame.leaves.order)}
        self.met_by = self._met_by()
        # Nothing leads to a leaf, and nothing on from a gradient.
        self.rules: dict[tuple[ColumnName, ColumnName], _Rule] = {
            ("leaves", "forward"): _Rule("leaf", self._from_leaf),
            ("forward", "forward"): _Rule("forward", self._down_the_lane),
            ("backward", "backward"): _Rule("backward", self._up_the_lane),
            ("leaves", "backward"): _Rule("rung", self._rung),
            ("forward", "backward"): _Rule("rung", self._rung),
            ("leaves", "gradients"): _Rule("gradient", self._past_the_backward),
            ("forward", "gradients"): _Rule("gradient", self._past_the_backward),
            ("backward", "gradients"): _Rule("gradient", self._to_gradient),
            ("backward", "forward"): _Rule("control", self._back_to_forward),
        }

    def _met_by(self) -> dict[str, list[str]]:
        """Which nodes of other columns meet the left side of each box, from the top."""
        # The order in which edges come from above, so that they do not cross before the box.
        rank = dict(self.leaf_numbers)
        for node, row in self.forward.rows.items():
            rank[node] = len(self.leaf_numbers) + row
        met_by: defaultdict[str, list[str]] = defaultdict(list)
        for edge in sorted(self.frame.edges, key=lambda edge: rank.get(edge.origin, 0)):
            if self.column_of[edge.origin] != self.column_of[edge.target]:
                met_by[edge.target].append(edge.origin)
        return met_by

    def route(self, edge: Edge) -> Route:
        """The route of one edge."""
        rule = self.rules[self.column_of[edge.origin], self.column_of[edge.target]]
        kind: WireKind = "control" if edge.kind == "control" else rule.kind
        steps = rule.find(edge.origin, edge.target)
        return Route(edge.origin, edge.target, kind, tuple(steps))

    def _port(self, origin: str, target: str) -> BesideNode:
        """Where an edge meets the left side of its target."""
        met_by = self.met_by[target]
        room = self.frame.cards[target].height - PORT_ENDS
        apart = min(PORT, room / len(met_by))
        return BesideNode(target, apart * (met_by.index(origin) - (len(met_by) - 1) / 2))

    def _down_the_lane(self, origin: str, target: str) -> list[Step]:
        return route_within(self.forward, self.tracks, origin, target)

    def _up_the_lane(self, origin: str, target: str) -> list[Step]:
        return route_within(self.backward, self.tracks, origin, target)

    def _from_leaf(self, origin: str, target: str) -> list[Step]:
        edge, side = self.frame.forward_extent.left, self.forward.left_of(target)
        row = self.forward.rows[target]
        if self.forward.is_leftmost(target):
            port = self._port(origin, target)
            return [*self._enter_forward(origin, row, port), line(side, port)]
        # Other boxes are in the way: through the gap above them, and into the target from above.
        track = self.tracks.take(row, edge, side + INSET, origin)
        return [
            *self._enter_forward(origin, row, track),
            line(side + INSET, track),
            line(side + INSET, top_of(self.frame.cards[target])),
        ]

    def _enter_forward(self, leaf: str, row: int, height: Height) -> list[Step]:
        """Through the channel beside the leaves: a curve to a near row, a run of its own to a far
        one.
        """
        edge = self.frame.forward_extent.left
        start = line(self.frame.leaves_end, BesideNode(leaf))
        if row == self.frame.leaves.rows[leaf]:
            return [start, across(edge, height)]
        run = start.x + FIRST_RUN + NEXT_RUN * (self.leaf_numbers[leaf] % RUNS)
        return [start, line(run, start.height), line(run, height), line(edge, height)]

    def _rung(self, origin: str, target: str) -> list[Step]:
        edge, side = self.frame.backward_extent.left, self.backward.left_of(target)
        steps = self._leave_forward(origin, past_backward=False)
        if self.backward.is_leftmost(target):
            port = self._port(origin, target)
            return [*steps, across(edge, port), line(side, port)]
        # From below, as the backward runs up: the gap above is for what the target leads to.
        track = self.tracks.take(self.backward.rows[target] + 1, edge, side + INSET, origin)
        return [
            *steps,
            across(edge, track),
            line(side + INSET, track),
            line(side + INSET, bottom_of(self.frame.cards[target])),
        ]

    def _past_the_backward(self, origin: str, target: str) -> list[Step]:
        """From a leaf or a forward node straight to a gradient, through a gap of both lanes."""
        steps = self._leave_forward(origin, past_backward=True)
        end = line(self.frame.backward_extent.right, steps[-1].height)
        return [*steps, end, across(self.frame.gradients_start, BesideNode(target))]

    def _leave_forward(self, origin: str, past_backward: bool) -> list[Step]:
        """From a leaf or a forward node to the forward lane's right edge: level where nothing is in
        the way, else through a gap, as always where the edge goes on past the backward lane.
        """
        left, right = self.frame.forward_extent
        far = self.frame.backward_extent.right
        if origin in self.frame.leaves.rows:
            row = self.frame.leaves.rows[origin]
            track = self.tracks.take(row + 1, left, far, origin)
            start = line(self.frame.leaves_end, BesideNode(origin))
            return [start, across(left, track), line(right, track)]
        side = self.forward.right_of(origin)
        if self.forward.is_rightmost(origin) and not past_backward:
            return [line(side, BesideNode(origin)), line(right, BesideNode(origin))]
        # Nearer to the corner than an edge to the next row, which leaves the same side.
        start_x = side - INSET / 2
        end = far if past_backward else right
        track = self.tracks.take(self.forward.rows[origin] + 1, start_x, end, origin)
        bottom = bottom_of(self.frame.cards[origin])
        return [line(start_x, bottom), line(start_x, track), line(right, track)]

    def _to_gradient(self, origin: str, target: str) -> list[Step]:
        edge, side = self.frame.backward_extent.right, self.backward.right_of(origin)
        end = across(self.frame.gradients_start, BesideNode(target))
        if self.backward.is_rightmost(origin):
            return [line(side, BesideNode(origin)), line(edge, BesideNode(origin)), end]
        track = self.tracks.take(self.backward.rows[origin], side - INSET, edge, origin)
        return [
            line(side - INSET, top_of(self.frame.cards[origin])),
            line(side - INSET, track),
            line(edge, track),
            end,
        ]

    def _back_to_forward(self, origin: str, target: str) -> list[Step]:
        """Straight across: a graph whose phases are in order has no such edge but to order by."""
        start, end = self.backward.left_of(origin), self.forward.right_of(target)
        return [line(start, BesideNode(origin)), across(end, BesideNode(target))]
