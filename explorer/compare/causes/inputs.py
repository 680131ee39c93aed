"""Other inputs of an op: their order, another value, a factor, a cast, another layout, other leaves."""

import math
from collections.abc import Iterator
from itertools import combinations, dropwhile, islice

import numpy as np

from explorer.compare.causes.arguments import Spot, set_arguments
from explorer.compare.causes.rows import KEPT, are_alike, base_of, is_filled, leaves_of
from explorer.compare.graphs.layouts import channels_last
from explorer.compare.graphs.sameness import EXPLAINED, are_equal, distance, numbers_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.arrays import pack, unpack
from explorer.model.causes import (
    Edit,
    Edits,
    Factor,
    FromNode,
    FromSlot,
    FromThere,
    Rewire,
    Zeros,
)
from explorer.model.graph import Node, Output, Slot
from explorer.numeric.differences import Floats
from explorer.operators.families import family
from explorer.operators.table import TRIED

MOST_REPLACEMENTS = 12
"""So many other values are tried in the place of an input."""

PLAIN_FACTORS = (2.0, 0.5, -1.0, 10.0, 0.1, 100.0, 0.01)
"""Factors that are tried besides those of the sizes."""

NEAR = 4
"""So many ops ahead of a value are looked at for what it is made of."""

MOST_EXCHANGED = 4
"""Of so many values that a row reads any two are exchanged."""

ADDENDS = ("other", "x", "y")
"""How a number is called that an op adds to what it reads, or subtracts from it."""

HANDED_ON = frozenset({"cast", "identity"})
"""Families of ops that hand the same numbers on."""

HALVES = ("float16", "bfloat16")

CLOSE = 1e-4
"""Values that differ by at most this part of the greatest element pass as equal."""

SPREAD = frozenset({"expand", "reshape", "cast", "identity"})
"""Families of ops that leave the numbers in their order."""


def label_of(node: Node, output: int = 0) -> str:
    """A node's name, or its op and line; which of several outputs, from 1."""
    number = f", output {output + 1}" if len(node.outputs) > 1 else ""
    return node.name or op_label(node, number)


def op_label(node: Node, number: str = "") -> str:
    """An op and its line."""
    return f"{node.op} ({node.source[0] if node.source else node.id}{number})"


# The values that an op reads, in another form


def swapped(spot: Spot) -> Iterator[Edits]:
    """Two inputs in the place of each other."""
    for one, second in combinations(spot.tensors, 2):
        # Tensors that are joined, and those that are spread, may be of other sizes.
        is_weight = family(spot.node.op) in TRIED.of_weights
        if not is_weight or spot.tensors[one].shape == spot.tensors[second].shape:
            yield spot.rewired(one, FromSlot(second)), spot.rewired(second, FromSlot(one))


def inverted(spot: Spot) -> Iterator[Edit]:
    """A mask of the opposite sense."""
    for slot, read in spot.tensors.items():
        if read.dtype == "bool":
            yield spot.inserted("not", slot)


def computed(spot: Spot) -> Iterator[Edit]:
    """All numbers that are read rounded, and the first tensor of them times a factor."""
    floats = spot.floats
    for dtype in HALVES if floats else ():
        yield spot.inserted("cast", *floats, name=dtype)
    # Beside a number that is added, a factor of what is read is none of the value.
    has_number = any(name in ADDENDS and value for name, value in spot.node.arguments.items())
    is_affine = has_number and family(spot.node.op) in ("add", "sub", "rsub")
    if floats and (is_affine or family(spot.node.op) not in TRIED.linear):
        # Factors that are something of the size of a value.
        sizes = sorted({length for length in spot.tensors[floats[0]].shape if length > 1})
        of_sizes = [(math.sqrt(it), 1 / math.sqrt(it), float(it), 1 / it) for it in sizes]
        factors = dict.fromkeys(number for numbers in of_sizes for number in numbers)
        for number in (*factors, *PLAIN_FACTORS):
            yield spot.inserted("mul", floats[0], factor=Factor(number))


def moved(spot: Spot) -> Iterator[Edit]:
    """Each tensor of numbers with its elements elsewhere."""
    for slot in spot.floats:
        yield from _elsewhere(spot, slot)


def in_other_shapes(spot: Spot) -> Iterator[Edits]:
    """All tensors of numbers that the other row reads in another shape, as it reads them."""
    edits: list[Edit] = []
    for slot in (it for it in spot.floats if not spot.here.reads_turned(spot.node, it)):
        shapes = _shapes_there(spot, slot)
        own = _without_ones(spot.tensors[slot].shape)
        if shapes and own not in map(_without_ones, shapes):
            edits.append(spot.inserted("reshape", slot, shape=shapes[0]))
    if edits:
        yield tuple(edits)


