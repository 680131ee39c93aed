"""A simple layered layout: longest-path layers, barycentre order, and boxes that keep apart.

It needs no Graphviz, and a few passes over nodes and edges. Source: K. Sugiyama, S. Tagawa and
M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE Transactions on
Systems, Man, and Cybernetics 11 (1981).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from explorer.drawing.links import Link, Neighbours, layers, neighbours
from explorer.drawing.spacing import Wish, spread

SWEEPS = 4
"""Passes of ordering by barycentre; more change little."""


def layered(
    sizes: Mapping[str, tuple[float, float]],
    links: Sequence[Link],
    last: Iterable[str],
    across: float,
    down: float,
) -> dict[str, tuple[float, float]]:
    """The centre of every node in points, y growing downwards.

    ``sizes`` are widths and heights; nodes of ``last`` stand in the bottom row. ``across`` is the
    least room between neighbours in a row, ``down`` the room between rows.
    """
    layer = layers(sizes, links)
    bottom = max(layer.values(), default=0)
    layer.update(dict.fromkeys(last, bottom))
    rows: defaultdict[int, list[str]] = defaultdict(list)
    for node in sizes:
        rows[layer[node]].append(node)

    before, after = neighbours(links)
    x = dict.fromkeys(sizes, 0.0)
    for sweep in range(SWEEPS):
        # Down the rows by what stands above, then up the rows by what stands below.
        upwards = sweep % 2 == 1
        for row in sorted(rows, reverse=upwards):
            _place(rows[row], after if upwards else before, x, sizes, across)

    places = {}
    top = 0.0
    for row in sorted(rows):
        height = max(sizes[node][1] for node in rows[row])
        for node in rows[row]:
            places[node] = (x[node], top + height / 2)
        top += height + down
    return places


def _place(
    row: list[str],
    near: Neighbours,
    x: dict[str, float],
    sizes: Mapping[str, tuple[float, float]],
    across: float,
) -> None:
    """Sort a row by the means of what its nodes are linked to, and place it as near to these."""
    wanted: dict[str, float] = {}
    for node in row:
        linked = near.get(node)
        wanted[node] = sum(x[other] for other in linked) / len(linked) if linked else x[node]
    row.sort(key=wanted.__getitem__)
    centres = spread([Wish(wanted[node], sizes[node][0]) for node in row], across)
    x.update(zip(row, centres, strict=True))
