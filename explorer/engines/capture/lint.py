"""The checker of a captured graph, and an order of execution that a graph's edges allow."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from explorer.model.graph import Edge, GradGraph, Node


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


def lint(graph: GradGraph) -> list[str]:
    """Every way in which a graph breaks its contract; [] when it is sound.

    Each is one sentence with the fact and the likely cause.
    """
    return [*_ids(graph), *_edges(graph), *_links(graph), *_cycle(graph)]


def _ids(graph: GradGraph) -> Iterator[str]:
    for index, node in enumerate(graph.nodes):
        expected = f"n{index}"
        if node.id != expected:
            yield (
                f"node {index} has the id {node.id!r} instead of {expected!r}; ids must be n0, n1, … in"
                " traversal order"
            )
            return  # those behind it are likely to be off for the same reason


def _edges(graph: GradGraph) -> Iterator[str]:
    nodes = graph.by_id()
    for edge in graph.edges:
        name = f"edge {edge.origin}→{edge.target}"
        lost = [end for end in (edge.origin, edge.target) if end not in nodes]
        if lost:
            yield (
                f"{name} refers to {', '.join(lost)}, which does not exist; a node was dropped after its"
                " edges were made"
            )
            continue
        origin, target = nodes[edge.origin], nodes[edge.target]
        fault = _wrong_kind(edge, origin, target)
        if fault:
            yield f"{name} {fault}"
        outputs = len(origin.outputs)
        if edge.kind != "control" and outputs and edge.output >= outputs:
            yield (
                f"{name} starts at output {edge.output} of a node with {outputs}; outputs are counted"
                " from 0"
            )


def _wrong_kind(edge: Edge, origin: Node, target: Node) -> str:
    """Why the kind of an edge does not fit the phases of its ends; empty where it does.

    No value leads from backward into forward, but where a step has several passes an order may: the
    forward of the next one overwrites what backward has read.
    """
    phases = origin.phase, target.phase
    if phases == ("backward", "forward") and edge.kind != "control":
        return "leads from backward into forward; one of the phases is wrong"
    crosses = phases == ("forward", "backward")
    # A leaf or constant may be read in both phases without having been saved.
    computed = origin.kind in ("op", "call", "accumulate")
    if edge.kind == "data" and crosses and computed:
        return "carries a forward value into backward as 'data'; its kind should be 'saved'"
    if edge.kind == "saved" and not crosses:
        return "is 'saved' but does not lead from forward into backward; one of the phases is wrong"
    return ""


def _links(graph: GradGraph) -> Iterator[str]:
    nodes = graph.by_id()
    for node in graph.nodes:
        if node.forward is None:
            continue
        linked = nodes.get(node.forward)
        if linked is None:
            yield (
                f"{node.id} derives from {node.forward}, which does not exist; the forward node was"
                " dropped"
            )
        elif node.phase != "backward" or linked.phase != "forward":
            link = f"{node.id} ({node.phase}) derives from {linked.id} ({linked.phase})"
            yield f"{link}; a link must lead from a backward node to a forward node"


def _cycle(graph: GradGraph) -> Iterator[str]:
    ordered = set(latest_first(graph))
    stuck = [node.id for place, node in enumerate(graph.nodes) if place not in ordered]
    if stuck:
        yield (
            f"{len(stuck)} nodes lie on or behind a cycle, first {stuck[0]}; a gradient graph has no"
            " cycles, so an edge is reversed"
        )
