"""Sorts the nodes of a gradient graph into the parts of a ladder and gives every one its level."""

from collections import defaultdict
from typing import Final

import msgspec

from explorer.drawing.layered import layers
from explorer.model.graph import Edge, GradGraph

LEAVES: Final = frozenset({"input", "parameter", "constant"})


class Parts(msgspec.Struct, frozen=True):
    """Who stands where: ids of the leaves (far left), the two lanes, and the gradients (far right),
    in the graph's order.
    """

    leaves: list[str]
    forward: list[str]
    backward: list[str]
    gradients: list[str]

    def lane(self) -> dict[str, str]:
        """The part of every node."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return {node: name for name, nodes in fields.items() for node in nodes}


def split(graph: GradGraph) -> Parts:
    """The parts of a graph; a subgraph's leaf, a leaf with an origin and a gradient with a reader
    stand in their lanes.
    """
    led = {edge.target for edge in graph.edges}
    followed = {edge.origin for edge in graph.edges}
    parts = Parts([], [], [], [])
    for node in graph.nodes:
        if node.phase == "forward":
            beside = node.kind in LEAVES and node.id not in led and not node.body
            (parts.leaves if beside else parts.forward).append(node.id)
        else:
            (
                parts.gradients
                if node.kind == "output" and node.id not in followed
                else parts.backward
            ).append(node.id)
    return parts


def backward_levels(graph: GradGraph, parts: Parts, ranks: dict[str, int]) -> dict[str, int]:
    """The level of every backward node: its forward node's, else that of the topmost node it reads,
    else its reader's.

    Backward constants stand with their reader; those that the first backward operators read (the
    seeds) at the bottom.
    """
    nodes = graph.by_id()
    bottom = max(ranks.values(), default=0)
    lane = set(parts.backward)
    before, after = neighbours(
        [edge for edge in graph.edges if edge.origin in lane and edge.target in lane]
    )
    homes = _leaf_levels(graph, ranks)
    level: dict[str, int] = {}
    for node in parts.backward:
        link = nodes[node].forward
        if any(nodes[other].body for other in before[node]) and nodes[node].kind == "call":
            continue  # it stands above the subgraphs that it takes its value from
        if link in ranks:
            level[node] = ranks[link]
        elif link in homes:
            level[node] = homes[link]
    order = flow_order(parts.backward, before, after)
    for node in order:
        known = [level[other] for other in before[node] if other in level]
        if node not in level and known:
            level[node] = min(known)
    for node in reversed(order):
        known = [level[other] for other in after[node] if other in level]
        if node not in level:
            level[node] = max(known, default=bottom)
    deepest = max(
        (level[node] for node in parts.backward if nodes[node].kind not in LEAVES), default=bottom
    )
    for node in parts.backward:
        if nodes[node].kind in LEAVES and level[node] >= deepest:
            level[node] = bottom
    return level


def _leaf_levels(graph: GradGraph, ranks: dict[str, int]) -> dict[str, int]:
    first: dict[str, int] = {}
    for edge in graph.edges:
        if edge.target in ranks and edge.origin not in ranks:
            first[edge.origin] = min(ranks[edge.target], first.get(edge.origin, ranks[edge.target]))
    return first


def neighbours(
    edges: list[Edge],
) -> tuple[defaultdict[str, list[str]], defaultdict[str, list[str]]]:
    """Who leads to each node, and whom each node leads to."""
    before: defaultdict[str, list[str]] = defaultdict(list)
    after: defaultdict[str, list[str]] = defaultdict(list)
    for edge in edges:
        before[edge.target].append(edge.origin)
        after[edge.origin].append(edge.target)
    return before, after


def flow_order(
    nodes: list[str], before: defaultdict[str, list[str]], after: defaultdict[str, list[str]]
) -> list[str]:
    """The nodes so that each follows what it reads."""
    pairs = [(origin, target) for origin in nodes for target in after[origin]]
    depth = layers(nodes, pairs)
    place = {node: index for index, node in enumerate(nodes)}
    return sorted(nodes, key=lambda node: (depth[node], place[node]))


def sub_rows(parts: Parts, level: dict[str, int], graph: GradGraph) -> dict[str, int]:
    """How far up within its level each backward node stands: 0 for those that run first, at the
    bottom.
    """
    inside = [
        (edge.origin, edge.target)
        for edge in graph.edges
        if edge.origin in level and edge.target in level
    ]
    return layers(
        parts.backward,
        [(origin, target) for origin, target in inside if level[origin] == level[target]],
    )
