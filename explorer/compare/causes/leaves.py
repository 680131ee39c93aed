"""The leaves and constants that an op of the other side reads, in the place of those of an op."""

import math
from collections.abc import Iterator

import numpy as np

from explorer.compare.causes.arguments import Spot
from explorer.compare.causes.inputs import NEAR, SPREAD, label_of
from explorer.compare.causes.rows import (
    COMMON,
    KEPT,
    are_alike,
    base_of,
    is_filled,
    leaves_of,
    onwards,
)
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.arrays import Array, pack, unpack
from explorer.model.causes import Edits, FromNode, FromThere, Rewire
from explorer.model.divergence import Place
from explorer.model.graph import Node
from explorer.operators.families import family

CUT = MOVES | {"slice", "cast", "identity"}
"""Families of ops with which a part of a constant is read."""


def other_leaves(spot: Spot) -> Iterator[Edits]:
    """The leaves that the other row reads instead of those of a row, which both graphs have, all at once.

    None where it reads the same ones, or where some have no counterpart: a weight is put in the place
    of a weight, a bias in that of a bias.
    """
    here, row = spot.here, spot.ends.own_row
    theirs = leaves_of(spot.ends.there, spot.ends.row).values()
    own = {(node.id, slot): name for node in row for slot, name in leaves_of(here, [node]).items()}
    others = {name for name in theirs if name not in own.values()}
    edits: list[Rewire] = []
    for (node, slot), name in own.items():
        # "weight" of "cell.weight"
        last = name.rpartition(".")[2]
        named_alike = [other for other in others if other.rpartition(".")[2] == last]
        if len(named_alike) == 1:
            edits += _read_instead(here, here.nodes[node], slot, named_alike[0], len(row) > 1)
    if edits and len(edits) == len(others):
        yield tuple(edits)


def _read_instead(
    here: GraphView, node: Node, slot: int, name: str, is_of_row: bool
) -> list[Rewire]:
    """What is made of the leaf of a name as the input of an op is made of its own; [] if nothing is."""
    (read,) = [edge for edge in here.into(node) if edge.input == slot]
    maker = here.nodes[read.origin]
    for other in here.graph.nodes:
        is_alike = (other.op, other.kind, other.phase) == (maker.op, maker.kind, maker.phase)
        if is_alike and other.outputs and other.outputs[0].shape == maker.outputs[0].shape:
            leaf = base_of(here, other, KEPT)
            if leaf.kind == "parameter" and leaf.name == name:
                source = FromNode(other.id, label=name, is_read_there=is_of_row)
                return [Rewire(node=node.id, slots=(slot,), source=source)]
    return []


def other_constants(spot: Spot) -> Iterator[Rewire]:
    """The constants and leaves that an op of the other side reads as inputs, one in the place of one.

    Those in the same places, where both are whole, as large, and not the same; and of the numbers with which
    something is filled, the only one of the other side in the place of the only one, such as that of a mask.
    """
    there, (other, *others) = spot.ends.there, spot.ends.row
    if others or not are_alike(spot.node, other):
        return
    own, given = _given_to(spot.here, spot.node), _given_to(there, other)
    for slot in own.keys() & given.keys():
        (_, mine), (read, value) = own[slot], given[slot]
        if mine != value and math.prod(mine.shape) == math.prod(value.shape) > 1:
            # The name of a leaf, or a constant with the line that reads it.
            readers = [there.nodes[edge.target] for edge in there.out_of(read)]
            lines = [it.source[0] for it in readers if it.source]
            is_named = (read.kind != "constant" and label_of(read)) or not lines
            label = label_of(read) if is_named else f"{read.op} ({lines[0]})"
            yield spot.rewired(slot, FromThere(label, value))
    numbers = [
        {slot: one for slot, (_, one) in it.items() if is_number(one)} for it in (own, given)
    ]
    is_tried = own.keys() & given.keys()
    if len(numbers[0]) == len(numbers[1]) == 1 and is_tried.isdisjoint(numbers[0]):
        ((slot, mine),), (value,) = numbers[0].items(), numbers[1].values()
        first, second = (unpack(it).flat[0] for it in (mine, value))
        if first != second:
            # As large as its own number, as which it may be one or many.
            whole = pack(np.full(mine.shape, second), mine.dtype)
            yield spot.rewired(slot, FromThere(f"{second:g}", whole))


def is_number(value: Array | None) -> bool:
    """Whether all elements of an array are the same number."""
    return value is not None and np.unique(unpack(value)).size == 1


def _given_to(flow: GraphView, node: Node) -> dict[int, tuple[Node, Array]]:
    """What an op reads as constants and leaves, which may be cut on the way, by the place among all."""
    found = {}
    for edge in flow.into(node):
        read = flow.nodes[edge.origin]
        summary = read.outputs[edge.output].values if edge.output < len(read.outputs) else None
        base = base_of(flow, read, CUT)
        if summary is None or summary.whole is None:
            continue
        is_made = is_filled(base) or (base.kind == "op" and not flow.into(base))
        if base.kind in ("constant", "parameter") or (is_made and is_number(summary.whole)):
            found[edge.input] = read, summary.whole
    return found


def later_place(here: GraphView, node: Node, there: GraphView, other: Node) -> Place | None:
    """Where the other side comes, behind an op, to a parameter that a node reads, or to an op of its kind.

    None if nowhere; of ops, the nearest ones tell, and one that this side has there as well does not.
    """
    names = set(leaves_of(here, [node]).values())
    behind = there.behind(other.id) - {other.id} if names else set()
    for later in there.graph.nodes:
        if later.id in behind and later.kind == "op" and later.phase == other.phase:
            bases = [base_of(there, read, KEPT | SPREAD) for read in there.origins(later)]
            read = sorted(names.intersection(it.name for it in bases if it.kind == "parameter"))
            if read:
                return Place(label=read[0], source=next(iter(later.source), ""))
    if family(node.op) in COMMON or any(are_alike(it, node) for it in onwards(here, node, NEAR)):
        return None
    found = [it for it in onwards(there, other, NEAR) if are_alike(it, node)]
    return Place(label=found[0].op, source=next(iter(found[0].source), "")) if found else None
