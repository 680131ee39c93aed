"""What is tried with the inputs of an op: their order, another value, a factor, a cast, another layout."""

import math
from collections.abc import Iterator
from itertools import combinations

from explorer.model.causes import InputChange
from explorer.model.families import family
from explorer.model.graph import GradGraph, Node, Output

MOST_REPLACEMENTS = 12
"""So many other values are tried in the place of an input."""

PLAIN_FACTORS = (2.0, 0.5, -1.0, 10.0, 0.1, 100.0, 0.01)
"""Factors that are tried besides those of the sizes."""

LINEAR = frozenset(
    {
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "matmul",
        "conv",
        "sum",
        "mean",
        "reshape",
        "transpose",
        "dense",
    }
)
"""Families of ops of which a changed input shows in the value just as well."""

HALVES = ("float16", "bfloat16")


def input_changes(graph: GradGraph, node: Node) -> Iterator[InputChange]:
    """Changes of the tensors that an op reads, one at a time."""
    slots = _slots(graph, node)
    yield from _swapped(slots)
    for slot in slots:
        yield from _replaced(graph, node, slot, slots[slot])
    floats = tuple(slot for slot, output in slots.items() if output.dtype == "float32")
    if not floats:
        return
    for dtype in HALVES:
        yield InputChange(floats, "rounded", dtype=dtype)
    first = slots[floats[0]]
    if family(node.op) not in LINEAR:
        for factor in _factors(first):
            yield InputChange(floats[:1], "scaled", (factor,))
    rank = len(first.shape)
    if rank >= 2:
        for slot in floats:
            yield InputChange((slot,), "transposed", (-2, -1))
    for axis in range(rank):
        yield InputChange(floats[:1], "reversed", (axis,))


def _slots(graph: GradGraph, node: Node) -> dict[int, Output]:
    """The tensors that an op reads, by their place among them."""
    nodes = graph.by_id()
    slots = {}
    for edge in graph.edges:
        if edge.target == node.id and edge.kind != "control":
            outputs = nodes[edge.origin].outputs
            if edge.output < len(outputs):
                slots[edge.input] = outputs[edge.output]
    return dict(sorted(slots.items()))


def _swapped(slots: dict[int, Output]) -> Iterator[InputChange]:
    for one, other in combinations(slots, 2):
        if slots[one].shape == slots[other].shape:
            yield InputChange((one, other), "swapped")


def _replaced(graph: GradGraph, node: Node, slot: int, own: Output) -> Iterator[InputChange]:
    """Values that were made as the input was: another part of the same tensor."""
    nodes = graph.by_id()
    read = next((it for it in graph.edges if it.target == node.id and it.input == slot), None)
    if read is None:
        return
    maker = nodes[read.origin]
    origins = {edge.origin for edge in graph.edges if edge.target == maker.id}
    siblings = [maker.id]
    for edge in graph.edges:
        is_like = nodes[edge.target].op == maker.op and nodes[edge.target].phase == maker.phase
        if edge.origin in origins and is_like and edge.target not in siblings:
            siblings.append(edge.target)
    count = 0
    for sibling in siblings:
        for output, made in enumerate(nodes[sibling].outputs):
            is_other = (sibling, output) != (read.origin, read.output)
            if is_other and made.shape == own.shape and count < MOST_REPLACEMENTS:
                count += 1
                label = label_of(nodes[sibling], output)
                yield InputChange((slot,), "replaced", node=sibling, output=output, label=label)


def label_of(node: Node, output: int = 0) -> str:
    """A node's name, or its op and line; which of several outputs, from 1."""
    if node.name:
        return node.name
    number = f", output {output + 1}" if len(node.outputs) > 1 else ""
    return f"{node.op} ({node.source[0] if node.source else node.id}{number})"


def _factors(output: Output) -> Iterator[float]:
    """Factors that are something of the size of a value."""
    seen = set()
    sizes = {length for length in output.shape if length > 1}
    for size in sorted(sizes):
        for factor in (math.sqrt(size), 1 / math.sqrt(size), float(size), 1 / size):
            if factor not in seen:
                seen.add(factor)
                yield factor
    yield from PLAIN_FACTORS
