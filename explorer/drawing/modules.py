"""The module of the net that each node of a graph belongs to."""

from collections import defaultdict
from typing import Final

from explorer.drawing.label_text import printable
from explorer.model.graph import GradGraph, Node

PART_DOT: Final = "\ufffe"
"""Replaces a dot within one part of a module path; XML forbids it, so no other text contains it."""


def modules_of(graph: GradGraph) -> dict[str, str]:
    """The module path of every node, "" where there is none; keyed by id.

    A backward node without a path of its own belongs to the module of its forward node.
    """
    scopes = {node.id: node.scope for node in graph.nodes}
    return {node.id: node.scope or scopes.get(node.forward or "", "") for node in graph.nodes}


def module_path(scope: str, depth: int) -> str:
    """The first ``depth`` parts of a module path: ``block.conv`` of ``block.conv.pad`` for 2."""
    return ".".join(scope.split(".")[:depth])


def module_names(graph: GradGraph) -> frozenset[str]:
    """The paths of all modules of a graph, those around others too."""
    names = set()
    for path in modules_of(graph).values():
        while path:
            names.add(path)
            path = path.rpartition(".")[0]
    return frozenset(names)


def group_paths(graph: GradGraph) -> dict[str, str]:
    """The path of every node's group: its subgraph, if it is in one, then its module; keyed by id.

    A constant without a module belongs to that of its readers, if all are in one.
    """
    modules = modules_of(graph)
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        readers[edge.origin].add(modules[edge.target])

    paths = {}
    for node in graph.nodes:
        module = modules[node.id]
        if _stands_outside_modules(node):
            module = ""
        elif _is_merged_module(node):
            # Its box says what module it is; a group around that box alone would repeat it.
            module = module.rpartition(".")[0]
        elif node.kind == "constant" and not module and len(readers[node.id]) == 1:
            (module,) = readers[node.id]
        # The condition of a branch is source code, whose dots do not separate modules.
        body = printable(node.body).replace(".", PART_DOT)
        parts = [part for part in (body, printable(module)) if part]
        paths[node.id] = ".".join(parts)
    return paths


def _is_merged_module(node: Node) -> bool:
    return node.kind == "call" and bool(node.scope) and node.op == node.scope


def _stands_outside_modules(node: Node) -> bool:
    """Whether a node enters or leaves the whole net, whichever module reads or makes it."""
    is_seed = node.kind == "constant" and node.name == "seed"
    return node.kind == "output" or is_seed
