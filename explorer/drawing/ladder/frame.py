"""Gives every column of a ladder its x: the lanes with their ways, the leaves and the gradients."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns
from explorer.drawing.ladder.lane import Interval, Lane
from explorer.drawing.ladder.side_columns import SideColumn, gradient_column, leaf_column
from explorer.drawing.links import Link, links_of, neighbours
from explorer.drawing.picture import Card
from explorer.drawing.style import MARGIN
from explorer.model.graph import Edge, GradGraph

CHANNEL: Final = 46.0
"""Width of the space between the leaves and the forward lane, and between the backward lane and the
gradients, in points.
"""

MIDDLE: Final = 104.0
"""Width of the space that the rungs cross, in points."""

LANE_SIDE: Final = 16.0
"""Room between a lane's outermost box and the channel beside it, in points; the groups' sides fit
in.
"""


class Frame(msgspec.Struct, frozen=True):
    """A ladder with an x for everything in it, in points from the left.

    ``edges`` has one edge for each pair of nodes. Leaves end at ``leaves_end``, gradients begin at
    ``gradients_start``.
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


def settle(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], forward: Lane, backward: Lane
) -> Frame:
    """The frame of a ladder; the lanes hand out their ways and are moved to their places."""
    edges = _one_for_each_pair(graph.edges)
    links = links_of(edges)
    makers, readers = neighbours(links)
    leaves = leaf_column(columns, readers, forward, backward)
    gradients = gradient_column(columns, makers, leaves, forward, backward)

    # How wide a lane is depends on its ways, so they are handed out before it gets its place.
    forward.take_ways(links)
    backward.take_ways(links)
    leaves_end = MARGIN + _widest(leaves, cards)
    channel = CHANNEL if leaves.order else 0.0
    forward_extent = _move(forward, leaves_end + channel)
    middle = MIDDLE if columns.backward else 0.0
    backward_extent = _move(backward, forward_extent.right + middle)
    channel = CHANNEL if gradients.order else 0.0
    gradients_start = backward_extent.right + channel
    return Frame(
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
    """Move a lane so that it begins at ``x``; where it begins and ends then."""
    if not lane.centres:
        return Interval(x, x)
    extent = lane.extent()
    start = min(extent.left, lane.left - LANE_SIDE)
    end = max(extent.right, lane.right + LANE_SIDE)
    lane.shift(x - start)
    return Interval(x, x + end - start)
