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
    slots = tensors_read(graph, node)
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
    for slot in floats:
        for axis in range(len(slots[slot].shape)):
            yield InputChange((slot,), "reversed", (axis,))
            for steps in (1, -1):
                yield InputChange((slot,), "rolled", (axis, steps))


def tensors_read(graph: GradGraph, node: Node) -> dict[int, Output]:
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
    """Other values of the shape of an input: what was made as it was, then the nearest ones."""
    nodes = graph.by_id()
    read = next((it for it in graph.edges if it.target == node.id and it.input == slot), None)
    if read is None:
        return
    maker = nodes[read.origin]
    places = {it.id: place for place, it in enumerate(graph.nodes)}
    behind = _behind(graph, node)
    others = [it for it in graph.nodes if it.kind != "output" and it.id not in behind]
    others.sort(key=lambda it: (it.op != maker.op, abs(places[it.id] - places[node.id])))
    count = 0
    for other in others:
        for output, made in enumerate(other.outputs):
            is_other = (other.id, output) != (read.origin, read.output)
            is_alike = made.shape == own.shape and made.dtype == own.dtype
            if is_other and is_alike and count < MOST_REPLACEMENTS:
                count += 1
                label = label_of(other, output)
                yield InputChange((slot,), "replaced", node=other.id, output=output, label=label)


def _behind(graph: GradGraph, node: Node) -> set[str]:
    """An op and all that is computed from it."""
    readers: dict[str, list[str]] = {}
    for edge in graph.edges:
        readers.setdefault(edge.origin, []).append(edge.target)
    behind, waiting = {node.id}, [node.id]
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in behind:
                behind.add(reader)
                waiting.append(reader)
    return behind


def label_of(node: Node, output: int = 0) -> str:
    """A node's name, or its op and line; which of several outputs, from 1."""
    if node.name:
        return node.name
    number = f", output {output + 1}" if len(node.outputs) > 1 else ""
    return op_label(node, number)


def op_label(node: Node, number: str = "") -> str:
    """An op and its line."""
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
