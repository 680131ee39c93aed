"""The route of every edge of a ladder, before rows have a y: by boxes, rows and tracks."""

from collections import defaultdict
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from explorer.drawing.ladder.columns import ColumnName, Lane, PlacedColumns
from explorer.drawing.picture import Card, Turn, WireKind
from explorer.model.graph import Edge

# Routes and tracks


TRACK_END: Final = 3.0
"""How far the pieces of two edges on one track stay apart, on each side, in points."""


class BesideNode(msgspec.Struct, frozen=True):
    """The height that is ``offset`` points below the middle of a node's box."""

    node: str
    offset: float = 0.0


class RowEdge(msgspec.Struct, frozen=True):
    """Just outside the upper or the lower edge of a row."""

    row: int
    edge: Literal["top", "bottom"]


class OnTrack(msgspec.Struct, frozen=True):
    """One of the horizontal tracks in the gap above row ``gap``, counted from the top."""

    gap: int
    track: int


Height: TypeAlias = BesideNode | RowEdge | OnTrack
"""A height that gets its y once the rows have theirs."""


class Step(msgspec.Struct, frozen=True):
    """One step of a route: how it turns, and the point where it ends."""

    turn: Turn
    x: float
    height: Height


class Route(msgspec.Struct, frozen=True):
    """The path of one edge: it starts at the end of the first step and follows the others."""

    origin: str
    target: str
    kind: WireKind
    steps: tuple[Step, ...]


def line(x: float, height: Height) -> Step:
    """A straight step."""
    return Step("line", x, height)


def down(x: float, height: Height) -> Step:
    """A curve that leaves and arrives upright."""
    return Step("down", x, height)


def across(x: float, height: Height) -> Step:
    """A curve that leaves and arrives level."""
    return Step("across", x, height)


def top_of(card: Card) -> BesideNode:
    """The upper side of a node's box."""
    return BesideNode(card.id, -card.height / 2)


def bottom_of(card: Card) -> BesideNode:
    """The lower side of a node's box."""
    return BesideNode(card.id, card.height / 2)


class _Piece(NamedTuple):
    """The part of a track that an edge covers, and the edge's origin."""

    left: float
    right: float
    origin: str


class Tracks:
    """The horizontal tracks in the gaps between rows.

    Edges of one origin may share a track; others on it keep apart.
    """

    def __init__(self) -> None:
        self._pieces: defaultdict[int, list[list[_Piece]]] = defaultdict(list)

    def take(self, gap: int, start: float, end: float, origin: str) -> OnTrack:
        """A track in the gap above row ``gap`` that is free between two x, taken from now on."""
        piece = _Piece(min(start, end) - TRACK_END, max(start, end) + TRACK_END, origin)
        tracks = self._pieces[gap]
        for index, taken in enumerate(tracks):
            if all(_may_share(piece, other) for other in taken):
                taken.append(piece)
                return OnTrack(gap, index)
        tracks.append([piece])
        return OnTrack(gap, len(tracks) - 1)

    def count(self, gap: int) -> int:
        """How many tracks the gap above row ``gap`` holds."""
        return len(self._pieces.get(gap, ()))


def _may_share(piece: _Piece, other: _Piece) -> bool:
    if piece.origin == other.origin:
        return True
    return piece.right <= other.left or other.right <= piece.left


# Routing


INSET: Final = 11.0
"""How far from a box's corner an edge meets it from above or below, in points."""

PORT: Final = 6.0
"""Greatest distance between two edges that meet the left side of a box, in points."""

PORT_ENDS: Final = 8.0
"""Room that the edges leave free at both corners of that side together, in points."""

FIRST_RISER: Final = 9.0
"""Distance from the leaves to the first riser, the upright piece of an edge, in points."""

NEXT_RISER: Final = 5.0
"""Distance from one riser to the next, in points."""

RISERS: Final = 6
"""How many risers there are before a place is used again."""


def route_edges(placed: PlacedColumns, tracks: Tracks) -> list[Route]:
    """The route of every edge of a ladder; those that run through gaps take ``tracks``."""
    router = _Router(placed, tracks)
    return [router.route(edge) for edge in placed.edges]


class _Rule(NamedTuple):
    """How edges between two columns are drawn, and the function that finds their steps."""

    kind: WireKind
    find_steps: Callable[[str, str], list[Step]]


