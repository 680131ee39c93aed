"""Lays wide rows in several: what stands side by side is put one below the other, as it ran."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from explorer.drawing.links import Link, neighbours
from explorer.drawing.spacing import Wish, spread

WIDEST_ROW: Final = 1600.0
"""The greatest width of a row that is left as it is, in points.

With two lanes, their ways and the side columns, a picture is then at most about 6,000 points wide.
"""


def wrapped_layers(
    nodes: Iterable[str], links: Sequence[Link], widths: Mapping[str, float], apart: float
) -> dict[str, int]:
    """The layer of each node, counted from 0, with no layer wider than WIDEST_ROW.

    Each node comes into the first layer behind those it reads where there is room for it, in the
    order of ``nodes``, which is that of execution: branches that ran one after the other fill the
    row, and then begin below. ``apart`` is the room between neighbours, in points.
    """
    before, _ = neighbours(links)
    layers: dict[str, int] = {}
    used: dict[int, float] = {}
    for node in _reading_order(nodes, links):
        layer = max((layers[other] + 1 for other in before[node] if other in layers), default=0)
        while layer in used and used[layer] + apart + widths[node] > WIDEST_ROW:
            layer += 1
        layers[node] = layer
        used[layer] = used.get(layer, -apart) + apart + widths[node]
    return layers


def narrowed(
    rows: Iterable[Sequence[str]],
    centres: Mapping[str, float],
    widths: Mapping[str, float],
    apart: float,
) -> dict[str, float]:
    """The centres with every row in the middle of the lane, no wider than WIDEST_ROW if it can be.

    Boxes stay in their order, and at least ``apart`` points from each other.
    """
    narrow: dict[str, float] = {}
    for row in rows:
        order = sorted(row, key=centres.__getitem__)
        first, last = order[0], order[-1]
        middle = (centres[first] + centres[last]) / 2
        # The outermost boxes stand out of their centres by half their widths.
        room = WIDEST_ROW - (widths[first] + widths[last]) / 2
        factor = min(1.0, room / max(centres[last] - centres[first], 1.0))
        wishes = [Wish((centres[node] - middle) * factor, widths[node]) for node in order]
        narrow.update(zip(order, spread(wishes, apart), strict=True))
    return narrow


def _reading_order(nodes: Iterable[str], links: Sequence[Link]) -> Iterator[str]:
    """The nodes in their own order, as far as each follows those that it reads."""
    places = {node: place for place, node in enumerate(nodes)}
    names = list(places)
    _, after = neighbours(links)
    waiting = Counter(target for _, target in links)
    ready = [places[node] for node in names if not waiting[node]]
    heapify(ready)
    while ready:
        node = names[heappop(ready)]
        yield node
        for reader in after[node]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heappush(ready, places[reader])


def is_too_wide(rows: Iterable[Sequence[str]], widths: Mapping[str, float], apart: float) -> bool:
    """Whether the boxes of any row do not fit into WIDEST_ROW."""
    lengths = [sum(widths[node] + apart for node in row) - apart for row in rows]
    return max(lengths, default=0.0) > WIDEST_ROW
