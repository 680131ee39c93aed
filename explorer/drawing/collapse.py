"""Merges the nodes of each module into one node, forward and backward apart, making no cycle."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Final

import msgspec

from explorer.drawing.links import Link, in_order
from explorer.drawing.modules import module_path, modules_of
from explorer.model.errors import UsageError
from explorer.model.graph import Edge, GradGraph, Node

NEVER_MERGED: Final = frozenset({"input", "parameter", "output"})
"""Kinds of the nodes that are kept: inputs and parameters, outputs and gradients."""

Key = tuple[Hashable, ...]
"""What merged nodes have in common: phase, subgraph, module; or the id of a node that is kept."""


def collapse(graph: GradGraph, depth: int) -> GradGraph:
    """The graph with the nodes of each module merged into one "call" node.

    A module is named by ``depth`` parts of its path; depth 0 merges each phase whole. Forward and
    backward are merged apart. A module whose merging would make a cycle is split where it must be.
    Linear in nodes and edges. Raises UsageError for a negative depth.
    """
    return collapse_with_ids(graph, depth)[0]


def collapse_with_ids(graph: GradGraph, depth: int) -> tuple[GradGraph, dict[str, str]]:
    """The collapsed graph, and the new id by the old one for every node of the given graph.

    Raises UsageError for a negative depth.
    """
    if depth < 0:
        raise UsageError(
            f"depth is {depth}: it counts the parts of a module path that stay apart, 0 or more"
        )
    keys = _split_cycles(graph, _keys(graph, depth))
    members_by_key: defaultdict[Key, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        members_by_key[keys[node.id]].append(node)
    # A merged node is numbered by the first of its members: ids stay in traversal order.
    numbers = {key: number for number, key in enumerate(members_by_key)}
    merged = {node.id: numbers[keys[node.id]] for node in graph.nodes}

    read_outside = set()
    for edge in graph.edges:
        if merged[edge.origin] != merged[edge.target]:
            read_outside.add(edge.origin)
    nodes = []
    for key, members in members_by_key.items():
        node = members[0] if len(members) == 1 else _module_node(members, depth, read_outside)
        forward = _forward_link(members, merged)
        nodes.append(msgspec.structs.replace(node, id=_id(numbers[key]), forward=forward))
    edges = _edges(graph.edges, merged)
    collapsed = msgspec.structs.replace(graph, nodes=tuple(nodes), edges=edges)
    return collapsed, {node: _id(number) for node, number in merged.items()}


def _id(number: int) -> str:
    return f"n{number}"


def _keys(graph: GradGraph, depth: int) -> dict[str, Key]:
    """The key of every node; nodes with equal keys are to be merged."""
    modules = modules_of(graph)
    keys: dict[str, Key] = {}
    for node in graph.nodes:
        module = modules[node.id]
        is_outside = depth > 0 and not module
        if is_outside or _is_kept(node):
            keys[node.id] = (node.id,)
        else:
            keys[node.id] = (node.phase, node.body, module_path(module, depth))
    return keys


def _is_kept(node: Node) -> bool:
    is_seed = node.kind == "constant" and node.phase == "backward"
    return node.kind in NEVER_MERGED or is_seed


def _split_cycles(graph: GradGraph, keys: dict[str, Key]) -> dict[str, Key]:
    """The keys, with those on a cycle of merged nodes split.

    Merged nodes on one cycle are split by how often a path to the node has changed its key: this
    number never falls along an edge, so no path comes back to a merged node that it has left.
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
    """The keys on cycles, each with the number of its knot: its strongly connected component."""
    # Imported here because it takes a third of a second, and few drawings are collapsed.
    from networkx import DiGraph, strongly_connected_components

    key_graph = DiGraph()
    key_graph.add_nodes_from(keys.values())
    # Each edge once: between two large modules there may be thousands.
    key_graph.add_edges_from({(keys[edge.origin], keys[edge.target]): None for edge in edges})
    knots: dict[Key, int] = {}
    for number, component in enumerate(strongly_connected_components(key_graph)):
        if len(component) > 1:
            knots.update(dict.fromkeys(component, number))
    return knots


def _module_node(members: Sequence[Node], depth: int, read_outside: set[str]) -> Node:
    """The node that several are merged into, with the id of the first.

    Its outputs are those of the last of its ``members`` that is read outside.
    """
    first = members[0]
    scopes = [node.scope for node in members if node.scope]
    scope = module_path(scopes[0], depth) if scopes else ""
    whole_phase = "net" if first.phase == "forward" else "net, backward"
    # The outputs of the others do not leave the module.
    leaving = [node for node in members if node.id in read_outside]
    last = leaving[-1] if leaving else members[-1]
    return Node(
        id=first.id,
        op=scope or whole_phase,
        kind="call",
        phase=first.phase,
        scope=scope,
        source=first.source,
        order=min(node.order for node in members),
        outputs=last.outputs,
        body=first.body,
        saved_bytes=sum(node.saved_bytes for node in members),
    )


def _forward_link(members: Sequence[Node], merged: Mapping[str, int]) -> str | None:
    """The merged node that most of the members derive from, the earliest of equals."""
    votes: Counter[int] = Counter()
    for node in members:
        if node.forward is not None and node.forward in merged:
            votes[merged[node.forward]] += 1
    if not votes:
        return None
    return _id(min(votes, key=lambda number: (-votes[number], number)))


def _edges(edges: Sequence[Edge], merged: Mapping[str, int]) -> tuple[Edge, ...]:
    """The edges between different merged nodes, each once.

    All edges of a node that several were merged into have slot 0.
    """
    # Slots are numbered for one node; those of several nodes would be mistaken for each other.
    sizes = Counter(merged.values())
    kept: dict[Edge, None] = {}
    for edge in edges:
        origin, target = merged[edge.origin], merged[edge.target]
        if origin != target:
            output = edge.output if sizes[origin] == 1 else 0
            slot = edge.input if sizes[target] == 1 else 0
            kept[Edge(_id(origin), _id(target), output, slot, edge.kind)] = None
    return tuple(kept)
