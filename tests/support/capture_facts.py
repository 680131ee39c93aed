"""What must be true of every captured graph, whatever it was captured from: one line a violation."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from explorer.model.graph import GradGraph, Node, is_users
from tests.support.net_classes import NETS

DERIVATIVE = re.compile(
    r"^(?:aten\.)?(?P<op>\w+?)(?:_?(?:[Bb]ackward|[Gg]rad)(?:Ext|V\d+)?)(?:\.\w+)?$"
)
"""The name of an operator that computes the gradient of another one: "ReluGrad"."""

ALIASES = {"threshold": "relu", "relu_": "relu"}
"""Operators whose gradient is called by another name than their own."""

UNANNOUNCED = frozenset({"expanddims", "stridedslice", "transpose"})
"""Views, which MindSpore's tape does not always announce (2.10.0)."""


def plain(op: str) -> str:
    """An operator's name without what differs between the ways to call it."""
    name = re.sub(r"^aten\.", "", op).partition(".")[0]
    name = re.sub(r"^_+(native_|thnn_|fused_)?|^native_", "", name)
    name = re.sub(r"Ext$|View$|V\d$|WithArgmax|_with_indices|_functional|_legit", "", name)
    name = name.replace("_", "").lower()
    return ALIASES.get(name, name)


def foreign_links(graph: GradGraph) -> Iterator[str]:
    """The backward operators whose forward node is not the operator that their name names."""
    nodes = graph.by_id()
    for node in graph.nodes:
        derivative = DERIVATIVE.match(node.op)
        if node.phase != "backward" or node.kind != "op" or not derivative or not node.forward:
            continue
        forward = nodes[node.forward]
        family = plain(derivative["op"])
        name = plain(forward.op)
        if family not in name and name not in family:
            yield f"{node.id} {node.op} derives from {forward.id} {forward.op}"


def backward_links(graph: GradGraph) -> Iterator[str]:
    """The forward links that lead to no forward node, or to an output."""
    nodes = graph.by_id()
    for node in graph.nodes:
        if node.forward is None:
            continue
        forward = nodes[node.forward]
        if forward.phase != "forward" or forward.kind == "output":
            yield f"{node.id} {node.op} derives from {forward.id} {forward.op} ({forward.kind})"


def foreign_sums(graph: GradGraph) -> Iterator[str]:
    """The sums of gradients that are said to be of a node which none of their readers derives from.

    A sum is the gradient of a forward node, of which the gradient of that node's operator is
    computed. An operator that hands its gradient on as it is has none of its own: then it is that of
    what the operator reads.
    """
    nodes = graph.by_id()
    feeders: dict[str, list[str]] = {}
    readers: dict[str, set[str]] = {}
    for edge in graph.edges:
        feeders.setdefault(edge.target, []).append(edge.origin)
        reader = nodes[edge.target]
        if reader.kind == "op" and reader.phase == "backward" and reader.forward:
            readers.setdefault(edge.origin, set()).add(reader.forward)
    differentiated = set().union(*readers.values())
    for node in graph.nodes:
        if node.kind != "accumulate" or not node.forward or node.id not in readers:
            continue
        near = [node.forward]
        for origin in near:
            if origin not in differentiated:
                near += [feeder for feeder in feeders.get(origin, ()) if feeder not in near]
        if readers[node.id].isdisjoint(near):
            derived = ", ".join(sorted(readers[node.id]))
            yield f"{node.id} {node.op} is of {node.forward}, its readers derive from {derived}"


def outside_lines(graph: GradGraph, file: Path) -> Iterator[str]:
    """The lines that do not lie in the net of the graph's framework."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    framework = graph.engine.partition("-")[0]
    (own,) = (
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == NETS[framework]
    )
    other = next(
        (
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name in NETS.values() and node is not own
        ),
        own,
    )
    for node in graph.nodes:
        for line in filter(is_users, node.source):
            name, _, number = line.rpartition(":")
            inside_other = other is not own and other.lineno <= int(number) <= (
                other.end_lineno or 0
            )
            if name == file.name and inside_other:
                yield f"{node.id} {node.op} is at {line}, in the other framework's net"


def computed_constants(graph: GradGraph) -> Iterator[str]:
    """The constants of backward that hold several different numbers: gradients, not constants."""
    for node in graph.nodes:
        if node.kind == "constant" and node.phase == "backward" and node.name != "seed":
            values = node.outputs[0].values
            is_float = node.outputs[0].dtype.startswith("float")
            if values is not None and is_float and values.minimum != values.maximum:
                yield f"{node.id} {node.op} of shape {node.outputs[0].shape}"


def work(graph: GradGraph) -> Iterator[Node]:
    """The operators of forward in the main graph."""
    for node in graph.nodes:
        if node.kind == "op" and node.phase == "forward" and not node.body:
            yield node


def places(graph: GradGraph) -> Counter[tuple[str, str, tuple[str, ...]]]:
    """How many operators of forward are of each name, module and user's lines."""
    counted: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    for node in work(graph):
        lines = tuple(filter(is_users, node.source))
        counted[plain(node.op), node.scope, lines] += 1
    return counted


def strange_places(graph: GradGraph, tape: GradGraph) -> Iterator[str]:
    """Where a compiled graph has more operators of one name than the tape has there.

    An operator whose name the tape does not have at all is the compiler's own.
    """
    on_tape = places(tape)
    names = {name for name, _, _ in on_tape}
    for (name, scope, lines), count in places(graph).items():
        if name in names - UNANNOUNCED and count > on_tape[name, scope, lines]:
            yield f"{count} {name} in {scope or 'no module'} at {lines}"
