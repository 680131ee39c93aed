"""Gives every column of a ladder its x: the lanes with their ways, the leaves and the gradients."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns
from explorer.drawing.ladder.lane import Interval, Lane
from explorer.drawing.links import Link, Neighbours, links_of, neighbours
from explorer.drawing.picture import Card
from explorer.drawing.style import MARGIN
from explorer.model.graph import Edge, GradGraph

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
        rows[leaf] = _uppermost(readers[leaf], forward if forward_readers else backward)
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
