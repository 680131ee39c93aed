"""Two rows of ops that lead to what should be one value, what they read, and in which order that lies."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, pairwise, product
from math import inf

import numpy as np

from explorer.compare.align.contrasts import (
    FoundDivergence,
    both,
    contrast,
    found,
    from_lone_leaf,
    place,
    reading,
    row_of,
)
from explorer.compare.align.one_sided import are_close
from explorer.compare.align.provenance import (
    FEW,
    MOST_TERMS,
    back_to_origin,
    read_alone,
    read_from_outside,
    reads_unobserved,
    spread_otherwise,
    unwrapped,
)
from explorer.compare.align.sameness import elements_beside, have_other_rows, layout_of
from explorer.compare.align.suspects import Search, kind, same_work
from explorer.compare.align.vertices import OutputValue, Vertex, in_order
from explorer.compare.graphs.view import reach
from explorer.model.divergence import Inputs, OtherValue, Rearranged
from explorer.numeric.differences import elementwise_difference

FEW_CONSTANTS = 2
"""The most constants, read by one side alone, that are reported with their values."""


MOVERS = frozenset({"slice", "concat", "flip"})
"""Families that put numbers elsewhere and make no new ones, beside those that keep books."""

MOST_BEHIND = 6
"""So many ops behind a row are looked at for one that reads what the other row reads."""


def two_ops(search: Search, node: Vertex, other: Vertex) -> FoundDivergence:
    """Two ops in one place with other values, and whether their inputs are equal.

    Ops of different kinds are compared as the stretches of ops that two lines of code became.
    """
    return two_rows(*_rows(search, node, other))


def two_rows(row: list[Vertex], other_row: list[Vertex]) -> FoundDivergence:
    """Ops in a row on each side that lead to what should be one value."""
    moved = parting_of_order(row[0], other_row[0])
    if moved:
        # The two only notice that their inputs are in another order: this is where it parts. What
        # one side passes on is compared by the op that made it.
        first, second = moved
        made = (first.origin, second), (first, second.origin)
        ends = next((pair for pair in made if same_work(*pair)), moved)
        parting = _other_value([ends[0]], [ends[1]])
        # With the steps that passed the numbers on so far.
        steps = [it.node for end in ends for it in back_to_origin(end.value)]
        return replace(parting, parts=parting.parts.union(it for it in steps if it.is_work))
    own, others = read_alone(row, other_row), read_alone(other_row, row)
    lone = [leaf for leaf in (*own, *others) if leaf.is_leaf and not leaf.is_reserved]
    if len(lone) == len(own) + len(others) == 1:
        users = [node for node in (*row, *other_row) if lone[0] in node.origins]
        return from_lone_leaf(lone[0], users[0], row[-1].phase)
    return _other_value(_as_far(row, other_row), _as_far(other_row, row))


def _as_far(row: list[Vertex], other_row: list[Vertex]) -> list[Vertex]:
    """A row in forward, longer where the other one reads more: up to the op that reads it here.

    One side may add in an op of its own what the other one adds inside of its op.
    """
    missing = {node.counterpart for node in read_alone(other_row, row)} - {None}
    if row[-1].phase != "forward" or not missing or read_alone(row, other_row):
        return row
    # What the other side reads once more behind its row, it may read there in this one's place.
    again = [user for user in other_row[-1].users if user.phase == "forward"]
    if any(it.counterpart in missing for user in again for it in user.origins):
        return row

    def own_steps(node: Vertex) -> list[Vertex]:
        # What the other side has as a further output of its row, such as a mean, is such a step too.
        work = node.work_read
        return [it for it in work if it.partner in other_row or it.origin.counterpart is None]

    longest, behind = row, list(row)
    for _ in range(MOST_BEHIND):
        users = [it for it in behind[-1].consumers if it.is_work and it.phase == "forward"]
        if len(users) != 1:
            break
        (node,) = users
        behind.append(node)
        is_as_large = node.value.size == other_row[-1].value.size
        if is_as_large and not missing.isdisjoint(node.origins):
            longer = [it for it in in_order(reach(behind, own_steps)) if it.main]
            if not read_alone(longer, other_row):
                longest = longer
    return longest


def _other_value(row: list[Vertex], other_row: list[Vertex]) -> FoundDivergence:
    left, right = map(list, (row, other_row) if row[0].side.name == "left" else (other_row, row))
    for ops, last in zip((left, right), _as_laid(left[-1], right[-1]), strict=True):
        if last is not ops[-1]:
            ops.append(last)
    alone = read_alone(left, right), read_alone(right, left)
    rows = (left, right) if row[0].side.name == "left" else (right, left)
    read = _read_in_another_order(*rows)
    inputs = _inputs(rows, alone, read)
    parts: set[Vertex] = {*left, *right}
    laid: set[Vertex] = set()
    if read and inputs.rearranged:
        # An op of one side alone that puts what is read in another order is part of it.
        for value in read:
            laid.update(_putting_in_order(value))
            if value.node.origin.counterpart is None:
                parts.add(value.node)
    if all(inputs.alone):
        # Of something that is taken to pieces, another one is read.
        laid.update(it for it in chain(*alone) if kind(it) == "slice")
    return found(
        OtherValue,
        contrast(left[-1].value, right[-1].value),
        left[0],
        right[0],
        phase=row[0].phase,
        parts=parts,
        ends=(left[-1], right[-1]),
        laid=laid,
        rows=(row_of(left), row_of(right)),
        inputs=inputs,
    )


def _as_laid(node: Vertex, other: Vertex) -> tuple[Vertex, Vertex]:
    """Two nodes, or what puts the axes of their values into another order, where these lie alike.

    One side may compute with its axes in another order and turn them behind that. Of several ways in
    which both lie, it is the one in which they differ least.
    """

    def turned(it: Vertex) -> list[Vertex]:
        users = [user for user in it.users_in_phase if user.family == "transpose" and user.main]
        return [it, *(user for user in users if user.origin is it.origin)]

    def distance(way: tuple[Vertex, Vertex]) -> float:
        values = way[0].value, way[1].value
        beside = elements_beside(*values) if values[0].shape == values[1].shape else None
        return inf if beside is None else float(elementwise_difference(*beside).max(initial=0.0))

    return min(product(turned(node), turned(other)), key=distance)


def _rows(search: Search, node: Vertex, other: Vertex) -> tuple[list[Vertex], list[Vertex]]:
    """The ops of both sides whose values are compared, of which the last ones hold these.

    Two formulas of one quantity are compared where both have come to it.
    """
    is_same = same_work(node, other) and node.value.size == other.value.size
    if is_same and first_close([node], [other]):
        return [node], [other]
    row = search.suspects_of[node.side].stretch(node)
    other_row = search.suspects_of[other.side].stretch(other)
    close = first_close(row, other_row)
    if close:
        return row[: close[0] + 1], other_row[: close[1] + 1]
    if is_same:
        return [node], [other]
    of_one_size = [it for it in row if it.value.size == other_row[-1].value.size]
    row = row[: row.index(of_one_size[-1]) + 1] if of_one_size else row
    return _up_to_result(search, row, other_row), _up_to_result(search, other_row, row)


def first_close(row: list[Vertex], other_row: list[Vertex]) -> tuple[int, int] | None:
    """The places of the first two of some ops whose values are close; None without such.

    They hold one quantity, with more rounding than their noise. Of each row as many as MOST_TERMS
    are looked at.
    """
    others = [node.value.finite_numbers for node in other_row[:MOST_TERMS]]
    for own_place, node in enumerate(row[:MOST_TERMS]):
        numbers = node.value.finite_numbers
        for other_place, held in enumerate(others):
            if numbers is not None and held is not None and are_close(held, numbers):
                return own_place, other_place
    return None


def _up_to_result(search: Search, row: list[Vertex], other_row: list[Vertex]) -> list[Vertex]:
    """A row of ops, longer where the other one ends in a result: up to that result here."""
    last, suspects = row[-1], search.suspects_of[row[-1].side]
    # Each result with the op that makes it, whatever hands it on.
    makers, other_makers = (
        [(it.name, unwrapped(it.inputs[0]).node) for it in side.results() if it.inputs]
        for side in (last.side, last.side.other)
    )
    names = {name for name, maker in other_makers if maker is other_row[-1]}
    onwards = {last, *suspects.downstream(last)} if names else set()
    for name, maker in makers:
        if name in names and maker is not last and maker in onwards:
            way = suspects.lineage(maker)
            return row + [node for node in way if node in onwards and node is not last]
    return row


def _inputs(
    rows: tuple[list[Vertex], list[Vertex]],
    alone: tuple[list[Vertex], list[Vertex]],
    moved: tuple[OutputValue, OutputValue] | None,
) -> Inputs:
    """What two ops read, or two rows of ops that they begin.

    ``alone`` is what the left one alone reads, and the right one, ``moved`` what lies in another order there.
    """
    row, other_row = rows
    # Leaves of one name pair with one another or with nothing.
    fed = [it for it in row[0].feeders if it.is_leaf and it.is_reserved and it.is_free]
    if fed:
        return Inputs(differing=tuple(sorted({leaf.name for leaf in fed})))
    spread = spread_otherwise(*sorted(rows, key=lambda row: row[0].side.name))
    if spread:
        return Inputs(spread=spread)
    # Without constants, unless these are few and all: an op has settings.
    telling = []
    for nodes in alone:
        others = [node for node in nodes if node.kind != "constant"]
        telling.append(others or (nodes if len(nodes) <= FEW_CONSTANTS else []))
    own, others = telling
    places = tuple(map(place, own)), tuple(map(place, others))
    if own and others:
        # What is read in the place of something else is the divergence itself.
        return Inputs(alone=places)
    are_swapped = are_in_another_order(row[0], other_row[0])
    layout = layout_of(*moved) if moved and not are_swapped else None
    # The other side may have as settings what are constants here.
    constants = [] if any(it.kind != "constant" for it in own or others) else own or others
    return Inputs(
        alone=places,
        constants=tuple(reading(it.value) for it in constants),
        are_observed=not (reads_unobserved(*rows) or reads_unobserved(*rows[::-1])),
        are_swapped=are_swapped,
        rearranged=Rearranged(both(moved[0].node, moved[1].node), layout)
        if moved and layout
        else None,
    )


def _read_in_another_order(
    row: list[Vertex], other_row: list[Vertex]
) -> tuple[OutputValue, OutputValue] | None:
    """The first of what two rows read whose numbers lie in another order on the other side."""
    read = rearranged_input(row[0], other_row[0])
    if read:
        return read
    # What has no counterpart, but numbers that the other row reads in another order.
    read_there = read_from_outside(other_row)
    for value in read_from_outside(row):
        equal = [other for other in read_there if value.agrees(other)]
        for other in equal:
            counterparts = value.node.origin.counterpart, other.node.origin.counterpart
            if None in counterparts and all(layout_of(value, it) for it in equal):
                return value, other
    return None


def _putting_in_order(value: OutputValue) -> set[Vertex]:
    """The ops that put numbers in the order in which they are read, with those of one side alone before."""
    steps = [it.node for it in back_to_origin(value.node.value)]
    waiting = [step for step in (steps[:-1] or steps)[::-1] if step.is_work]
    passed: set[Vertex] = set()
    while waiting and len(passed) < MOST_BEHIND:
        node = waiting.pop()
        passed.add(node)
        waiting += [it for it in node.work_read if it.is_free and it.origin.counterpart is None]
    return passed


# Where equal numbers come to lie in another order


def parting_of_order(node: Vertex, other: Vertex) -> tuple[Vertex, Vertex] | None:
    """The earliest counterparts behind two nodes whose numbers are equal and in another order.

    What they read lies in one order on both sides. None where the two nodes themselves read their
    inputs in one order, or as other arguments.
    """
    parting = None
    while not are_in_another_order(node, other):
        read = rearranged_input(node, other)
        if not read:
            break
        node, other = read[0].node.origin, read[1].node.origin
        if not (node.is_work and other.is_work):
            break  # a leaf that lies in another order is reported beside its reader
        if layout_of(node.value, other.value) is None:
            # What made the numbers left them alike: a step that passes them on has moved them.
            return _mover(read[0].node), _mover(read[1].node)
        parting = node, other
    return parting


def are_put_back(node: Vertex, other: Vertex) -> bool:
    """Whether one of two sides puts equal numbers in the order in which the other one has them at once."""
    for maker, there in ((node, other), (other, node)):
        passed, held = [maker], there.value
        for behind in passed:
            for user in behind.users_in_phase:
                is_mover = user.family in MOVERS or user.is_bookkeeping
                if is_mover and user not in passed and len(passed) < FEW:
                    passed.append(user)
        for value in (mover.value for mover in passed[1:]):
            # In another shape nothing is known of the order.
            is_known = value.whole and held.whole and value.shape == held.shape
            if is_known and value.agrees(held) and not layout_of(value, held):
                return True
    return False


def are_in_another_order(left: Vertex, right: Vertex) -> bool:
    """Whether two nodes read the same quantities as other arguments."""
    wanted, origins = [origin.counterpart for origin in left.origins], right.origins
    is_one_set = len(wanted) == len(origins) and set(wanted) == set(origins)
    return is_one_set and wanted != origins


def rearranged_input(node: Vertex, other: Vertex) -> tuple[OutputValue, OutputValue] | None:
    """The first input of a node whose numbers lie in another order on the other side.

    What goes into steps without a counterpart, which lead to the node, is an input too: the other
    side may take these inside itself.
    """
    for value, other_value in product(_read_by(node), _read_by(other)):
        # What one node yields may be several values: halves of what it takes apart.
        is_made_alike = value.node.origin.counterpart is other_value.node.origin
        is_behind = value.node.rank < node.rank  # on a cycle it need not be
        if not is_behind or not is_made_alike or value.agrees(other_value) is not True:
            continue
        if are_put_back(value.node, other_value.node):
            continue
        # Two products with a weight may read rows of other numbers, of which each becomes a row.
        are_products = _multiplies(node, value) and _multiplies(other, other_value)
        if layout_of(value, other_value) or (are_products and have_other_rows(value, other_value)):
            return value, other_value
    return None


def _multiplies(node: Vertex, value: OutputValue) -> bool:
    """Whether a node is the product of a value that it reads, which is no parameter, and of one."""
    is_of_weight = any(origin.kind == "parameter" for origin in node.origins)
    is_product = node.family == "matmul" and is_of_weight and value in node.inputs
    return is_product and value.node.origin.kind != "parameter"


def _read_by(node: Vertex) -> Iterator[OutputValue]:
    """What a node reads, and what the steps without a counterpart that lead to it read."""
    read = node.inputs[:FEW]
    for value in islice(read, FEW):
        yield value
        if value.node.is_work and value.node.is_free and not value.node.origin.counterpart:
            read += value.node.inputs


def _mover(node: Vertex) -> Vertex:
    """Of the steps that pass numbers on to a node, the first that puts them in another order.

    The first of all where each step keeps the order.
    """
    steps = [value.node for value in back_to_origin(node.value)][::-1]
    for before, after in pairwise(steps):
        value, moved = before.value, after.value
        beside = elements_beside(value, moved) if value.size == moved.size else None
        if beside is not None and not np.array_equal(*beside):
            return after
    return steps[1] if len(steps) > 1 else node
