"""Collapses the nodes of a module into one node, forward and backward apart, without ever making a
cycle.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Final

import msgspec

from explorer.model.errors import UsageError
from explorer.model.graph import Edge, GradGraph, Node

ENDS: Final = frozenset({"input", "parameter", "output"})
"""Kinds that stay in sight whatever is collapsed: they are what the gradient is of, and what it is.
"""

Key = tuple[Hashable, ...]


def collapse(graph: GradGraph, depth: int) -> GradGraph:
    """The graph with the nodes of every module scope of at most ``depth`` parts merged into one
    "call" node.

    Forward and backward are merged apart. A scope whose merging would make a cycle is split where
    it must be. Depth 0 merges each phase whole. Linear in nodes and edges. Raises UsageError for a
    negative depth.
    """
    return collapse_named(graph, depth)[0]


def collapse_named(graph: GradGraph, depth: int) -> tuple[GradGraph, dict[str, str]]:
    """The collapsed graph, and for every node of the given graph the id of the node that now stands
    for it.
    """
    if depth < 0:
        raise UsageError(
            f"depth is {depth}: it counts the parts of a module path that stay apart, 0 or more"
        )
    keys = _keys(graph, depth)
    keys = _acyclic(graph, keys)
    members: defaultdict[Key, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        members[keys[node.id]].append(node)
    names = {key: f"n{index}" for index, key in enumerate(members)}
    home = {node.id: names[keys[node.id]] for node in graph.nodes}
    leaving = {edge.origin for edge in graph.edges if home[edge.origin] != home[edge.target]}
    nodes = tuple(
        _merged(names[key], group, depth, home, leaving) for key, group in members.items()
    )
    return msgspec.structs.replace(
        graph, nodes=nodes, edges=_edges(graph.edges, home, members, names)
    ), home


def _keys(graph: GradGraph, depth: int) -> dict[str, Key]:
    scopes = {node.id: node.scope for node in graph.nodes}
    keys: dict[str, Key] = {}
    for node in graph.nodes:
        scope = node.scope or scopes.get(node.forward or "", "")
        alone = (
            node.kind in ENDS
            or (node.kind == "constant" and node.phase == "backward")
            or (depth and not scope)
        )
        keys[node.id] = (node.id,) if alone else (node.phase, node.body, cut(scope, depth))
    return keys


def cut(scope: str, depth: int) -> str:
    """The first ``depth`` parts of a module path."""
    return ".".join(scope.split(".")[:depth])


def _acyclic(graph: GradGraph, keys: dict[str, Key]) -> dict[str, Key]:
    """Splits the keys that lie on a cycle of merged nodes, by counting how often a path has changed
    its key.
    """
    from networkx import (
        DiGraph,
        strongly_connected_components,
    )  # takes a third of a second to import

    merged = DiGraph()
    merged.add_nodes_from(keys.values())
    merged.add_edges_from({(keys[edge.origin], keys[edge.target]): None for edge in graph.edges})
    knot = {
        key: index
        for index, part in enumerate(strongly_connected_components(merged))
        if len(part) > 1
        for key in part
    }
    if not knot:
        return keys
    inner = [
        edge
        for edge in graph.edges
        if _knot(knot, keys, edge.origin) == _knot(knot, keys, edge.target) is not None
    ]
    turns = dict.fromkeys(keys, 0)
    for edge in _sorted_by_origin(keys, inner):
        changed = keys[edge.origin] != keys[edge.target]
        turns[edge.target] = max(turns[edge.target], turns[edge.origin] + changed)
    return {node: (*key, turns[node]) if key in knot else key for node, key in keys.items()}


def _knot(knot: Mapping[Key, int], keys: Mapping[str, Key], node: str) -> int | None:
    return knot.get(keys[node])


def _sorted_by_origin(nodes: Iterable[str], edges: list[Edge]) -> Iterable[Edge]:
    """The edges in an order in which all edges into a node precede all edges out of it."""
    after: defaultdict[str, list[Edge]] = defaultdict(list)
    waiting = Counter(edge.target for edge in edges)
    for edge in edges:
        after[edge.origin].append(edge)
    ready = [node for node in nodes if not waiting[node]]
    while ready:
        for edge in after[ready.pop()]:
            yield edge
            waiting[edge.target] -= 1
            if not waiting[edge.target]:
                ready.append(edge.target)


def _merged(
    name: str, group: list[Node], depth: int, home: Mapping[str, str], leaving: set[str]
) -> Node:
    first = group[0]
    links = Counter(
        home[node.forward] for node in group if node.forward is not None and node.forward in home
    )
    forward = min(links, key=lambda link: (-links[link], int(link[1:]))) if links else None
    if len(group) == 1:
        return msgspec.structs.replace(first, id=name, forward=forward)
    scope = cut(first.scope or next((node.scope for node in group if node.scope), ""), depth)
    last = next((node for node in reversed(group) if node.id in leaving), group[-1])
    return Node(
        id=name,
        op=scope or ("net" if first.phase == "forward" else "net, backward"),
        kind="call",
        phase=first.phase,
        scope=scope,
        source=first.source,
        forward=forward,
        order=min(node.order for node in group),
        outputs=last.outputs,
        body=first.body,
        saved_bytes=sum(node.saved_bytes for node in group),
    )


def _edges(
    edges: Iterable[Edge],
    home: Mapping[str, str],
    members: Mapping[Key, list[Node]],
    names: Mapping[Key, str],
) -> tuple[Edge, ...]:
    whole = {names[key] for key, group in members.items() if len(group) == 1}
    kept: dict[tuple[str, str, int, int, str], Edge] = {}
    for edge in edges:
        origin, target = home[edge.origin], home[edge.target]
        if origin != target:
            output = edge.output if origin in whole else 0
            slot = edge.input if target in whole else 0
            kept.setdefault(
                (origin, target, output, slot, edge.kind),
                Edge(origin, target, output, slot, edge.kind),
            )
    return tuple(kept.values())
