"""Finds the way of every edge of a ladder: within a lane, from the leaves, across as a rung, out to
the gradients.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, Literal

import msgspec

from explorer.drawing.lane import Lane
from explorer.drawing.picture import Card, WireKind
from explorer.drawing.routes import Gaps, Height, Route, Step, across, down, line
from explorer.drawing.split import Parts
from explorer.model.graph import Edge, GradGraph

Edging = Literal["top", "bottom"]

EDGE: Final = 16.0
"""Room between a lane's outermost box and the channel beside it; the groups' sides fit in."""

INSET: Final = 11.0
"""How far from a box's corner an edge that comes through a gap meets the box."""

PORT: Final = 6.0
"""Greatest distance between two edges that meet one side of a box."""


class Side(msgspec.Struct):
    """The leaves or the gradients: their order from the top, the row (and a nudge) that each
    belongs to, and the side's x.

    ``end`` says that boxes end at ``x`` (leaves) rather than begin there (gradients).
    """

    order: list[str]
    home: dict[str, tuple[int, float]]
    end: bool
    x: float = 0.0


class Columns:
    """The four columns of a ladder, and from ``settle`` on the x of all of them."""

    def __init__(
        self,
        graph: GradGraph,
        parts: Parts,
        cards: Mapping[str, Card],
        left: Lane,
        right: Lane,
        gaps: Gaps,
    ) -> None:
        """The lanes come with their own x; ``settle`` moves them to their places."""
        self.parts, self.cards, self.left, self.right, self.gaps = parts, cards, left, right, gaps
        self.part = parts.lane()
        unique = {
            (edge.origin, edge.target): edge
            for edge in sorted(graph.edges, key=lambda edge: edge.kind == "control")
        }
        self.edges = list(unique.values())
        self.leaves = Side([], {}, end=True)
        self.gradients = Side([], {}, end=False)
        self._homes()
        self.left_edges = self.right_edges = (0.0, 0.0)
        self.width = 0.0
        self.ways: dict[tuple[str, str], float] = {}

    def _homes(self) -> None:
        readers: defaultdict[str, list[str]] = defaultdict(list)
        makers: dict[str, str] = {}
        for edge in self.edges:
            readers[edge.origin].append(edge.target)
            makers.setdefault(edge.target, edge.origin)
        for leaf in self.parts.leaves:
            forward = [self.left.rows[node] for node in readers[leaf] if node in self.left.rows]
            backward = [self.right.rows[node] for node in readers[leaf] if node in self.right.rows]
            self.leaves.home[leaf] = (min(forward or backward or [0]), 0.0)
        for gradient in self.parts.gradients:
            maker = makers.get(gradient, "")
            row = self.right.rows.get(
                maker, self.left.rows.get(maker, self.leaves.home.get(maker, (0, 0.0))[0])
            )
            self.gradients.home[gradient] = (row, 0.0)
        # Edges that something is in the way of come through the gap above, so their leaf or
        # gradient stands above the others.
        clear = {
            leaf: all(
                map(
                    self.left.clear_left, (node for node in readers[leaf] if node in self.left.rows)
                )
            )
            for leaf in self.parts.leaves
        }
        clear.update(
            {
                node: maker not in self.right.rows or self.right.clear_right(maker)
                for node, maker in makers.items()
            }
        )
        for side in (self.leaves, self.gradients):
            side.order = sorted(
                side.home, key=lambda node: (side.home[node], clear.get(node, True), int(node[1:]))
            )
        for side in (self.leaves, self.gradients):
            for nodes in _by_row(side).values():
                for index, node in enumerate(nodes):
                    side.home[node] = (side.home[node][0], 24.0 * (index - (len(nodes) - 1) / 2))

    def settle(self, margin: float, channel: float, middle: float) -> None:
        """Gives every column its x, from the left margin on."""
        x = margin + max((self.cards[node].width for node in self.leaves.order), default=0.0)
        self.leaves.x = x
        x += channel if self.leaves.order else 0.0
        self.left_edges, x = self._move(self.left, x)
        x += middle if self.right.centres else 0.0
        self.right_edges, x = self._move(self.right, x)
        x += channel if self.gradients.order else 0.0
        self.gradients.x = x
        self.width = x + max((self.cards[node].width for node in self.gradients.order), default=0.0)

    def _move(self, lane: Lane, x: float) -> tuple[tuple[float, float], float]:
        if not lane.centres:
            return (x, x), x
        start, end = lane.extent()
        start, end = min(start, lane.left - EDGE), max(end, lane.right + EDGE)
        lane.shift(x - start)
        self.ways = {
            key: way
            + (
                x - start
                if self.part[key[0]] == self.part[key[1]] and key[0] in lane.centres
                else 0.0
            )
            for key, way in self.ways.items()
        }
        return (x, x + end - start), x + end - start


