"""Finds the way of an edge between two boxes of one lane."""

from typing import Final

from explorer.drawing.ladder.lane import Lane
from explorer.drawing.ladder.routes import (
    BesideNode,
    RowEdge,
    Step,
    Tracks,
    bottom_of,
    down,
    line,
    top_of,
)

INSET: Final = 11.0
"""How far from a box's corner an edge meets it from above or below, in points."""


def route_within(lane: Lane, tracks: Tracks, origin: str, target: str) -> list[Step]:
    """The steps of an edge from one box of a lane to another.

    It takes a track on its way where it runs against the lane's direction.
    """
    way = lane.ways.get((origin, target))
    if way is None:
        return _to_next_row(lane, origin, target)
    distance = (lane.rows[target] - lane.rows[origin]) * lane.direction
    if distance > 0:
        return _past_rows(lane, way, origin, target)
    return _against_the_lane(lane, way, tracks, origin, target)


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
    start, end = _towards(lane, origin, way), _towards(lane, target, way)
    first_row = lane.rows[origin] + lane.direction
    last_row = lane.rows[target] - lane.direction
    if lane.direction > 0:
        first, last = RowEdge(first_row, "top"), RowEdge(last_row, "bottom")
    else:
        first, last = RowEdge(first_row, "bottom"), RowEdge(last_row, "top")
    leave, enter = _ends(lane, origin, target)
    return [line(start, leave), down(way, first), line(way, last), down(end, enter)]


def _against_the_lane(
    lane: Lane, way: float, tracks: Tracks, origin: str, target: str
) -> list[Step]:
    """Out of the origin, back past all rows between, and into the target as other edges of the lane
    enter it.
    """
    # A little beside the middle, where the edges that run with the lane meet the boxes.
    start, end = lane.centres[origin] + INSET / 2, lane.centres[target] + INSET / 2
    # The gap above a row has the row's number, the gap below it the next.
    runs_down = lane.direction > 0
    behind_origin = lane.rows[origin] + (1 if runs_down else 0)
    before_target = lane.rows[target] + (0 if runs_down else 1)
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


def _towards(lane: Lane, node: str, x: float) -> float:
    """Where an edge by a way at ``x`` meets a node's box: as near to the way as its corners let it."""
    reach = lane.half_width(node) - INSET
    aside = max(-reach, min(reach, x - lane.centres[node]))
    return lane.centres[node] + aside