class _Router:
    """Finds the route of an edge by the columns that it joins."""

    def __init__(self, placed: PlacedColumns, tracks: Tracks) -> None:
        self.placed, self.tracks = placed, tracks
        self.cards = placed.cards
        self.forward, self.backward = placed.forward, placed.backward
        self.column_of = placed.columns.by_node()
        self.leaf_numbers = {leaf: number for number, leaf in enumerate(placed.leaves.order)}
        self.entering = self._entering()
        # Nothing leads to a leaf, and nothing on from a gradient.
        self.rules: dict[tuple[ColumnName, ColumnName], _Rule] = {
            ("leaves", "forward"): _Rule("leaf", self._leaf_to_forward),
            ("forward", "forward"): _Rule("forward", self._within_forward),
            ("backward", "backward"): _Rule("backward", self._within_backward),
            ("leaves", "backward"): _Rule("rung", self._rung),
            ("forward", "backward"): _Rule("rung", self._rung),
            ("leaves", "gradients"): _Rule("gradient", self._past_backward_to_gradient),
            ("forward", "gradients"): _Rule("gradient", self._past_backward_to_gradient),
            ("backward", "gradients"): _Rule("gradient", self._backward_to_gradient),
            ("backward", "forward"): _Rule("control", self._backward_to_forward),
        }

    def _entering(self) -> dict[str, list[str]]:
        """The nodes of other columns whose edges meet the left side of each box, from the top."""
        # The order in which edges come from above, so that they do not cross before the box.
        rank = dict(self.leaf_numbers)
        for node, row in self.forward.rows.items():
            rank[node] = len(self.leaf_numbers) + row
        entering: defaultdict[str, list[str]] = defaultdict(list)
        for edge in sorted(self.placed.edges, key=lambda edge: rank.get(edge.origin, 0)):
            if self.column_of[edge.origin] != self.column_of[edge.target]:
                entering[edge.target].append(edge.origin)
        return entering

    def route(self, edge: Edge) -> Route:
        """The route of one edge."""
        rule = self.rules[self.column_of[edge.origin], self.column_of[edge.target]]
        kind = rule.kind
        if edge.kind == "control":
            kind = "control"
        steps = rule.find_steps(edge.origin, edge.target)
        return Route(edge.origin, edge.target, kind, tuple(steps))

    def _port(self, origin: str, target: str) -> BesideNode:
        """Where an edge meets the left side of its target."""
        entering = self.entering[target]
        room = self.cards[target].height - PORT_ENDS
        distance = min(PORT, room / len(entering))
        return BesideNode(target, distance * (entering.index(origin) - (len(entering) - 1) / 2))

    def _within_forward(self, origin: str, target: str) -> list[Step]:
        return route_within_lane(self.forward, self.tracks, origin, target)

    def _within_backward(self, origin: str, target: str) -> list[Step]:
        return route_within_lane(self.backward, self.tracks, origin, target)

    def _leaf_to_forward(self, origin: str, target: str) -> list[Step]:
        lane_left, box_left = self.placed.forward_extent.left, self.forward.left_of(target)
        row = self.forward.rows[target]
        if self.forward.is_leftmost(target):
            port = self._port(origin, target)
            return [*self._enter_forward(origin, row, port), line(box_left, port)]
        # Other boxes are in the way: through the gap above them, and into the target from above.
        x = box_left + INSET
        track = self.tracks.take(row, lane_left, x, origin)
        return [
            *self._enter_forward(origin, row, track),
            line(x, track),
            line(x, top_of(self.cards[target])),
        ]

    def _enter_forward(self, leaf: str, row: int, height: Height) -> list[Step]:
        """From a leaf to the forward lane: a curve to its own row, a riser to any other."""
        lane_left = self.placed.forward_extent.left
        start = line(self.placed.leaves_end, BesideNode(leaf))
        if row == self.placed.leaves.rows[leaf]:
            return [start, across(lane_left, height)]
        riser = start.x + FIRST_RISER + NEXT_RISER * (self.leaf_numbers[leaf] % RISERS)
        return [start, line(riser, start.height), line(riser, height), line(lane_left, height)]

    def _rung(self, origin: str, target: str) -> list[Step]:
        lane_left, box_left = self.placed.backward_extent.left, self.backward.left_of(target)
        steps = self._leave_forward(origin, past_backward=False)
        if self.backward.is_leftmost(target):
            port = self._port(origin, target)
            return [*steps, across(lane_left, port), line(box_left, port)]
        # From below, as the backward runs up: the gap above is for the edges out of the target.
        x = box_left + INSET
        track = self.tracks.take(self.backward.rows[target] + 1, lane_left, x, origin)
        return [
            *steps,
            across(lane_left, track),
            line(x, track),
            line(x, bottom_of(self.cards[target])),
        ]

    def _past_backward_to_gradient(self, origin: str, target: str) -> list[Step]:
        """From a leaf or a forward node straight to a gradient, through a gap of both lanes."""
        steps = self._leave_forward(origin, past_backward=True)
        lane_right = line(self.placed.backward_extent.right, steps[-1].height)
        return [*steps, lane_right, across(self.placed.gradients_start, BesideNode(target))]

    def _leave_forward(self, origin: str, past_backward: bool) -> list[Step]:
        """From a leaf or a forward node to the right edge of the forward lane.

        It runs level where nothing is in the way, else through a gap, as it always does where the
        edge goes on past the backward lane.
        """
        lane_left, lane_right = self.placed.forward_extent
        far_right = self.placed.backward_extent.right
        if origin in self.placed.leaves.rows:
            row = self.placed.leaves.rows[origin]
            track = self.tracks.take(row + 1, lane_left, far_right, origin)
            start = line(self.placed.leaves_end, BesideNode(origin))
            return [start, across(lane_left, track), line(lane_right, track)]
        box_right = self.forward.right_of(origin)
        if self.forward.is_rightmost(origin) and not past_backward:
            return [line(box_right, BesideNode(origin)), line(lane_right, BesideNode(origin))]
        # Nearer to the corner than an edge to the next row, which leaves the box's lower side too.
        x = box_right - INSET / 2
        track_end = lane_right
        if past_backward:
            track_end = far_right
        track = self.tracks.take(self.forward.rows[origin] + 1, x, track_end, origin)
        return [line(x, bottom_of(self.cards[origin])), line(x, track), line(lane_right, track)]

    def _backward_to_gradient(self, origin: str, target: str) -> list[Step]:
        lane_right, box_right = self.placed.backward_extent.right, self.backward.right_of(origin)
        end = across(self.placed.gradients_start, BesideNode(target))
        if self.backward.is_rightmost(origin):
            return [line(box_right, BesideNode(origin)), line(lane_right, BesideNode(origin)), end]
        x = box_right - INSET
        track = self.tracks.take(self.backward.rows[origin], x, lane_right, origin)
        return [line(x, top_of(self.cards[origin])), line(x, track), line(lane_right, track), end]

    def _backward_to_forward(self, origin: str, target: str) -> list[Step]:
        """Straight across: a graph whose phases are in order has no such edge but to order by."""
        start, end = self.backward.left_of(origin), self.forward.right_of(target)
        return [line(start, BesideNode(origin)), across(end, BesideNode(target))]


