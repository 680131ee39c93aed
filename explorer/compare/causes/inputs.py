"""Other inputs of an op: their order, another value, a factor, a cast, another layout, other leaves."""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from explorer.compare.causes.arguments import Spot, set_arguments
from explorer.compare.causes.rows import Ends, base_of
from explorer.compare.graphs.layouts import channels_last
from explorer.compare.graphs.sameness import EXPLAINED, distance, numbers_of
from explorer.compare.graphs.view import MOVES, GraphView, Slot
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
    Zeros,
)
from explorer.model.divergence import Place
from explorer.model.graph import Node, Output
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

HANDED_ON = frozenset({"cast", "identity"})
"""Families of ops that hand the same numbers on."""

HALVES = ("float16", "bfloat16")


def other_inputs(spot: Spot) -> Iterator[Edits]:
    """Edits of the tensors that an op reads, of one or of two that are exchanged."""
    # Where the op behind is of the same kind, and none is there, it may be what the other side has.
    own, other = spot.ends.own_row[-1], spot.ends.row[-1]
    behind, behind_there = spot.here.next_op(own), spot.ends.there.next_op(other)
    is_done_behind = (
        behind is not None
        and family(behind.op) == family(own.op) == family(other.op)
        and (behind_there is None or family(behind_there.op) != family(own.op))
    )
    node, slots = spot.node, spot.here.tensors(spot.node)
    for one, second in combinations(slots, 2):
        # Tensors that are joined may be of other sizes.
        if slots[one].shape == slots[second].shape or family(node.op) == "concat":
            yield (
                Rewire(node=node.id, slots=(one,), source=FromSlot(second)),
                Rewire(node=node.id, slots=(second,), source=FromSlot(one)),
            )
    for slot, output in slots.items() if not is_done_behind else ():
        for source in _other_values(spot.here, node, slot, output):
            yield (Rewire(node=node.id, slots=(slot,), source=source),)
    floats = tuple(slot for slot, output in slots.items() if output.dtype == "float32")
    for dtype in HALVES if floats else ():
        yield (InsertOperator(node=node.id, op="cast", slots=floats, name=dtype),)
    if floats and family(node.op) not in TRIED.linear:
        # Factors that are something of the size of a value.
        sizes = sorted({length for length in slots[floats[0]].shape if length > 1})
        of_sizes = [(math.sqrt(it), 1 / math.sqrt(it), float(it), 1 / it) for it in sizes]
        factors = dict.fromkeys(number for numbers in of_sizes for number in numbers)
        for number in (*factors, *PLAIN_FACTORS):
            factor = Factor(number)
            yield (InsertOperator(node=node.id, op="mul", slots=floats[:1], factor=factor),)
    for slot in floats:
        yield from elsewhere(node, slot, slots[slot].shape)
    # What is spread along one axis may belong to the next one.
    is_spread = len(floats) > 1 and family(node.op) not in TRIED.of_weights
    for slot in floats if is_spread else ():
        shape = slots[slot].shape
        for axis in range(len(shape) - 2):
            if 1 in shape[axis : axis + 2]:
                numbers = axis, axis + 1
                yield (
                    InsertOperator(node=node.id, op="swap_axes", slots=(slot,), numbers=numbers),
                )


def exchanged(spot: Spot) -> Iterator[Edits]:
    """Two values that different ops of a row read from outside, wherever they read them."""
    row = {node.id: node for node in spot.ends.own_row}
    readers: dict[Slot, dict[str, list[int]]] = {}
    for node in row.values():
        for edge in spot.here.into(node):
            if edge.origin not in row and edge.input in spot.here.tensors(node):
                readers.setdefault((edge.origin, edge.output), {}).setdefault(node.id, []).append(
                    edge.input
                )
    read = {
        slot: spot.here.nodes[slot[0]].outputs[slot[1]]
        for slot in readers
        if spot.here.nodes[slot[0]].kind != "constant"
    }
    for one, other in combinations(list(read)[:MOST_EXCHANGED], 2):
        forms = [(it.shape, it.dtype) for it in (read[one], read[other])]
        if forms[0] != forms[1] or len(readers[one].keys() | readers[other].keys()) == 1:
            continue
        makers = [
            base_of(spot.here, spot.here.nodes[node], MOVES) for node, _output in (one, other)
        ]
        labels = [label_of(maker) for maker in makers]
        if labels[0] == labels[1]:
            # Of one line: by their modules.
            labels = [op_label(maker, f", {maker.scope or maker.id}") for maker in makers]
        edits = []
        for slot, instead, label in ((one, other, labels[1]), (other, one, labels[0])):
            source = FromNode(*instead, label)
            edits += [
                Rewire(node=node, slots=tuple(slots), source=source)
                for node, slots in readers[slot].items()
            ]
        # The edits of the op itself come first.
        yield tuple(sorted(edits, key=lambda edit: edit.node != spot.node.id))


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


def weights_elsewhere(spot: Spot) -> Iterator[Edits]:
    """A weight in another layout."""
    if family(spot.node.op) in TRIED.of_weights:
        leaves = leaves_of(spot.here, [spot.node])
        for slot, read in spot.here.tensors(spot.node).items():
            if slot in leaves:
                yield from elsewhere(spot.node, slot, read.shape)


