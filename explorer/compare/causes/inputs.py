"""Other inputs of an op: their order, another value, a factor, a cast, another layout, other leaves."""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from explorer.compare.causes.rows import Ends, base_of
from explorer.compare.graphs.layouts import channels_last
from explorer.compare.graphs.sameness import EXPLAINED, distance, numbers_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.arrays import Array, pack, unpack
from explorer.model.causes import (
    Edits,
    Factor,
    FromNode,
    FromSlot,
    FromThere,
    Inserted,
    InsertOperator,
    Rewire,
)
from explorer.model.divergence import Place
from explorer.model.graph import Node, Output
from explorer.operators.families import family

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


def input_edits(flow: GraphView, node: Node) -> Iterator[Edits]:
    """Edits of the tensors that an op reads, of one or of two that are exchanged."""
    slots = flow.tensors(node)
    for one, other in combinations(slots, 2):
        if slots[one].shape == slots[other].shape:
            yield exchanged(node, one, other)
    for slot, own in slots.items():
        yield from _other_values(flow, node, slot, own)
    floats = tuple(slot for slot, output in slots.items() if output.dtype == "float32")
    if not floats:
        return
    for dtype in HALVES:
        yield (InsertOperator(node=node.id, op="cast", slots=floats, name=dtype),)
    if family(node.op) not in LINEAR:
        for number in _factors(slots[floats[0]]):
            factor = Factor(number)
            yield (InsertOperator(node=node.id, op="mul", slots=floats[:1], factor=factor),)
    for slot in floats:
        yield from elsewhere(node, slot, slots[slot].shape)


def exchanged(node: Node, one: int, other: int) -> Edits:
    """Two inputs of an op in the place of each other."""
    return (
        Rewire(node=node.id, slots=(one,), source=FromSlot(other)),
        Rewire(node=node.id, slots=(other,), source=FromSlot(one)),
    )


def elsewhere(node: Node, slot: int, shape: tuple[int, ...]) -> Iterator[Edits]:
    """A tensor with its elements elsewhere; a kernel may be turned along all its windows."""

    def inserted(op: Inserted, *numbers: int) -> Edits:
        return (InsertOperator(node=node.id, op=op, slots=(slot,), numbers=numbers),)

    rank = len(shape)
    if rank >= 2:
        yield inserted("swap_axes", -2, -1)
    for axis in range(rank):
        yield inserted("flip", axis)
        # Along an axis of two, a step either way is the reverse.
        for steps in (1, -1) if shape[axis] != 2 else ():
            yield inserted("roll", axis, steps)
    if rank > 3:
        for axes in (range(2, rank), range(rank - 2)):
            yield inserted("flip", *axes)


def _other_values(flow: GraphView, node: Node, slot: int, own: Output) -> Iterator[Edits]:
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
                found.append(FromNode(other.id, output, label_of(other, output)))
    for source in found[:MOST_REPLACEMENTS]:
        yield (Rewire(node=node.id, slots=(slot,), source=source),)


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


# The leaves and constants of the other side

CUT = MOVES | {"slice", "cast", "identity"}
"""Families of ops with which a part of a constant is read."""

KEPT = MOVES | {"identity", "flip"}
"""Families of ops between a leaf and what reads it."""


def of_other_leaves(here: GraphView, node: Node, there: GraphView, row: list[Node]) -> Edits:
    """The leaves that ``row`` reads instead of those of a node, which both graphs have, all at once.

    () where it reads the same ones, or where some have no counterpart: a weight is put in the place
    of a weight, a bias in that of a bias.
    """
    own = leaves_of(here, [node])
    others = {name for name in leaves_of(there, row).values() if name not in own.values()}
    edits: list[Rewire] = []
    for slot, name in own.items():
        # "weight" of "cell.weight"
        last = name.rpartition(".")[2]
        named_alike = [other for other in others if other.rpartition(".")[2] == last]
        if len(named_alike) == 1:
            edits += _read_instead(here, node, slot, named_alike[0])
    return tuple(edits) if len(edits) == len(others) else ()


def other_constants(here: GraphView, node: Node, there: GraphView, other: Node) -> list[Rewire]:
    """The constants and leaves that an op of the other side reads as inputs, one in the place of one.

    Those in the same places, where both are whole, as large, and not the same.
    """
    if family(node.op) != family(other.op):
        return []
    own, others = _given_to(here, node), _given_to(there, other)
    edits = []
    for slot in own.keys() & others.keys():
        (_, mine), (read, value) = own[slot], others[slot]
        if mine != value and math.prod(mine.shape) == math.prod(value.shape) > 1:
            source = FromThere(_name(there, read), value)
            edits.append(Rewire(node=node.id, slots=(slot,), source=source))
    return edits


