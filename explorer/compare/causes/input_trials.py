"""What is tried with the inputs of an op: their order, another value, a factor, a cast, another layout."""

import math
from collections.abc import Iterator
from itertools import combinations

from explorer.compare.graphs.view import GraphView
from explorer.model.causes import InputChange
from explorer.model.families import family
from explorer.model.graph import Node, Output

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


def input_changes(flow: GraphView, node: Node) -> Iterator[InputChange]:
    """Changes of the tensors that an op reads, one at a time."""
    slots = flow.tensors(node)
    yield from _swapped(slots)
    for slot, own in slots.items():
        yield from _replaced(flow, node, slot, own)
    floats = tuple(slot for slot, output in slots.items() if output.dtype == "float32")
    if not floats:
        return
    for dtype in HALVES:
        yield InputChange(floats, "rounded", dtype=dtype)
    if family(node.op) not in LINEAR:
        for factor in _factors(slots[floats[0]]):
            yield InputChange(floats[:1], "scaled", (factor,))
    for slot in floats:
        yield from rearranged(slot, slots[slot].shape)


def rearranged(slot: int, shape: tuple[int, ...]) -> Iterator[InputChange]:
    """A tensor with its elements elsewhere; a kernel may be turned along all its windows."""
    rank = len(shape)
    if rank >= 2:
        yield InputChange((slot,), "transposed", (-2, -1))
    for axis in range(rank):
        yield InputChange((slot,), "reversed", (axis,))
        # Along an axis of two, a step either way is the reverse.
        for steps in (1, -1) if shape[axis] != 2 else ():
            yield InputChange((slot,), "rolled", (axis, steps))
    if rank > 3:
        for axes in (range(2, rank), range(rank - 2)):
            yield InputChange((slot,), "reversed", tuple(axes))


def _swapped(slots: dict[int, Output]) -> Iterator[InputChange]:
    for one, other in combinations(slots, 2):
        if slots[one].shape == slots[other].shape:
            yield InputChange((one, other), "swapped")


def _replaced(flow: GraphView, node: Node, slot: int, own: Output) -> Iterator[InputChange]:
    """Other values of the shape of an input: what was made as it was, then the nearest ones."""
    (read,) = [edge for edge in flow.into(node) if edge.input == slot][:1]
    maker, behind = flow.nodes[read.origin], flow.behind(node.id)
    places = {it.id: place for place, it in enumerate(flow.graph.nodes)}
    others = [it for it in flow.graph.nodes if it.kind != "output" and it.id not in behind]
    others.sort(key=lambda it: (it.op != maker.op, abs(places[it.id] - places[node.id])))
    found = []
    for other in others:
        for output, made in enumerate(other.outputs):
            is_other = (other.id, output) != (read.origin, read.output)
            if is_other and (made.shape, made.dtype) == (own.shape, own.dtype):
                found.append((other, output))
    for other, output in found[:MOST_REPLACEMENTS]:
        label = label_of(other, output)
        yield InputChange((slot,), "replaced", node=other.id, output=output, label=label)


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