def _by_row(side: Side) -> Mapping[int, list[str]]:
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for node in side.order:
        rows[side.home[node][0]].append(node)
    return rows


def wire(columns: Columns, margin: float, channel: float, middle: float) -> list[Route]:
    """The route of every edge, in the graph's order; the columns are settled on the way."""
    _corridors(columns)
    columns.settle(margin, channel, middle)
    wiring = Wiring(columns)
    return [wiring.route(edge) for edge in columns.edges]


def _corridors(columns: Columns) -> None:
    """Hands out the ways past rows, shortest edges first, so that the longest run outermost."""
    passing = []
    for edge in columns.edges:
        lane = {"forward": columns.left, "backward": columns.right}.get(columns.part[edge.origin])
        if lane is None or columns.part[edge.origin] != columns.part[edge.target]:
            continue
        start, end = lane.rows[edge.origin], lane.rows[edge.target]
        sign = 1 if lane is columns.left else -1
        inner = 1 if (end - start) * sign > 0 else 0
        first, last = min(start, end) + inner, max(start, end) - inner
        rows = [row for row in range(first, last + 1) if row in lane.boxes]
        if rows:
            passing.append((last - first, edge, lane, rows[0], rows[-1]))
    for _, edge, lane, first, last in sorted(passing, key=lambda item: item[0]):
        columns.ways[edge.origin, edge.target] = lane.corridor(
            edge.origin, edge.target, first, last
        )