def _given_to(flow: GraphView, node: Node) -> dict[int, tuple[Node, Array]]:
    """What an op reads as constants and leaves, which may be cut on the way, by the place among all."""
    found = {}
    for edge in flow.into(node):
        read = flow.nodes[edge.origin]
        summary = read.outputs[edge.output].values if edge.output < len(read.outputs) else None
        is_given = base_of(flow, read, CUT).kind in ("constant", "parameter")
        if is_given and summary is not None and summary.whole is not None:
            found[edge.input] = read, summary.whole
    return found


def _name(flow: GraphView, node: Node) -> str:
    """The name of a leaf, or a constant with the line that reads it."""
    if node.kind == "parameter" and node.name:
        return node.name
    for edge in flow.out_of(node):
        source = flow.nodes[edge.target].source
        if source:
            return f"{node.op} ({source[0]})"
    return label_of(node)


def leaves_of(flow: GraphView, row: list[Node]) -> dict[int, str]:
    """The names of the parameters that ops read, by the place among the inputs; those of a row counted on."""
    names = {}
    for place, node in enumerate(row):
        for edge in flow.into(node):
            leaf = base_of(flow, flow.nodes[edge.origin], KEPT)
            if leaf.kind == "parameter":
                names[100 * place + edge.input] = leaf.name
    return names


def later_place(here: GraphView, node: Node, there: GraphView, other: Node) -> Place | None:
    """Where the other side computes, behind an op, with a parameter that a node reads; None if nowhere."""
    names = set(leaves_of(here, [node]).values())
    behind = there.behind(other.id) - {other.id} if names else set()
    of_leaf: dict[str, str] = {}
    for leaf in there.graph.nodes:
        if leaf.kind == "parameter" and leaf.name in names:
            of_leaf.update(dict.fromkeys(there.behind(leaf.id) & behind, leaf.name))
    for later in there.graph.nodes:
        if later.id in of_leaf and later.kind == "op" and later.phase == other.phase:
            return Place(label=of_leaf[later.id], source=next(iter(later.source), ""))
    return None


def _read_instead(flow: GraphView, node: Node, slot: int, name: str) -> list[Rewire]:
    """What is made of the leaf of a name as the input of an op is made of its own; [] if nothing is."""
    (read,) = [edge for edge in flow.into(node) if edge.input == slot]
    maker = flow.nodes[read.origin]
    for other in flow.graph.nodes:
        is_alike = (other.op, other.kind) == (maker.op, maker.kind) and other.outputs
        if not is_alike or other.outputs[0].shape != maker.outputs[0].shape:
            continue
        leaf = base_of(flow, other, KEPT)
        is_leaf = leaf.kind == "parameter" and leaf.name == name
        if is_leaf and other.phase == maker.phase:
            return [Rewire(node=node.id, slots=(slot,), source=FromNode(other.id, label=name))]
    return []


# Inputs that pass as equal

CLOSE = 1e-4
"""Values that differ by at most this part of the greatest element pass as equal."""


def inputs_of_there(ends: Ends, target: Output) -> tuple[Rewire, ...]:
    """The other side's values of an op's inputs, where what these differ by may hide an explanation.

    Ops ahead may differ as well, by less than is told: then the op alone does not give the other
    side's value from its own inputs, whatever is changed. () where the inputs are the same.
    """
    (node,) = ends.own_row
    if not node.outputs:
        return ()
    difference = distance(node.outputs[0], target)
    if difference is None:
        return ()
    members = {it.id for it in ends.row}
    reads = [read for it in ends.row for read in ends.there.origins(it)]
    read_there = [read for read in reads if read.id not in members and read.kind == "op"]
    edits = []
    for slot, own in ends.here.tensors(node).items():
        nearest = _nearest(own, read_there)
        if nearest is None:
            continue
        other, apart = nearest
        summary = other.outputs[0].values
        if apart > EXPLAINED * difference and summary is not None and summary.whole is not None:
            value = summary.whole
            if ends.here.reads_turned(node, slot):
                value = pack(channels_last(unpack(value)), value.dtype)
            source = FromThere(label_of(other), value)
            edits.append(Rewire(node=node.id, slots=(slot,), source=source))
    return tuple(edits)


def _nearest(own: Output, others: list[Node]) -> tuple[Node, float] | None:
    """The value of the other side that passes as equal to one, and how far they are apart."""
    numbers = numbers_of(own)
    if numbers is None or not numbers.size or own.dtype[:5] != "float":
        return None
    found: list[tuple[float, Node]] = []
    for other in others:
        theirs = numbers_of(other.outputs[0]) if other.outputs else None
        if theirs is None or theirs.size != numbers.size:
            continue
        apart = float(np.abs(theirs.ravel() - numbers.ravel()).max())
        if apart <= CLOSE * float(np.abs(numbers).max()):
            found.append((apart, other))
    if not found:
        return None
    apart, nearest = min(found, key=lambda it: it[0])
    return nearest, apart