def _other_values(flow: GraphView, node: Node, slot: int, own: Output) -> list[FromNode]:
    """Other values of the shape of an input: what was made as it was, then the nearest ones."""
    (read,) = [edge for edge in flow.into(node) if edge.input == slot][:1]
    maker, behind = flow.nodes[read.origin], flow.behind(node.id)
    places = {it.id: place for place, it in enumerate(flow.graph.nodes)}
    others = [it for it in flow.graph.nodes if it.kind != "output" and it.id not in behind]
    # What the value is made of comes first: it may be read ahead of what was done to it.
    ahead, reads = {maker.id}, [maker]
    for _ in range(NEAR):
        reads = [it for one in reads for it in flow.origins(one) if it.id not in ahead]
        ahead.update(it.id for it in reads)
    others.sort(
        key=lambda it: (it.id not in ahead, it.op != maker.op, abs(places[it.id] - places[node.id]))
    )
    found = []
    for other in others:
        for output, made in enumerate(other.outputs):
            is_other = (other.id, output) != (read.origin, read.output)
            if is_other and (made.shape, made.dtype) == (own.shape, own.dtype):
                # A cast that changes nothing is said as what it reads.
                named = base_of(flow, other, HANDED_ON)
                label = label_of(other, output) if named is other else label_of(named)
                found.append(FromNode(other.id, output, label))
    return found[:MOST_REPLACEMENTS]


def label_of(node: Node, output: int = 0) -> str:
    """A node's name, or its op and line; which of several outputs, from 1."""
    if node.name:
        return node.name
    number = f", output {output + 1}" if len(node.outputs) > 1 else ""
    return op_label(node, number)


def op_label(node: Node, number: str = "") -> str:
    """An op and its line."""
    return f"{node.op} ({node.source[0] if node.source else node.id}{number})"


def inverted(spot: Spot) -> Iterator[Edits]:
    """A mask of the opposite sense."""
    for slot, read in spot.here.tensors(spot.node).items():
        if read.dtype == "bool":
            yield (InsertOperator(node=spot.node.id, op="not", slots=(slot,)),)


def from_zeros(spot: Spot) -> Iterator[Edits]:
    """Zeros in the place of what is filled with other numbers."""
    for edge in spot.here.into(spot.node):
        origin = spot.here.nodes[edge.origin]
        is_filled = origin.kind == "op" and family(origin.op) == "fill" and origin.outputs
        numbers = numbers_of(origin.outputs[0]) if is_filled else None
        if numbers is not None and numbers.any():
            zeros = Zeros(label_of(origin), is_filled=True)
            yield (Rewire(node=spot.node.id, slots=(edge.input,), source=zeros),)


# The leaves and constants of the other side

CUT = MOVES | {"slice", "cast", "identity"}
"""Families of ops with which a part of a constant is read."""

KEPT = MOVES | {"identity", "flip"}
"""Families of ops between a leaf and what reads it."""


def other_leaves(spot: Spot) -> Iterator[Edits]:
    """The leaves and constants of the other side in the place of those that an op reads."""
    here, there, row = spot.here, spot.ends.there, spot.ends.row
    leaves = of_other_leaves(here, spot.node, there, row)
    if leaves:
        yield leaves
    for edit in other_constants(here, spot.node, there, row[0]) if len(row) == 1 else ():
        yield (edit,)


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
            # The name of a leaf, or a constant with the line that reads it.
            readers = [there.nodes[edge.target] for edge in there.out_of(read)]
            lines = [it.source[0] for it in readers if it.source]
            is_named = (read.kind == "parameter" and read.name) or not lines
            label = label_of(read) if is_named else f"{read.op} ({lines[0]})"
            source = FromThere(label, value)
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


# Inputs that pass as equal

CLOSE = 1e-4
"""Values that differ by at most this part of the greatest element pass as equal."""


def with_inputs_of_there(spot: Spot) -> Iterator[Edits]:
    """The other side's values of an op's inputs, alone and with another number among the arguments."""
    as_there = inputs_of_there(spot.ends, spot.target)
    if as_there:
        yield as_there
        for change in spot.arguments.single:
            if all(isinstance(value, float) for value in change.values()):
                yield *as_there, set_arguments(spot.node, change)


def inputs_of_there(ends: Ends, target: Output) -> tuple[Rewire, ...]:
    """The other side's values of an op's inputs, where what these differ by may hide an explanation.

    Ops ahead may differ as well, by less than is told: then the op alone does not give the other
    side's value from its own inputs, whatever is changed. () where the inputs are the same.
    """
    (node,) = ends.own_row
    difference = distance(node.outputs[0], target) if node.outputs else None
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
        if theirs is not None and theirs.size == numbers.size:
            apart = float(np.abs(theirs.ravel() - numbers.ravel()).max())
            if apart <= CLOSE * float(np.abs(numbers).max()):
                found.append((apart, other))
    apart, nearest = min(found, key=lambda it: it[0], default=(0.0, None))
    return None if nearest is None else (nearest, apart)
