"""Gives every node of the two lanes its row, each backward node level with its forward node."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from explorer.drawing.ladder.columns import LEAF_KINDS, Columns, links_among
from explorer.drawing.layout import Place
from explorer.drawing.links import Neighbours, layers, neighbours
from explorer.model.graph import GradGraph


class Rows(msgspec.Struct, frozen=True):
    """The row of each lane node, counted from the top of a grid that both lanes share.

    A level is the rows beside one row of the forward lane: several where the backward of one
    operator takes several steps. ``levels`` gives that of each backward node, ``first_rows`` the
    uppermost row of each level.
    """

    forward: dict[str, int]
    backward: dict[str, int]
    levels: dict[str, int]
    first_rows: frozenset[int]


def lane_rows(graph: GradGraph, columns: Columns, places: Mapping[str, Place]) -> Rows:
    """The rows of both lanes, from the ``places`` of the forward lane."""
    forward_levels = _forward_levels(places)
    levels = _backward_levels(graph, columns, forward_levels)
    steps = _steps_within_levels(graph, columns, levels)
    heights: defaultdict[int, int] = defaultdict(lambda: 1)
    for node in columns.backward:
        heights[levels[node]] = max(heights[levels[node]], steps[node] + 1)

    first_rows = []
    total = 0
    for level in range(max([*forward_levels.values(), *levels.values()], default=0) + 1):
        first_rows.append(total)
        total += heights[level]

    # A forward node stands beside the middle of its backward, whose steps run from below upwards.
    forward = {}
    for node, level in forward_levels.items():
        forward[node] = first_rows[level] + (heights[level] - 1) // 2
    backward = {}
    for node in columns.backward:
        level = levels[node]
        backward[node] = first_rows[level] + heights[level] - 1 - steps[node]
    return Rows(forward, backward, levels, frozenset(first_rows))


def _forward_levels(places: Mapping[str, Place]) -> dict[str, int]:
    """The level of every forward node, counted from the top."""
    # Rounded, so that no last digit parts a row in two; rows are many points apart.
    heights = {node: round(y, 1) for node, (_, y) in places.items()}
    levels = {y: level for level, y in enumerate(sorted(set(heights.values())))}
    return {node: levels[y] for node, y in heights.items()}


def _backward_levels(
    graph: GradGraph, columns: Columns, forward_levels: Mapping[str, int]
) -> dict[str, int]:
    """The level of every backward node: its forward node's, else that of the topmost node it reads,
    else its reader's.
    """
    bottom = max(forward_levels.values(), default=0)
    before, after = neighbours(links_among(graph, columns.backward))
    # A node without a level looks to its neighbours, so these have to be dealt with before it.
    order = _reading_order(columns.backward, after)
    levels = _linked_levels(graph, columns, forward_levels, before)
    _take_levels_of_what_is_read(levels, order, before)
    _take_levels_of_readers(levels, order, after, bottom)
    _sink_first_constants(levels, graph, bottom)
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


def _take_levels_of_what_is_read(
    levels: dict[str, int], order: Iterable[str], before: Neighbours
) -> None:
    """Give the nodes without a level that of the topmost node they read."""
    for node in order:
        read = [levels[other] for other in before[node] if other in levels]
        # The backward climbs: what adds up two gradients runs after the later of them.
        if read and node not in levels:
            levels[node] = min(read)


def _take_levels_of_readers(
    levels: dict[str, int], order: Sequence[str], after: Neighbours, bottom: int
) -> None:
    """Give the nodes that are still without a level that of their lowest reader."""
    for node in reversed(order):
        readers = [levels[other] for other in after[node] if other in levels]
        if node not in levels:
            levels[node] = max(readers, default=bottom)


def _sink_first_constants(levels: dict[str, int], graph: GradGraph, bottom: int) -> None:
    """Move the constants that the first backward operators read, the seeds, to the bottom."""
    nodes = graph.by_id()
    constants = [node for node in levels if nodes[node].kind in LEAF_KINDS]
    # Other constants stay beside their reader: a factor halfway up belongs to its step.
    computing = levels.keys() - constants
    deepest = max((levels[node] for node in computing), default=bottom)
    for constant in constants:
        if levels[constant] >= deepest:
            levels[constant] = bottom


def _leaf_levels(graph: GradGraph, forward_levels: Mapping[str, int]) -> dict[str, int]:
    """The level of each leaf: the uppermost of those that read it in the forward lane."""
    levels: dict[str, int] = {}
    for edge in graph.edges:
        if edge.target in forward_levels and edge.origin not in forward_levels:
            level = forward_levels[edge.target]
            levels[edge.origin] = min(level, levels.get(edge.origin, level))
    return levels


def _reading_order(nodes: list[str], after: Neighbours) -> list[str]:
    """The nodes so that each follows what it reads, otherwise in their own order."""
    links = [(origin, target) for origin in nodes for target in after[origin]]
    depths = layers(nodes, links)
    return sorted(nodes, key=depths.__getitem__)


def _steps_within_levels(
    graph: GradGraph, columns: Columns, levels: Mapping[str, int]
) -> dict[str, int]:
    """How far up within its level each backward node stands: 0 for those that run first."""
    within = []
    for origin, target in links_among(graph, columns.backward):
        if levels[origin] == levels[target]:
            within.append((origin, target))
    return layers(columns.backward, within)