def _shapes_there(spot: Spot, slot: int) -> list[tuple[int, ...]]:
    """The shapes of a tensor among what the other row reads, before that is spread."""
    own, there = spot.tensors[slot], spot.ends.there
    found: list[tuple[int, ...]] = []
    for read in [it for other in spot.ends.row for it in there.origins(other)]:
        while read.outputs:
            if are_equal(own, read.outputs[0]):
                found.append(read.outputs[0].shape)
                break
            before = there.origins(read) if family(read.op) in SPREAD else []
            if len(before) != 1:
                break
            (read,) = before
    return found


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the leading axes of length 1, which broadcasting adds itself."""
    return tuple(dropwhile(lambda length: length == 1, shape))


def spread(spot: Spot) -> Iterator[Edit]:
    """Each of several tensors spread along another axis: two are exchanged, of which one has one element."""
    is_spread = len(spot.floats) > 1 and family(spot.node.op) not in TRIED.of_weights
    for slot in spot.floats if is_spread else ():
        shape = spot.tensors[slot].shape
        for axis in range(len(shape) - 2):
            if 1 in shape[axis : axis + 2]:
                yield spot.inserted("swap_axes", slot, numbers=(axis, axis + 1))


def moved_weights(spot: Spot) -> Iterator[Edit]:
    """A weight in another layout."""
    leaves = leaves_of(spot.here, [spot.node]) if family(spot.node.op) in TRIED.of_weights else ()
    for slot in spot.tensors:
        if slot in leaves:
            yield from _elsewhere(spot, slot)


def _elsewhere(spot: Spot, slot: int) -> Iterator[Edit]:
    """A tensor with its elements elsewhere; a kernel may be turned along all its windows."""
    shape = spot.tensors[slot].shape
    rank = len(shape)
    if rank >= 2:
        yield spot.inserted("swap_axes", slot, numbers=(-2, -1))
    for axis in range(rank):
        yield spot.inserted("flip", slot, numbers=(axis,))
        # Along an axis of two, a step either way is the reverse.
        for steps in (1, -1) if shape[axis] != 2 else ():
            yield spot.inserted("roll", slot, numbers=(axis, steps))
    for axes in (range(2, rank), range(rank - 2)) if rank > 3 else ():
        yield spot.inserted("flip", slot, numbers=tuple(axes))


# Other values of the graph


def replaced(spot: Spot) -> Iterator[Edit]:
    """Other values of the shape of an input: what was made as it was, then the nearest ones."""
    here, node, own, other = spot.here, spot.node, spot.ends.own_row[-1], spot.ends.row[-1]
    # Where the op behind is of the same kind, and none is there, it may be what the other side has.
    behind, behind_there = here.next_op(own), spot.ends.there.next_op(other)
    if are_alike(behind, own) and are_alike(own, other) and not are_alike(behind_there, own):
        return
    for slot in spot.tensors:
        read = next(it for it in here.into(node) if it.input == slot)
        maker = here.nodes[read.origin]
        for it, number in islice(_nearest(spot, maker, read.output), MOST_REPLACEMENTS):
            # What the input is made of by moves is that in another layout.
            is_moved = base_of(here, it, KEPT) is base_of(here, maker, KEPT)
            # Another part of what is split is no chance either.
            is_read_there = it is maker or (not is_moved and _is_read_there(spot, it, number))
            source = FromNode(it.id, number, _label_ahead(here, it, number), is_read_there)
            yield spot.rewired(slot, source)


def _nearest(spot: Spot, maker: Node, output: int) -> Iterator[tuple[Node, int]]:
    """The values of the shape and dtype of an output of a node, which an op may read instead of that."""
    here, node, made = spot.here, spot.node, maker.outputs[output]
    places = {it.id: place for place, it in enumerate(here.graph.nodes)}
    not_before = here.behind(node.id)
    # No op of forward reads what backward computes.
    phases = (node.phase, "forward")
    nodes = [
        it
        for it in here.graph.nodes
        if it.kind != "output" and it.id not in not_before and it.phase in phases
    ]
    # What the value is made of comes first: it may be read ahead of what was done to it.
    ahead, reads = {maker.id}, [maker]
    for _ in range(NEAR):
        reads = [it for one in reads for it in here.origins(one) if it.id not in ahead]
        ahead.update(it.id for it in reads)

    def rank(it: Node) -> tuple[bool, bool, int]:
        return it.id not in ahead, it.op != maker.op, abs(places[it.id] - places[node.id])

    for it in sorted(nodes, key=rank):
        for number, value in enumerate(it.outputs):
            is_alike = (value.shape, value.dtype) == (made.shape, made.dtype)
            if is_alike and (it.id, number) != (maker.id, output):
                yield it, number


def _is_read_there(spot: Spot, node: Node, output: int) -> bool:
    """Whether the other row reads a value that is here as well."""
    # What is made of numbers alone, such as positions, is there by chance.
    if node.kind == "op" and all(it.kind == "constant" for it in spot.here.origins(node)):
        return False
    numbers = numbers_of(node.outputs[output])
    reads = [it for other in spot.ends.row for it in spot.ends.there.tensors(other).values()]
    return any(_apart(numbers, it) is not None for it in reads)


def exchanged(spot: Spot) -> Iterator[Edits]:
    """Two values that different ops of a row read from outside, wherever they read them."""
    here, row = spot.here, spot.ends.own_row
    readers: dict[Slot, dict[str, list[int]]] = {}
    for node in row:
        for edge in here.into(node):
            read = here.nodes[edge.origin]
            if read not in row and read.kind != "constant" and edge.output < len(read.outputs):
                slots = readers.setdefault((edge.origin, edge.output), {})
                slots.setdefault(node.id, []).append(edge.input)
    for pair in combinations(list(readers)[:MOST_EXCHANGED], 2):
        one, other = (here.nodes[node].outputs[output] for node, output in pair)
        is_of_one_op = len(readers[pair[0]].keys() | readers[pair[1]].keys()) == 1
        if is_of_one_op or (one.shape, one.dtype) != (other.shape, other.dtype):
            continue
        makers = [base_of(here, here.nodes[node], MOVES) for node, _ in pair]
        labels = [label_of(maker) for maker in makers]
        if labels[0] == labels[1]:
            # Of one line: by their modules.
            labels = [op_label(maker, f", {maker.scope or maker.id}") for maker in makers]
        edits = [
            Rewire(node=node, slots=tuple(slots), source=FromNode(*instead, label))
            for slot, instead, label in zip(pair, pair[::-1], labels[::-1], strict=True)
            for node, slots in readers[slot].items()
        ]
        # The edits of the op itself come first.
        yield tuple(sorted(edits, key=lambda edit: edit.node != spot.node.id))


def _label_ahead(here: GraphView, node: Node, output: int) -> str:
    """What a value is called; a cast or an identity, which hands the same numbers on, as what it reads."""
    base = base_of(here, node, HANDED_ON)
    return label_of(node, output) if base is node else label_of(base)


def zeros(spot: Spot) -> Iterator[Edit]:
    """Zeros in the place of what is filled with other numbers."""
    for edge in spot.here.into(spot.node):
        origin = spot.here.nodes[edge.origin]
        numbers = numbers_of(origin.outputs[0]) if is_filled(origin) else None
        if numbers is not None and numbers.any():
            yield spot.rewired(edge.input, Zeros(label_of(origin), is_filled=True))


# Inputs that pass as equal


def with_inputs_of_there(spot: Spot) -> Iterator[Edits]:
    """The other side's values of an op's inputs, alone and with another number among the arguments."""
    as_there = inputs_of_there(spot)
    if as_there:
        yield as_there
        for change in spot.arguments.single:
            if all(isinstance(value, float) for value in change.values()):
                yield *as_there, set_arguments(spot.node, change)


def inputs_of_there(spot: Spot) -> tuple[Rewire, ...]:
    """The other side's values of an op's inputs, where what these differ by may hide an explanation.

    Ops ahead may differ as well, by less than is told: then the op alone does not give the other
    side's value from its own inputs, whatever is changed. () where the inputs are the same.
    """
    node, there, row = spot.node, spot.ends.there, spot.ends.row
    difference = distance(node.outputs[0], spot.target) if node.outputs else None
    if difference is None:
        return ()
    reads = [read for it in row for read in there.origins(it) if read.kind == "op"]
    reads = [read for read in reads if read not in row and read.outputs]
    edits = []
    for slot, own in spot.tensors.items():
        numbers = numbers_of(own)
        if numbers is None or not numbers.size or own.dtype[:5] != "float":
            continue
        # The values of the other side that pass as equal, and how far they are apart.
        found = ((_apart(numbers, other.outputs[0]), other) for other in reads)
        near = [(apart, other) for apart, other in found if apart is not None]
        for apart, other in sorted(near, key=lambda it: it[0])[:1]:
            summary = other.outputs[0].values
            if apart > EXPLAINED * difference and summary is not None and summary.whole is not None:
                value = summary.whole
                if spot.here.reads_turned(node, slot):
                    value = pack(channels_last(unpack(value)), value.dtype)
                edits.append(spot.rewired(slot, FromThere(label_of(other), value)))
    return tuple(edits)


def _apart(own: Floats | None, other: Output) -> float | None:
    """How far a value is at most from numbers with which it passes as equal; None where it does not."""
    numbers = numbers_of(other)
    if own is None or numbers is None or not own.size == numbers.size > 0:
        return None
    own, numbers = own.ravel(), numbers.ravel()
    is_finite = np.isfinite(own) & np.isfinite(numbers)
    if not np.array_equal(own[~is_finite], numbers[~is_finite], equal_nan=True):
        return None
    apart = float(np.abs(numbers[is_finite] - own[is_finite]).max(initial=0))
    return apart if apart <= CLOSE * float(np.abs(own[is_finite]).max(initial=0)) else None
