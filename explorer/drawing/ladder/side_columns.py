"""Orders the leaves and the gradients of a ladder, each near to the row of what it is wired to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import Columns
from explorer.drawing.ladder.lane import Lane
from explorer.drawing.links import Neighbours

NUDGE: Final = 24.0
"""How far apart the leaves, or the gradients, of one row would like to stand, in points."""


class SideColumn(msgspec.Struct, frozen=True):
    """The leaves or the gradients: their order from the top, the row that each belongs to, and how
    far below that row's middle it would like to stand, in points.
    """

    order: list[str]
    rows: dict[str, int]
    nudges: dict[str, float]


def leaf_column(columns: Columns, readers: Neighbours, forward: Lane, backward: Lane) -> SideColumn:
    """The leaves, each beside the uppermost of its ``readers`` in the forward lane, else in the
    backward lane.
    """
    rows = {}
    is_clear = {}
    for leaf in columns.leaves:
        forward_readers = [node for node in readers[leaf] if node in forward.rows]
        rows[leaf] = _uppermost(readers[leaf], forward if forward_readers else backward)
        is_clear[leaf] = all(forward.is_leftmost(node) for node in forward_readers)
    return _side_column(rows, is_clear)


def gradient_column(
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
    # An edge that has something in its way comes through the gap above its row, so its leaf or
    # gradient stands above the others of the row; these stay in the graph's order.
    order = sorted(rows, key=lambda node: (rows[node], is_clear[node]))
    return SideColumn(order, rows, _nudges(order, rows))


def _nudges(order: Sequence[str], rows: Mapping[str, int]) -> dict[str, float]:
    """How far below its row's middle each node would like to stand, those of a row around it."""
    by_row: defaultdict[int, list[str]] = defaultdict(list)
    for node in order:
        by_row[rows[node]].append(node)
    nudges = {}
    for nodes in by_row.values():
        for index, node in enumerate(nodes):
            nudges[node] = NUDGE * (index - (len(nodes) - 1) / 2)
    return nudges
