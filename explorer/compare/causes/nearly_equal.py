"""Inputs of two ops that pass as equal, and differ by more than an explanation may leave."""

from collections.abc import Iterator

import numpy as np

from explorer.compare.causes.input_trials import label_of
from explorer.compare.causes.places import Ends
from explorer.compare.causes.rooms import EXPLAINED, distance, numbers_of
from explorer.compare.graphs.layouts import channels_last
from explorer.model.arrays import pack, unpack
from explorer.model.causes import InputChange
from explorer.model.graph import Node, Output

CLOSE = 1e-4
"""Values that differ by at most this part of the greatest element pass as equal."""


def inputs_of_there(ends: Ends, target: Output) -> tuple[InputChange, ...]:
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
    read_there = list(_read_from_outside(ends))
    changes = []
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
            changes.append(InputChange((slot,), "given", label=label_of(other), value=value))
    return tuple(changes)


def _read_from_outside(ends: Ends) -> Iterator[Node]:
    members = {node.id for node in ends.row}
    for node in ends.row:
        for read in ends.there.origins(node):
            if read.id not in members and read.kind == "op":
                yield read


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
