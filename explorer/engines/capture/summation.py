"""Sums of gradients, which no line of a net asks for: each takes its lines from the gradients that
it adds.
"""

import msgspec

from explorer.model.graph import GradGraph, Node


def sourced(graph: GradGraph) -> GradGraph:
    """The same graph, in which every accumulation without a source has those of its addends, first
    addend first.
    """
    bare = [node for node in graph.nodes if node.kind == "accumulate" and not node.source]
    if not bare:
        return graph
    addends: dict[str, list[str]] = {}
    for edge in graph.edges:
        addends.setdefault(edge.target, []).append(edge.origin)
    made = graph.by_id()
    for node in sorted(bare, key=lambda node: node.order):
        lines = dict.fromkeys(
            line for origin in addends.get(node.id, ()) for line in made[origin].source[:1]
        )
        if lines:
            made[node.id] = _with_source(node, tuple(lines))
    return msgspec.structs.replace(graph, nodes=tuple(made.values()))


def _with_source(node: Node, lines: tuple[str, ...]) -> Node:
    missing = {key: why for key, why in node.missing.items() if key != "source"}
    return msgspec.structs.replace(node, source=lines, missing=missing)
