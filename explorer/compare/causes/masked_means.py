"""A mean of all elements where the other side has that of some, which a condition in a graph marks."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from explorer.compare.causes.input_trials import label_of
from explorer.compare.causes.places import rows_at
from explorer.compare.causes.relations import Found
from explorer.compare.causes.rooms import Room, numbers_of, room_of
from explorer.compare.causes.value_pairs import ValuePair, cause_by
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, Related
from explorer.model.divergence import Divergence, OtherValue
from explorer.model.families import family
from explorer.model.graph import Node, SideName
from explorer.numeric.differences import Floats

REDUCING = frozenset({"sum", "mean"})
"""Families of ops that make a mean, or a sum that is divided."""

MOST_MASKS = 40
"""So many conditions are looked at."""


class _Mean(NamedTuple):
    """The mean of all elements of a value that ``node`` reads; ``sign`` is -1 where it is negated."""

    node: Node
    elements: Floats
    sign: int


def masked_mean_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Of which elements the other side has the mean that one side has of all; None if that is not so."""
    if not isinstance(divergence, OtherValue) or divergence.phase != "forward":
        return None
    rows = rows_at(divergence, left, right)
    if rows is None:
        return None
    ours, theirs = rows
    return _cause("left", (left, right), ours, theirs) or _cause(
        "right", (left, right), theirs, ours
    )


def _cause(
    side: SideName, flows: tuple[GraphView, GraphView], row: list[Node], other_row: list[Node]
) -> Cause | None:
    here, there = flows if side == "left" else flows[::-1]
    node, other = row[-1], other_row[-1]
    if not (node.outputs and other.outputs):
        return None
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or own.size != 1 or target.size != 1:
        return None
    room = room_of(node.outputs[0], other.outputs[0])
    for mean in _means(here, row, own, Room(room.base)):
        found = _of_some(mean, target, room, [*_conditions(here), *_conditions(there)])
        if found is not None:
            values = node.outputs[0], other.outputs[0]
            ends = ValuePair(side, here, there, mean.node, other, *values)
            return cause_by(found, ends, flows)
    return None


def _means(flow: GraphView, row: list[Node], own: Floats, room: Room) -> Iterator[_Mean]:
    """What in a row is reduced of which the mean is a side's own value, or the opposite of that."""
    for node in row:
        if family(node.op) not in REDUCING:
            continue
        for read in flow.origins(node):
            elements = numbers_of(read.outputs[0]) if read.outputs else None
            if elements is None or elements.size < 2 or not np.isfinite(elements).all():
                continue
            for sign in (1, -1):
                made = np.full(own.shape, sign * elements.mean())
                if room.apart(made, own) is not None:
                    yield _Mean(node, elements.ravel(), sign)


def _of_some(
    mean: _Mean, target: Floats, room: Room, conditions: list[tuple[Node, Floats]]
) -> Found | None:
    """The condition under which elements have the mean that is wanted; None where several ones do."""
    found: dict[bytes, Found] = {}
    for node, condition in conditions:
        if condition.size != mean.elements.size:
            continue
        holds = condition == 1
        made = np.full(target.shape, mean.sign * mean.elements[holds].mean())
        apart = room.apart(made, target)
        if apart is not None:
            numbers = int(holds.sum()), holds.size
            relation = Related(how="mean_where", name=label_of(node), numbers=numbers)
            found.setdefault(holds.tobytes(), Found(relation, apart))
    return next(iter(found.values())) if len(found) == 1 else None


def _conditions(flow: GraphView) -> list[tuple[Node, Floats]]:
    """The values of forward that are 0 or 1 in each element, and both of them somewhere."""
    found = []
    for node in flow.graph.nodes:
        if node.kind == "output" or node.phase != "forward" or not node.outputs:
            continue
        numbers = numbers_of(node.outputs[0])
        if numbers is not None and numbers.size > 1 and set(np.unique(numbers)) == {0, 1}:
            found.append((node, numbers.ravel()))
    return found[:MOST_MASKS]
