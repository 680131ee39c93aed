"""A simple layered layout: barycentre order in given layers, and boxes that keep apart.

It needs no Graphviz, and a few passes over nodes and edges. Source: K. Sugiyama, S. Tagawa and
M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE Transactions on
Systems, Man, and Cybernetics 11 (1981).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from explorer.drawing.links import Link, Neighbours, neighbours
from explorer.drawing.picture import Point, Size
from explorer.drawing.spacing import Wish, spread

SWEEPS = 4
"""Passes of ordering by barycentre; more change little."""


def layered(
    sizes: Mapping[str, Size],
    links: Sequence[Link],
    layer: Mapping[str, int],
    column_gap: float,
    row_gap: float,
) -> dict[str, Point]:
    """The centre of every node in points, y growing downwards.

    ``sizes`` are widths and heights; ``layer`` is the row of each node, counted from the top.
    ``column_gap`` is the least room between neighbours in a row, ``row_gap`` the room between rows.
    """
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for node in sizes:
        rows[layer[node]].append(node)

    before, after = neighbours(links)
    x = dict.fromkeys(sizes, 0.0)
    for sweep in range(SWEEPS):
        # Down the rows by the nodes above, then up the rows by the nodes below.
        upwards = sweep % 2 == 1
        for row in sorted(rows, reverse=upwards):
            _place(rows[row], after if upwards else before, x, sizes, column_gap)

    places = {}
    top = 0.0
    for row in sorted(rows):
        height = max(sizes[node][1] for node in rows[row])
        for node in rows[row]:
            places[node] = (x[node], top + height / 2)
        top += height + row_gap
    return places


def _place(
    row: list[str],
    near: Neighbours,
    x: dict[str, float],
    sizes: Mapping[str, Size],
    column_gap: float,
) -> None:
    """Sort the nodes of a row by the mean x of their neighbours, and place them as near to it."""
    means: dict[str, float] = {}
    for node in row:
        means[node] = x[node]
        linked = near.get(node)
        if linked:
            means[node] = sum(x[other] for other in linked) / len(linked)
    row.sort(key=means.__getitem__)
    centres = spread([Wish(means[node], sizes[node][0]) for node in row], column_gap)
    x.update(zip(row, centres, strict=True))
