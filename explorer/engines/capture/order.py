"""Another order of execution that a gradient graph allows."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from explorer.model.graph import GradGraph


def latest_first(graph: GradGraph) -> Iterator[int]:
    """The places of a graph's nodes in an order that its edges allow, the latest first.

    Each node follows those that its edges come from; apart from that, the order is the reverse of
    the nodes' own. Nodes on a cycle, and those behind it, are left out (Kahn's algorithm).
    """
    waiting, followers = _neighbours(graph)
    # heapq gives the least number first, so the places are negated.
    ready = [-place for place, count in enumerate(waiting) if count == 0]
    heapify(ready)
    while ready:
        place = -heappop(ready)
        yield place
        for follower in followers[place]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(ready, -follower)


def _neighbours(graph: GradGraph) -> tuple[list[int], list[list[int]]]:
    """The number of edges that lead to each node, and the nodes that its own edges lead to."""
    places = {node.id: place for place, node in enumerate(graph.nodes)}
    arriving = [0] * len(graph.nodes)
    followers: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        if edge.origin in places and edge.target in places:
            arriving[places[edge.target]] += 1
            followers[places[edge.origin]].append(places[edge.target])
    return arriving, followers
