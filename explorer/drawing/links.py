"""Links between nodes, as pairs of ids: the neighbours of a node, and an order to walk links in."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from explorer.model.graph import Edge, GradGraph

Link = tuple[str, str]
"""The ids of an edge's origin and of its target."""

Neighbours = defaultdict[str, list[str]]
"""The ids that stand next to each id in one direction; none for an id that has no link."""


def links_of(edges: Iterable[Edge]) -> list[Link]:
    """The two ends of each edge."""
    return [(edge.origin, edge.target) for edge in edges]


def edges_among(graph: GradGraph, nodes: Iterable[str]) -> list[Edge]:
    """The edges of a graph that begin and end at some of its nodes."""
    ids = set(nodes)
    return [edge for edge in graph.edges if edge.origin in ids and edge.target in ids]


def links_among(graph: GradGraph, nodes: Iterable[str]) -> list[Link]:
    """The two ends of each edge that begins and ends at some of a graph's nodes."""
    return links_of(edges_among(graph, nodes))


def neighbours(links: Iterable[Link]) -> tuple[Neighbours, Neighbours]:
    """The origins of the links into each node, and the targets of the links out of it.

    A node is listed once for each of its links.
    """
    before: Neighbours = defaultdict(list)
    after: Neighbours = defaultdict(list)
    for origin, target in links:
        before[target].append(origin)
        after[origin].append(target)
    return before, after


def in_order(nodes: Iterable[str], links: Iterable[Link]) -> Iterator[Link]:
    """The links in an order in which all links into a node precede all links out of it.

    Links on a cycle, and those that follow one, are left out. Source: A. B. Kahn, "Topological
    sorting of large networks", Communications of the ACM 5 (1962).
    """
    before, after = neighbours(links)
    # How many links into each node have not been walked yet; a node is ready when none is left.
    waiting: Counter[str] = Counter()
    for target, origins in before.items():
        waiting[target] = len(origins)
    ready = [node for node in nodes if not waiting[node]]
    # A list rather than recursion: a chain of 10,000 nodes is deeper than Python's stack.
    while ready:
        origin = ready.pop()
        for target in after[origin]:
            yield origin, target
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)


def layers(nodes: Iterable[str], links: Iterable[Link]) -> dict[str, int]:
    """The number of links on the longest path to each node.

    A node on a cycle is left where the links before it put it.
    """
    layer = dict.fromkeys(nodes, 0)
    for origin, target in in_order(layer, links):
        layer[target] = max(layer[target], layer[origin] + 1)
    return layer