def route_within_lane(lane: Lane, tracks: Tracks, origin: str, target: str) -> list[Step]:
    """The steps of an edge from one box of a lane to another.

    An edge against the lane's direction takes two of the ``tracks``.
    """
    way = lane.ways.get((origin, target))
    if way is None:
        return _to_next_row(lane, origin, target)
    distance = (lane.rows[target] - lane.rows[origin]) * lane.direction
    if distance > 0:
        return _past_rows(lane, way, origin, target)
    return _against_direction(lane, way, tracks, origin, target)


def _to_next_row(lane: Lane, origin: str, target: str) -> list[Step]:
    """An edge that passes no row; upright where the boxes overlap enough."""
    start, end = lane.centres[origin], lane.centres[target]
    aside = abs(start - end)
    if aside <= lane.half_width(origin) - INSET and aside <= lane.half_width(target):
        start = end
    leave, enter = _ends(lane, origin, target)
    return [line(start, leave), down(end, enter)]


def _past_rows(lane: Lane, way: float, origin: str, target: str) -> list[Step]:
    """Out of the origin, past the rows between by the edge's way, and into the target."""
    start, end = _nearest_x(lane, origin, way), _nearest_x(lane, target, way)
    first_row = lane.rows[origin] + lane.direction
    last_row = lane.rows[target] - lane.direction
    if lane.direction > 0:
        first, last = RowEdge(first_row, "top"), RowEdge(last_row, "bottom")
    else:
        first, last = RowEdge(first_row, "bottom"), RowEdge(last_row, "top")
    leave, enter = _ends(lane, origin, target)
    return [line(start, leave), down(way, first), line(way, last), down(end, enter)]


def _against_direction(
    lane: Lane, way: float, tracks: Tracks, origin: str, target: str
) -> list[Step]:
    """Out of the origin, back past all rows between, and in where the lane's other edges enter."""
    # A little beside the middle, where the edges that run with the lane meet the boxes.
    start, end = lane.centres[origin] + INSET / 2, lane.centres[target] + INSET / 2
    # The gap above a row has the row's number, the gap below it the next.
    behind_origin, before_target = lane.rows[origin], lane.rows[target]
    if lane.direction > 0:
        behind_origin += 1
    else:
        before_target += 1
    out = tracks.take(behind_origin, start, way, origin)
    back = tracks.take(before_target, end, way, origin)
    leave, enter = _ends(lane, origin, target)
    return [
        line(start, leave),
        line(start, out),
        line(way, out),
        line(way, back),
        line(end, back),
        line(end, enter),
    ]


def _ends(lane: Lane, origin: str, target: str) -> tuple[BesideNode, BesideNode]:
    """Where an edge leaves its origin and enters its target, in the lane's direction."""
    if lane.direction > 0:
        return bottom_of(lane.cards[origin]), top_of(lane.cards[target])
    return top_of(lane.cards[origin]), bottom_of(lane.cards[target])


def _nearest_x(lane: Lane, node: str, way: float) -> float:
    """Where an edge meets a node's box: as near to its way as the box's corners let it."""
    reach = lane.half_width(node) - INSET
    aside = max(-reach, min(reach, way - lane.centres[node]))
    return lane.centres[node] + aside
