"""Collapses the nodes of a module into one node, forward and backward apart, without ever making a
cycle.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.links import Link, in_order
from explorer.drawing.modules import module_path, modules_of
from explorer.model.errors import UsageError
from explorer.model.graph import Edge, GradGraph, Node

ENDS: Final = frozenset({"input", "parameter", "output"})
"""Kinds that stay in sight whatever is collapsed: they are what the gradient is of, and what it is.
"""

Key = tuple[Hashable, ...]
"""What the nodes that merge have in common: phase, subgraph and module; or the id of a node that
stays as it is.
"""


def collapse(graph: GradGraph, depth: int) -> GradGraph:
    """The graph with the nodes of each module, named by ``depth`` parts of its path, merged into one
    "call" node.

    Forward and backward are merged apart. A module whose merging would make a cycle is split where
    it must be. Depth 0 merges each phase whole. Linear in nodes and edges. Raises UsageError for a
    negative depth.
    """
    return collapse_named(graph, depth)[0]


def collapse_named(graph: GradGraph, depth: int) -> tuple[GradGraph, dict[str, str]]:
    """The collapsed graph, and for every node of the given graph the id of the node that now stands
    for it. Raises UsageError for a negative depth.
    """
    if depth < 0:
        raise UsageError(
            f"depth is {depth}: it counts the parts of a module path that stay apart, 0 or more"
        )
    keys = _split_cycles(graph, _keys(graph, depth))
    members: defaultdict[Key, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        members[keys[node.id]].append(node)
    # A merged node stands where the first of its members stood: ids stay in traversal order.
    places = {key: place for place, key in enumerate(members)}
    home = {node.id: places[keys[node.id]] for node in graph.nodes}

    read_outside = {edge.origin for edge in graph.edges if home[edge.origin] != home[edge.target]}
    nodes = []
    for key, group in members.items():
        node = group[0] if len(group) == 1 else _module_node(group, depth, read_outside)
        forward = _forward_link(group, home)
        nodes.append(msgspec.structs.replace(node, id=_id(places[key]), forward=forward))
    collapsed = msgspec.structs.replace(graph, nodes=tuple(nodes), edges=_edges(graph.edges, home))
    return collapsed, {node: _id(place) for node, place in home.items()}


def _id(place: int) -> str:
    return f"n{place}"


def _keys(graph: GradGraph, depth: int) -> dict[str, Key]:
    """The key of every node; nodes with equal keys are to be merged."""
    modules = modules_of(graph)
    keys: dict[str, Key] = {}
    for node in graph.nodes:
        module = modules[node.id]
        is_outside = depth > 0 and not module
        if is_outside or _stays_in_sight(node):
            keys[node.id] = (node.id,)
        else:
            keys[node.id] = (node.phase, node.body, module_path(module, depth))
    return keys


def _stays_in_sight(node: Node) -> bool:
    is_seed = node.kind == "constant" and node.phase == "backward"
    return node.kind in ENDS or is_seed


def _split_cycles(graph: GradGraph, keys: dict[str, Key]) -> dict[str, Key]:
    """The keys, with those that lie on a cycle of merged nodes split.

    Merged nodes on one cycle are split by how often a path to the node has changed its key: this
    number never falls along an edge, so no path comes back to where it was.
    """
    knots = _knots(keys, graph.edges)
    if not knots:
        return keys
    inside: list[Link] = []
    for edge in graph.edges:
        knot = knots.get(keys[edge.origin])
        if knot is not None and knot == knots.get(keys[edge.target]):
            inside.append((edge.origin, edge.target))
    changes = dict.fromkeys(keys, 0)
    for origin, target in in_order(keys, inside):
        changes_key = keys[origin] != keys[target]
        changes[target] = max(changes[target], changes[origin] + changes_key)

    split: dict[str, Key] = {}
    for node, key in keys.items():
        split[node] = (*key, changes[node]) if key in knots else key
    return split


def _knots(keys: Mapping[str, Key], edges: Sequence[Edge]) -> dict[Key, int]:
    """The keys that lie on a cycle, each with the number of the knot of cycles that it is part of."""
    # Imported here because it takes a third of a second, and few drawings are collapsed.
    from networkx import DiGraph, strongly_connected_components

    merged = DiGraph()
    merged.add_nodes_from(keys.values())
    # Each edge once: between two large modules there may be thousands.
    merged.add_edges_from({(keys[edge.origin], keys[edge.target]): None for edge in edges})
    knots: dict[Key, int] = {}
    for number, component in enumerate(strongly_connected_components(merged)):
        if len(component) > 1:
            knots.update(dict.fromkeys(component, number))
    return knots


def _module_node(group: Sequence[Node], depth: int, read_outside: set[str]) -> Node:
    """The node that stands for several, with the id of the first.

    Its outputs are those of the last node that is read outside.
    """
    first = group[0]
    scopes = [node.scope for node in group if node.scope]
    scope = module_path(scopes[0], depth) if scopes else ""
    whole_phase = "net" if first.phase == "forward" else "net, backward"
    # The others' outputs are used up inside the module.
    leaving = [node for node in group if node.id in read_outside]
    last = leaving[-1] if leaving else group[-1]
    return Node(
        id=first.id,
        op=scope or whole_phase,
        kind="call",
        phase=first.phase,
        scope=scope,
        source=first.source,
        order=min(node.order for node in group),
        outputs=last.outputs,
        body=first.body,
        saved_bytes=sum(node.saved_bytes for node in group),
    )


def _forward_link(group: Sequence[Node], home: Mapping[str, int]) -> str | None:
    """The merged node that most nodes of a group derive from, the earliest of equals."""
    votes: Counter[int] = Counter()
    for node in group:
        if node.forward is not None and node.forward in home:
            votes[home[node.forward]] += 1
    if not votes:
        return None
    return _id(min(votes, key=lambda place: (-votes[place], place)))


def _edges(edges: Sequence[Edge], home: Mapping[str, int]) -> tuple[Edge, ...]:
    """The edges between different merged nodes, each once; a node that stands for several has one
    slot.
    """
    # Slots are numbered for one node; those of several nodes would be mistaken for each other.
    sizes = Counter(home.values())
    kept: dict[Edge, None] = {}
    for edge in edges:
        origin, target = home[edge.origin], home[edge.target]
        if origin != target:
            output = edge.output if sizes[origin] == 1 else 0
            slot = edge.input if sizes[target] == 1 else 0
            kept[Edge(_id(origin), _id(target), output, slot, edge.kind)] = None
    return tuple(kept)
