"""Sorts the nodes of a graph into modules, forward and backward apart, making no cycle."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

from explorer.drawing.folding import Folding
from explorer.drawing.links import Link, in_order, neighbours
from explorer.drawing.modules import module_path, modules_of
from explorer.model.graph import GradGraph, Node

NEVER_MERGED: Final = frozenset({"input", "parameter", "output"})
"""Kinds of the nodes that belong to no module: inputs and parameters, outputs and gradients."""

MOST_LOOSE: Final = 60
"""The most operators outside all modules that stay apart beside modules that are merged."""

Key = tuple[Hashable, ...]
"""What merged nodes have in common: phase, subgraph, module; or the id of a node that is kept."""

Homes = dict[str, str]
"""For every node's id that of the node which shows it in a picture: its own, or another's."""


def deepest(graph: GradGraph) -> int:
    """The most parts that a module path of a graph has; 0 without modules."""
    paths = modules_of(graph).values()
    return max((path.count(".") + 1 for path in paths if path), default=0)


def module_homes(graph: GradGraph, folding: Folding, homes: Homes) -> Homes:
    """The homes of all nodes once modules are merged; a module is shown at its first node.

    Operators outside all modules stay apart while there are few. Forward and backward are merged
    apart. A module whose merging would make a cycle is split where it must be. ``homes`` are those
    before. Linear in nodes and edges for each level of modules.
    """
    # The inner modules first: what is merged at one level stays together at the next. So a picture
    # of less depth never has more nodes, which merging the ops anew at each depth does not ensure.
    loose = _loose(graph)
    shown_as = {node: folding.module_of(path) for node, path in modules_of(graph).items()}
    for level in range(max(folding.least, deepest(graph)), folding.least - 1, -1):
        apart = {node for node, module in shown_as.items() if _is_deeper(module, level)}
        homes = _merged_at_level(graph, level, homes, loose | apart)
    return homes


def _loose(graph: GradGraph) -> set[str]:
    """The operators outside all modules, where they stay apart."""
    modules = modules_of(graph)
    outside = {node.id for node in graph.nodes if not modules[node.id] and not is_kept(node)}
    # In a net without modules there is nothing else to see.
    has_modules = any(modules.values())
    return set() if has_modules and len(outside) > MOST_LOOSE else outside


def _is_deeper(module: str | None, level: int) -> bool:
    """Whether the nodes of a module, None for none, are not merged yet at a level."""
    return module is None or (bool(module) and module.count(".") + 1 > level)


def _merged_at_level(graph: GradGraph, level: int, homes: Homes, apart: set[str]) -> Homes:
    return merged(graph, _keys(graph, level, set(homes.values()), apart), homes)


def merged(graph: GradGraph, keys: dict[str, Key], homes: Homes) -> Homes:
    """The homes once all nodes with equal keys are merged, split where that would make a cycle.

    ``keys`` are those of the nodes that were homes before.
    """
    links: dict[Link, None] = {}
    for edge in graph.edges:
        link = homes[edge.origin], homes[edge.target]
        if link[0] != link[1]:
            links[link] = None
    keys = _split_cycles(keys, list(links))
    firsts: dict[Key, str] = {}
    for node, key in keys.items():
        firsts.setdefault(key, node)
    return {node: firsts[keys[home]] for node, home in homes.items()}


def _keys(graph: GradGraph, depth: int, shown: set[str], apart: set[str]) -> dict[str, Key]:
    """The key of every node that is ``shown``; those with equal keys are to be merged.

    Those ``apart`` stay so, but for depth 0.
    """
    modules = modules_of(graph)
    keys: dict[str, Key] = {}
    for node in graph.nodes:
        if node.id not in shown:
            continue
        stays_apart = depth > 0 and node.id in apart
        if stays_apart or is_kept(node):
            keys[node.id] = (node.id,)
        else:
            keys[node.id] = (node.phase, node.body, module_path(modules[node.id], depth))
    return keys


def is_kept(node: Node) -> bool:
    """Whether a node enters or leaves the net, and is never merged with operators."""
    is_seed = node.kind == "constant" and node.phase == "backward"
    return node.kind in NEVER_MERGED or is_seed


def _split_cycles(keys: dict[str, Key], links: Sequence[Link]) -> dict[str, Key]:
    """The keys, with those on a cycle of merged nodes split.

    Merged nodes on one cycle are split by how often a path to the node has changed its key: this
    number never falls along an edge, so no path comes back to a merged node that it has left.
    """
    knots = _knots(keys, links)
    if not knots:
        return keys
    inside: list[Link] = []
    for origin, target in links:
        knot = knots.get(keys[origin])
        if knot is not None and knot == knots.get(keys[target]):
            inside.append((origin, target))
    changes = dict.fromkeys(keys, 0)
    for origin, target in in_order(keys, inside):
        changes_key = keys[origin] != keys[target]
        changes[target] = max(changes[target], changes[origin] + changes_key)

    _join_readers(changes, keys, inside)

    split: dict[str, Key] = {}
    for node, key in keys.items():
        split[node] = (*key, changes[node]) if key in knots else key
    return split


def _join_readers(changes: dict[str, int], keys: Mapping[str, Key], links: Sequence[Link]) -> None:
    """Move nodes that read nothing on a cycle to the part of their module that reads them.

    That is where a module transposes its weight.
    """
    before, after = neighbours(links)
    for node, readers in after.items():
        if not before[node]:
            earliest = min(changes[reader] - (keys[reader] != keys[node]) for reader in readers)
            changes[node] = max(changes[node], earliest)


def _knots(keys: Mapping[str, Key], links: Iterable[Link]) -> dict[Key, int]:
    """The keys on cycles, each with the number of its knot: its strongly connected component."""
    # Imported here because it takes a third of a second, and few drawings are collapsed.
    from networkx import DiGraph, strongly_connected_components

    key_graph = DiGraph()
    key_graph.add_nodes_from(keys.values())
    # Each edge once: between two large modules there may be thousands.
    key_graph.add_edges_from({(keys[origin], keys[target]): None for origin, target in links})
    knots: dict[Key, int] = {}
    for number, component in enumerate(strongly_connected_components(key_graph)):
        if len(component) > 1:
            knots.update(dict.fromkeys(component, number))
    return knots
