"""The row of each node of the two lanes; wide rows are wrapped."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

import msgspec

from explorer.drawing.ladder.columns import LEAF_KINDS, Columns
from explorer.drawing.layout import Wish, spread
from explorer.drawing.picture import Card, Point
from explorer.drawing.structure import Link, Neighbours, layers, links_among, neighbours
from explorer.drawing.style import GROUP_SIDE
from explorer.model.graph import GradGraph

# Wide rows

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
    for node in _order_of_reading(nodes, links):
        layer = 0
        for other in before[node]:
            layer = max(layer, layers.get(other, -1) + 1)
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


def _order_of_reading(nodes: Iterable[str], links: Sequence[Link]) -> Iterator[str]:
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
    for row in rows:
        boxes = sum(widths[node] + apart for node in row)
        if boxes - apart > WIDEST_ROW:
            return True
    return False


def widths_of(nodes: Iterable[str], cards: Mapping[str, Card]) -> dict[str, float]:
    """The widths of the boxes of some nodes, in points."""
    return {node: cards[node].width for node in nodes}


# Rows of both lanes

BETWEEN_BOXES: Final = 3 * GROUP_SIDE
"""Room between neighbours of the backward lane, in points."""


class Rows(msgspec.Struct, frozen=True):
    """The row of each lane node, counted from the top of a grid that both lanes share.

    A level is the rows beside one row of forward boxes: several where the backward of one operator
    is a sequence of operators. ``levels`` gives the level of each backward node, ``first_rows`` the
    uppermost row of each level.
    """

    forward: dict[str, int]
    backward: dict[str, int]
    levels: dict[str, int]
    first_rows: frozenset[int]


def lane_rows(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], places: Mapping[str, Point]
) -> Rows:
    """The rows of both lanes, from the ``places`` of the forward lane."""
    forward_levels = _forward_levels(places)
    levels = _backward_levels(graph, columns, forward_levels)
    offsets = _offsets_within_levels(graph, columns, cards, levels)
    row_counts: defaultdict[int, int] = defaultdict(lambda: 1)
    for node in columns.backward:
        row_counts[levels[node]] = max(row_counts[levels[node]], offsets[node] + 1)

    first_rows = []
    total = 0
    for level in range(max([*forward_levels.values(), *levels.values()], default=0) + 1):
        first_rows.append(total)
        total += row_counts[level]

    # A forward node stands beside the middle of its backward, which runs from below upwards.
    forward = {}
    for node, level in forward_levels.items():
        forward[node] = first_rows[level] + (row_counts[level] - 1) // 2
    backward = {}
    for node in columns.backward:
        level = levels[node]
        backward[node] = first_rows[level] + row_counts[level] - 1 - offsets[node]
    return Rows(forward, backward, levels, frozenset(first_rows))


def _forward_levels(places: Mapping[str, Point]) -> dict[str, int]:
    """The level of every forward node, counted from the top."""
    # Rounded, so that no last digit parts a row in two; rows are many points apart.
    rows = sorted({round(y, 1) for _x, y in places.values()})
    level_at = {y: level for level, y in enumerate(rows)}
    return {node: level_at[round(y, 1)] for node, (_x, y) in places.items()}


def _backward_levels(
    graph: GradGraph, columns: Columns, forward_levels: Mapping[str, int]
) -> dict[str, int]:
    """The level of every backward node.

    It is that of its forward node, else that of the topmost node it reads, else that of its lowest
    reader.
    """
    bottom = max(forward_levels.values(), default=0)
    before, after = neighbours(links_among(graph, columns.backward))
    # A node without a level takes a neighbour's, so the neighbours have to get theirs before it.
    order = _reading_order(columns.backward, after)
    levels = _linked_levels(graph, columns, forward_levels, before)
    _inherit_levels_from_inputs(levels, order, before)
    _inherit_levels_from_readers(levels, order, after, bottom)
    _lower_seeds(levels, graph, bottom)
    return levels


def _linked_levels(
    graph: GradGraph,
    columns: Columns,
    forward_levels: Mapping[str, int],
    before: Neighbours,
) -> dict[str, int]:
    """The levels of the backward nodes that derive from a forward node or from a leaf."""
    nodes = graph.by_id()
    origin_levels = {**_leaf_levels(graph, forward_levels), **forward_levels}
    levels: dict[str, int] = {}
    for id_ in columns.backward:
        node = nodes[id_]
        # A call stands above the subgraphs that it takes its value from, not beside its forward.
        takes_from_subgraph = any(nodes[other].body for other in before[id_])
        if node.kind == "call" and takes_from_subgraph:
            continue
        if node.forward in origin_levels:
            levels[id_] = origin_levels[node.forward]
    return levels


def _inherit_levels_from_inputs(
    levels: dict[str, int], order: Iterable[str], before: Neighbours
) -> None:
    """Give each node without a level that of the topmost node it reads."""
    for node in order:
        known = levels.keys() & before[node]
        # The backward climbs: a sum of two gradients runs after the later of them.
        if known and node not in levels:
            levels[node] = min(map(levels.__getitem__, known))


def _inherit_levels_from_readers(
    levels: dict[str, int], order: Sequence[str], after: Neighbours, bottom: int
) -> None:
    """Give each node that is still without a level that of its lowest reader."""
    for node in reversed(order):
        if node not in levels:
            known = levels.keys() & after[node]
            levels[node] = max(map(levels.__getitem__, known), default=bottom)


def _lower_seeds(levels: dict[str, int], graph: GradGraph, bottom: int) -> None:
    """Move the constants that the first backward operators read, the seeds, to the bottom."""
    nodes = graph.by_id()
    constants = [node for node in levels if nodes[node].kind in LEAF_KINDS]
    # Other constants stay beside their reader: a factor halfway up belongs to its operator.
    computing = levels.keys() - constants
    deepest = max((levels[node] for node in computing), default=bottom)
    for constant in constants:
        if levels[constant] >= deepest:
            levels[constant] = bottom


def _leaf_levels(graph: GradGraph, forward_levels: Mapping[str, int]) -> dict[str, int]:
    """The level of each leaf: that of its uppermost reader in the forward lane."""
    levels: dict[str, int] = {}
    for edge in graph.edges:
        if edge.target in forward_levels and edge.origin not in forward_levels:
            level = forward_levels[edge.target]
            levels[edge.origin] = min(level, levels.get(edge.origin, level))
    return levels


def _reading_order(nodes: list[str], after: Neighbours) -> list[str]:
    """The nodes, sorted so that each follows the nodes it reads, otherwise in their own order."""
    links = [(origin, target) for origin in nodes for target in after[origin]]
    depths = layers(nodes, links)
    return sorted(nodes, key=depths.__getitem__)


def _offsets_within_levels(
    graph: GradGraph, columns: Columns, cards: Mapping[str, Card], levels: Mapping[str, int]
) -> dict[str, int]:
    """How many rows up within its level each backward node stands: 0 for those that run first."""
    within = []
    for origin, target in links_among(graph, columns.backward):
        if levels[origin] == levels[target]:
            within.append((origin, target))
    offsets = layers(columns.backward, within)

    by_level: defaultdict[int, list[str]] = defaultdict(list)
    for node in columns.backward:
        by_level[levels[node]].append(node)
    for nodes in by_level.values():
        rows: defaultdict[int, list[str]] = defaultdict(list)
        for node in nodes:
            rows[offsets[node]].append(node)
        widths = widths_of(nodes, cards)
        if is_too_wide(rows.values(), widths, BETWEEN_BOXES):
            inside = [link for link in within if link[0] in widths]
            offsets.update(wrapped_layers(nodes, inside, widths, BETWEEN_BOXES))
    return offsets
