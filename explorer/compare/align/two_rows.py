"""Two rows of ops that lead to what should be one value, and what they read."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import inf

from explorer.compare.align.contrasts import (
    FoundDivergence,
    both,
    contrast,
    ends_of,
    place,
    reading,
    row_of,
)
from explorer.compare.align.fingerprints import elements
from explorer.compare.align.leaf_divergences import from_lone_leaf
from explorer.compare.align.matching import Matching
from explorer.compare.align.one_sided import first_close
from explorer.compare.align.provenance import (
    read_alone,
    read_from_outside,
    reads_unobserved,
    spread_otherwise,
    unwrapped,
)
from explorer.compare.align.rearrangement import (
    are_in_another_order,
    parting_of_order,
    passing_on,
    rearranged_input,
)
from explorer.compare.align.suspects import SuspectsBySide, kind, same_work
from explorer.compare.align.vertices import OutputValue, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.divergence import Inputs, OtherValue, Reading, Rearranged, Spread
from explorer.model.graph import Phase
from explorer.numeric.differences import elementwise_difference

FEW_CONSTANTS = 2
"""The most constants, read by one side alone, that are reported with their values."""


MOST_BEHIND = 6
"""So many ops behind a row are looked at for one that reads what the other row reads."""


def two_ops(
    matching: Matching, node: Vertex, other: Vertex, suspects_of: SuspectsBySide, phase: Phase
) -> FoundDivergence:
    """Two ops in one place with other values, and whether their inputs are equal.

    Ops of different kinds are compared as the stretches of ops that two lines of code became.
    """
    moved = parting_of_order(matching, node, other)
    if moved:
        # The two only notice that their inputs are in another order: this is where it parts.
        return _moved(matching, *_as_made(*moved))
    row, other_row = _rows(node, other, suspects_of)
    return _other_value(matching, _as_far(row, other_row), _as_far(other_row, row), phase)


def two_rows(matching: Matching, row: list[Vertex], other_row: list[Vertex]) -> FoundDivergence:
    """Ops in a row on each side that lead to what should be one value."""
    moved = parting_of_order(matching, row[0], other_row[0])
    if moved:
        return _moved(matching, *moved)
    own, others = read_alone(row, other_row), read_alone(other_row, row)
    lone = [leaf for leaf in (*own, *others) if leaf.is_leaf and not leaf.is_reserved]
    if len(lone) == len(own) + len(others) == 1:
        users = [node for node in (*row, *other_row) if lone[0] in node.origins]
        return from_lone_leaf(lone[0], users[0], row[-1].phase)
    return _other_value(matching, _as_far(row, other_row), _as_far(other_row, row), row[-1].phase)


def _as_far(row: list[Vertex], other_row: list[Vertex]) -> list[Vertex]:
    """A row in forward, longer where the other one reads more: up to the op that reads it here.

    One side may add in an op of its own what the other one adds inside of its op.
    """
    missing = {node.counterpart for node in read_alone(other_row, row)} - {None}
    if row[-1].phase != "forward" or not missing or read_alone(row, other_row):
        return row
    # What the other side reads once more behind its row, it may read there in this one's place.
    for user in other_row[-1].users:
        if user.phase == "forward" and any(it.counterpart in missing for it in user.origins):
            return row
    longest, behind = row, list(row)
    for node in _in_line_behind(row[-1]):
        behind.append(node)
        is_as_large = node.value.size == other_row[-1].value.size
        if is_as_large and not missing.isdisjoint(node.origins):
            longer = [it for it in _steps_to(behind, other_row) if it.main]
            if not read_alone(longer, other_row):
                longest = longer
    return longest


def _in_line_behind(node: Vertex) -> Iterator[Vertex]:
    """The nearest ops behind one in forward, as long as each has one reader."""
    for _ in range(MOST_BEHIND):
        users = [user for user in node.consumers if user.is_work and user.phase == "forward"]
        if len(users) != 1:
            return
        (node,) = users
        yield node


def _steps_to(row: list[Vertex], other_row: list[Vertex]) -> list[Vertex]:
    """Ops and those in forward that lead to them, as far as the other side does not know their values.

    What it has as a further output of its row, such as a mean, is such a step too.
    """

    def own_steps(node: Vertex) -> list[Vertex]:
        feeders = [it for it in node.feeders if it.is_work and it.phase == "forward"]
        return [it for it in feeders if it.partner in other_row or it.origin.counterpart is None]

    return in_order(reach(row, own_steps))


def _as_made(node: Vertex, other: Vertex) -> tuple[Vertex, Vertex]:
    """Two nodes whose numbers are in another order: what one passes on by the op that made it."""
    if same_work(node.origin, other):
        return node.origin, other
    if same_work(node, other.origin):
        return node, other.origin
    return node, other


def _moved(matching: Matching, node: Vertex, other: Vertex) -> FoundDivergence:
    """Two ops whose numbers lie in another order, with the steps that passed them on so far."""
    found = _other_value(matching, [node], [other], node.phase)
    steps = {step for end in (node, other) for step in passing_on(end) if step.is_work}
    return replace(found, parts=found.parts | steps)


def _other_value(
    matching: Matching, row: list[Vertex], other_row: list[Vertex], phase: Phase
) -> FoundDivergence:
    node, other = row[0], other_row[0]
    left, right = map(list, (row, other_row) if node.side.is_left else (other_row, row))
    for ops, last in zip((left, right), _as_laid(left[-1], right[-1]), strict=True):
        if last is not ops[-1]:
            ops.append(last)
    values = contrast(left[-1].value, right[-1].value)
    divergence = OtherValue(
        phase=phase,
        ends=ends_of(left[0], values, right[0]),
        gap=values.gap,
        rows=(row_of(left), row_of(right)),
        inputs=_inputs(matching, node, other, left, right),
    )
    parts: set[Vertex] = {*left, *right}
    laid: set[Vertex] = set()
    if divergence.inputs.rearranged:
        # An op of one side alone that puts what is read in another order is part of it.
        for value in _read_in_another_order(matching, left, right) or ():
            laid.update(_putting_in_order(value))
            if value.node.origin.counterpart is None:
                parts.add(value.node)
    if all(divergence.inputs.alone):
        # Of something that is taken to pieces, another one is read.
        laid.update(it for it in read_alone(left, right) if kind(it) == "slice")
        laid.update(it for it in read_alone(right, left) if kind(it) == "slice")
    ends = left[-1], right[-1]
    return FoundDivergence(divergence, frozenset(parts), ends, laid=frozenset(laid))


def _as_laid(node: Vertex, other: Vertex) -> tuple[Vertex, Vertex]:
    """Two nodes, or what puts the axes of their values into another order, where these lie alike.

    One side may compute with its axes in another order and turn them behind that. Of several ways in
    which both lie, it is the one in which they differ least.
    """
    ways = list(product(_turned(node), _turned(other)))
    if len(ways) == 1:
        return node, other
    return min(ways, key=lambda both: _distance(both[0].value, both[1].value))


def _turned(node: Vertex) -> Iterator[Vertex]:
    """A node, and the ops right behind it that put the axes of its value into another order."""
    yield node
    for user in node.consumers:
        is_turned = (
            user.family == "transpose" and user.phase == node.phase and user.main is not None
        )
        if is_turned and user.origin is node.origin:
            yield user


def _distance(value: OutputValue, other: OutputValue) -> float:
    """How far two values are apart as they lie; infinite where that is not known."""
    if value.shape != other.shape or value.whole is None or other.whole is None:
        return inf
    own, others = elements(value.whole), elements(other.whole)
    if own.shape != others.shape:
        return inf
    return float(elementwise_difference(own, others).max(initial=0.0))


def _rows(
    node: Vertex, other: Vertex, suspects_of: SuspectsBySide
) -> tuple[list[Vertex], list[Vertex]]:
    """The ops of both sides whose values are compared, of which the last ones hold these.

    Two formulas of one quantity are compared where both have come to it.
    """
    is_same = same_work(node, other) and node.value.size == other.value.size
    if is_same and first_close([node], [other]):
        return [node], [other]
    row = suspects_of[node.side].stretch(node)
    other_row = suspects_of[other.side].stretch(other)
    close = first_close(row, other_row)
    if close:
        return row[: close[0] + 1], other_row[: close[1] + 1]
    if is_same:
        return [node], [other]
    row = _up_to_size(row, other_row[-1].value.size)
    return _up_to_result(row, other_row, suspects_of), _up_to_result(other_row, row, suspects_of)


def _up_to_result(
    row: list[Vertex], other_row: list[Vertex], suspects_of: SuspectsBySide
) -> list[Vertex]:
    """A row of ops, longer where the other one ends in a result: up to that result here."""
    last = row[-1]
    names = {
        result.name for result in other_row[-1].side.results() if _maker(result) is other_row[-1]
    }
    for result in last.side.results():
        maker = _maker(result)
        if result.name not in names or maker is None or maker is last:
            continue
        onwards = {last, *suspects_of[last.side].downstream(last)}
        if maker in onwards:
            way = suspects_of[last.side].lineage(maker)
            return row + [node for node in way if node in onwards and node is not last]
    return row


def _maker(result: Vertex) -> Vertex | None:
    """The op that makes a result, whatever hands it on."""
    return unwrapped(result.inputs[0]).node if result.inputs else None


def _up_to_size(row: list[Vertex], size: int) -> list[Vertex]:
    """Ops in a row up to the last one whose value has ``size`` elements; all where none has."""
    for length in range(len(row), 0, -1):
        if row[length - 1].value.size == size:
            return row[:length]
    return row


def _inputs(
    matching: Matching, node: Vertex, other: Vertex, left: list[Vertex], right: list[Vertex]
) -> Inputs:
    """What two ops read, or two rows of ops that they begin."""
    fed = matching.differing(node.side).intersection(node.feeders)
    if fed:
        return Inputs(differing=tuple(sorted(leaf.name for leaf in fed)))
    own = _telling(read_alone(left, right))
    others = _telling(read_alone(right, left))
    spread = spread_otherwise(left, right)
    if spread:
        return Inputs(spread=tuple(map(_spread, spread)))
    places = tuple(map(place, own)), tuple(map(place, others))
    if own and others:
        # What is read in the place of something else is the divergence itself.
        return Inputs(alone=places)
    is_unobserved = reads_unobserved(left, right) or reads_unobserved(right, left)
    are_swapped = are_in_another_order(node, other)
    rows = (left, right) if node is left[0] else (right, left)
    return Inputs(
        alone=places,
        constants=_constants(own or others),
        are_observed=not is_unobserved,
        are_swapped=are_swapped,
        rearranged=None if are_swapped else _rearranged(matching, *rows),
    )


def _spread(values: tuple[OutputValue, ...]) -> Spread:
    left, right = values
    origin = unwrapped(left).node.origin
    return Spread(origin.name or origin.op, (left.shape, right.shape))


def _telling(nodes: list[Vertex]) -> list[Vertex]:
    """Nodes without the constants among them, unless these are few and all: an op has settings."""
    others = [node for node in nodes if node.kind != "constant"]
    return others or (nodes if len(nodes) <= FEW_CONSTANTS else [])


def _constants(nodes: list[Vertex]) -> tuple[Reading, ...]:
    """The values of nodes where all are constants: the other side may have them as settings."""
    if len(nodes) > FEW_CONSTANTS or any(node.kind != "constant" for node in nodes):
        return ()
    return tuple(reading(node.value) for node in nodes)


def _rearranged(
    matching: Matching, row: list[Vertex], other_row: list[Vertex]
) -> Rearranged | None:
    """The first input of two rows whose numbers lie in another layout on the other side."""
    read = _read_in_another_order(matching, row, other_row)
    if read is None:
        return None
    value, other_value = read
    layout = matching.layout(value, other_value)
    return Rearranged(both(value.node, other_value.node), layout) if layout else None


def _read_in_another_order(
    matching: Matching, row: list[Vertex], other_row: list[Vertex]
) -> tuple[OutputValue, OutputValue] | None:
    """The first of what two rows read whose numbers lie in another order on the other side."""
    return rearranged_input(matching, row[0], other_row[0]) or _reordered(matching, row, other_row)


def _putting_in_order(value: OutputValue) -> set[Vertex]:
    """The ops that put numbers in the order in which they are read, with those of one side alone before."""
    steps = passing_on(value.node)
    waiting = [step for step in (steps[1:] or steps) if step.is_work]
    found: set[Vertex] = set()
    while waiting and len(found) < MOST_BEHIND:
        node = waiting.pop()
        found.add(node)
        feeders = [it for it in node.feeders if it.is_work and it.phase == node.phase]
        waiting += [it for it in feeders if it.is_free and it.origin.counterpart is None]
    return found


def _reordered(
    matching: Matching, row: list[Vertex], other_row: list[Vertex]
) -> tuple[OutputValue, OutputValue] | None:
    """What a row reads that has no counterpart, and whose numbers the other one reads in another order."""
    read_there = read_from_outside(other_row)
    for value in read_from_outside(row):
        equal = [other for other in read_there if value.agrees(other)]
        for other in equal:
            counterparts = value.node.origin.counterpart, other.node.origin.counterpart
            if None in counterparts and all(matching.layout(value, it) for it in equal):
                return value, other
    return None