class Wiring:
    """Routes for edges between settled columns."""

    def __init__(self, columns: Columns) -> None:
        """Counts who meets which side of which box, so that they can share it out."""
        self.columns, self.gaps = columns, columns.gaps
        self.left, self.right = columns.left, columns.right
        self.ports: defaultdict[str, list[str]] = defaultdict(list)
        self.lanes = {node: index for index, node in enumerate(columns.leaves.order)}
        rank = dict(self.lanes)
        rank.update({node: len(rank) + row for node, row in self.left.rows.items()})
        for edge in sorted(columns.edges, key=lambda edge: rank.get(edge.origin, 0)):
            if columns.part[edge.origin] != columns.part[edge.target]:
                self.ports[edge.target].append(edge.origin)
        self.makers: dict[tuple[str, str], tuple[WireKind, Callable[[str, str], list[Step]]]] = {
            ("leaves", "forward"): ("leaf", self._leaf),
            ("forward", "forward"): ("forward", self._down),
            ("backward", "backward"): ("backward", self._up),
            ("leaves", "backward"): ("rung", self._rung),
            ("forward", "backward"): ("rung", self._rung),
            ("leaves", "gradients"): ("gradient", self._through),
            ("forward", "gradients"): ("gradient", self._through),
            ("backward", "gradients"): ("gradient", self._out),
            ("backward", "forward"): ("control", self._against),
        }

    def route(self, edge: Edge) -> Route:
        """The route of one edge."""
        kind, maker = self.makers[self.columns.part[edge.origin], self.columns.part[edge.target]]
        shown: WireKind = "control" if edge.kind == "control" else kind
        return Route(edge.origin, edge.target, shown, tuple(maker(edge.origin, edge.target)))

    def _half(self, node: str) -> float:
        return self.columns.cards[node].height / 2

    def _port(self, origin: str, target: str) -> Height:
        """Where an edge meets the left side of its target."""
        met = self.ports[target]
        step = min(PORT, (2 * self._half(target) - 8) / len(met))
        return Height("at", target, step * (met.index(origin) - (len(met) - 1) / 2))

    def _down(self, origin: str, target: str) -> list[Step]:
        return self._within(self.left, origin, target, 1)

    def _up(self, origin: str, target: str) -> list[Step]:
        return self._within(self.right, origin, target, -1)

    def _within(self, lane: Lane, origin: str, target: str, sign: int) -> list[Step]:
        """An edge between two boxes of one lane; ``sign`` is 1 where the lane runs down, -1 where
        it runs up.
        """
        leave, enter = (
            Height("at", origin, sign * self._half(origin)),
            Height("at", target, -sign * self._half(target)),
        )
        start, end = lane.centres[origin], lane.centres[target]
        way = self.columns.ways.get((origin, target))
        if way is None:
            if abs(start - end) <= lane.half(origin) - INSET and abs(start - end) <= lane.half(
                target
            ):
                start = end
            return [line(start, leave), down(end, enter)]
        rows = lane.rows[origin], lane.rows[target]
        if (rows[1] - rows[0]) * sign <= 0:
            return self._against_the_flow(lane, origin, target, sign)
        near: Edging = "top" if sign > 0 else "bottom"
        far: Edging = "bottom" if sign > 0 else "top"
        start += max(-lane.half(origin) + INSET, min(lane.half(origin) - INSET, way - start))
        end += max(-lane.half(target) + INSET, min(lane.half(target) - INSET, way - end))
        first, last = Height(near, rows[0] + sign), Height(far, rows[1] - sign)
        return [line(start, leave), down(way, first), line(way, last), down(end, enter)]

    def _against_the_flow(self, lane: Lane, origin: str, target: str, sign: int) -> list[Step]:
        """Out of the origin, back past all rows between, into the target from behind: an edge that
        runs against its lane.
        """
        way = self.columns.ways[origin, target]
        start, end = lane.centres[origin] + INSET / 2, lane.centres[target] + INSET / 2
        out = self.gaps.track(lane.rows[origin] + (sign > 0), start, way, origin)
        back = self.gaps.track(lane.rows[target] + (sign < 0), end, way, origin)
        leave, enter = (
            Height("at", origin, sign * self._half(origin)),
            Height("at", target, -sign * self._half(target)),
        )
        return [
            line(start, leave),
            line(start, out),
            line(way, out),
            line(way, back),
            line(end, back),
            line(end, enter),
        ]

    def _leaf(self, origin: str, target: str) -> list[Step]:
        edge, box = self.columns.left_edges[0], self.left.centres[target] - self.left.half(target)
        start = line(self.columns.leaves.x, Height("at", origin))
        row = self.left.rows[target]
        if self.left.clear_left(target):
            return [
                *self._enter(start, edge, self._port(origin, target), origin, row),
                line(box, self._port(origin, target)),
            ]
        track = self.gaps.track(row, edge, box + INSET, origin)
        top = Height("at", target, -self._half(target))
        return [
            *self._enter(start, edge, track, origin, row),
            line(box + INSET, track),
            line(box + INSET, top),
        ]

    def _enter(self, start: Step, edge: float, height: Height, leaf: str, row: int) -> list[Step]:
        """Through the channel beside the leaves: a curve to a near row, a run of its own to a far
        one.
        """
        if row == self.columns.leaves.home[leaf][0]:
            return [start, across(edge, height)]
        run = start.x + 9 + 5 * (self.lanes[leaf] % 6)
        return [start, line(run, start.y), line(run, height), line(edge, height)]

    def _leave(self, origin: str, far: bool) -> list[Step]:
        """From a leaf or a forward node to the forward lane's right edge; past what is in the way
        by a gap, as when ``far``.
        """
        edges = self.columns.left_edges
        if origin in self.columns.leaves.home:
            row = self.columns.leaves.home[origin][0]
            track = self.gaps.track(row + 1, edges[0], self.columns.right_edges[1], origin)
            return [
                line(self.columns.leaves.x, Height("at", origin)),
                across(edges[0], track),
                line(edges[1], track),
            ]
        box = self.left.centres[origin] + self.left.half(origin)
        if self.left.clear_right(origin) and not far:
            return [line(box, Height("at", origin)), line(edges[1], Height("at", origin))]
        end = self.columns.right_edges[1] if far else edges[1]
        box -= INSET / 2
        track = self.gaps.track(self.left.rows[origin] + 1, box, end, origin)
        return [
            line(box, Height("at", origin, self._half(origin))),
            line(box, track),
            line(edges[1], track),
        ]

    def _rung(self, origin: str, target: str) -> list[Step]:
        edge, box = (
            self.columns.right_edges[0],
            self.right.centres[target] - self.right.half(target),
        )
        steps = self._leave(origin, far=False)
        if self.right.clear_left(target):
            port = self._port(origin, target)
            return [*steps, across(edge, port), line(box, port)]
        track = self.gaps.track(self.right.rows[target] + 1, edge, box + INSET, origin)
        bottom = Height("at", target, self._half(target))
        return [*steps, across(edge, track), line(box + INSET, track), line(box + INSET, bottom)]

    def _through(self, origin: str, target: str) -> list[Step]:
        steps = self._leave(origin, far=True)
        end = line(self.columns.right_edges[1], steps[-1].y)
        return [*steps, end, across(self.columns.gradients.x, Height("at", target))]

    def _out(self, origin: str, target: str) -> list[Step]:
        edge, box = (
            self.columns.right_edges[1],
            self.right.centres[origin] + self.right.half(origin),
        )
        end = across(self.columns.gradients.x, Height("at", target))
        if self.right.clear_right(origin):
            return [line(box, Height("at", origin)), line(edge, Height("at", origin)), end]
        track = self.gaps.track(self.right.rows[origin], box - INSET, edge, origin)
        top = Height("at", origin, -self._half(origin))
        return [line(box - INSET, top), line(box - INSET, track), line(edge, track), end]

    def _against(self, origin: str, target: str) -> list[Step]:
        start = self.right.centres[origin] - self.right.half(origin)
        end = self.left.centres[target] + self.left.half(target)
        return [line(start, Height("at", origin)), across(end, Height("at", target))]
