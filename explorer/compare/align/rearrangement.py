"""Where equal numbers come to lie in another order, behind two ops that read them so."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from explorer.compare.align.matching import Matching
from explorer.compare.align.sameness import elements
from explorer.compare.align.suspects import same_work
from explorer.compare.align.vertices import OutputValue, Vertex, in_order
from explorer.compare.graphs.view import reach

MOVERS = frozenset({"slice", "concat", "flip"})
"""Families that put numbers elsewhere and make no new ones, beside those that keep books."""

FEW = 16
"""The number of values that are looked at before a node; more are no expression of one line."""


def parting_of_order(
    matching: Matching, node: Vertex, other: Vertex
) -> tuple[Vertex, Vertex] | None:
    """The earliest counterparts behind two nodes whose numbers are equal and in another order.

    What they read lies in one order on both sides. None where the two nodes themselves read their
    inputs in one order, or as other arguments.
    """
    found = None
    if are_in_another_order(node, other):
        return None
    read = rearranged_input(matching, node, other)
    while read:
        value, other_value = read
        maker, other_maker = value.node.origin, other_value.node.origin
        if not (maker.is_work and other_maker.is_work):
            return found  # a leaf that lies in another order is reported beside its reader
        if matching.tolerance.layout(maker.value, other_maker.value) is None:
            # What made the numbers left them alike: a step that passes them on has moved them.
            return _mover(value.node), _mover(other_value.node)
        found = maker, other_maker
        if are_in_another_order(maker, other_maker):
            return found
        read = rearranged_input(matching, maker, other_maker)
    return found


def swapped_before(matching: Matching, nodes: Iterable[Vertex]) -> tuple[Vertex, Vertex] | None:
    """The earliest op before ``nodes`` that puts equal inputs together in another order.

    It pairs with its counterpart, since both hold the same numbers; what takes them apart again no
    longer does.
    """
    before = reach(nodes, lambda node: [feeder for feeder in node.feeders if feeder.is_work])
    for node in in_order(before):
        other = node.partner
        if other is None or not same_work(node, other):
            continue
        moved = matching.tolerance.layout(node.value, other.value) is not None
        is_other_order = moved and are_in_another_order(node, other)
        if is_other_order and not are_put_back(matching, node, other):
            return node, other
    return None


def are_put_back(matching: Matching, node: Vertex, other: Vertex) -> bool:
    """Whether one of two sides puts equal numbers in the order in which the other one has them at once."""
    return any(_is_moved_back(matching, *pair) for pair in ((node, other), (other, node)))


def _is_moved_back(matching: Matching, node: Vertex, other: Vertex) -> bool:
    """Whether ops behind a node put its numbers in the order in which the other side has them at once."""
    passed = [node]
    for behind in passed:
        for user in behind.consumers:
            is_mover = user.family in MOVERS or user.is_bookkeeping
            if user.phase == node.phase and is_mover and user not in passed and len(passed) < FEW:
                passed.append(user)
    for mover in passed[1:]:
        value, held = mover.value, other.value
        is_known = value.whole is not None and held.whole is not None
        # In another shape nothing is known of the order.
        is_of_one_shape = is_known and value.shape == held.shape
        if (
            is_of_one_shape
            and value.agrees(held)
            and matching.tolerance.layout(value, held) is None
        ):
            return True
    return False


def are_in_another_order(left: Vertex, right: Vertex) -> bool:
    """Whether two nodes read the same quantities as other arguments."""
    wanted = [origin.counterpart for origin in left.origins]
    origins = right.origins
    if None in wanted or len(set(wanted)) < 2 or len(wanted) != len(origins):
        return False
    return wanted != origins and set(wanted) == set(origins)


def rearranged_input(
    matching: Matching, node: Vertex, other: Vertex
) -> tuple[OutputValue, OutputValue] | None:
    """The first input of a node whose numbers lie in another order on the other side.

    What goes into steps without a counterpart, which lead to the node, is an input too: the other
    side may take these inside itself.
    """
    for value in _read_by(node):
        for other_value in _read_by(other):
            # What one node yields may be several values: halves of what it takes apart.
            is_made_alike = value.node.origin.counterpart is other_value.node.origin
            is_behind = value.node.rank < node.rank  # on a cycle it need not be
            if not is_behind or not is_made_alike or value.agrees(other_value) is not True:
                continue
            if are_put_back(matching, value.node, other_value.node):
                continue
            if matching.tolerance.layout(value, other_value) or _are_other_rows(
                matching, (node, other), (value, other_value)
            ):
                return value, other_value
    return None


def _are_other_rows(
    matching: Matching, nodes: tuple[Vertex, Vertex], read: tuple[OutputValue, OutputValue]
) -> bool:
    """Whether two products with a weight read rows of other numbers, of which each becomes a row."""
    for node, value in zip(nodes, read, strict=True):
        is_of_weight = any(origin.kind == "parameter" for origin in node.origins)
        if node.family != "matmul" or not is_of_weight or value not in node.inputs:
            return False
        if value.node.origin.kind == "parameter":
            return False
    return matching.tolerance.have_other_rows(*read)


def _read_by(node: Vertex) -> Iterator[OutputValue]:
    """What a node reads, and what the steps without a counterpart that lead to it read."""
    waiting = deque(node.inputs[:FEW])
    for _ in range(FEW):
        if not waiting:
            return
        value = waiting.popleft()
        yield value
        is_step = value.node.is_work and value.node.is_free and not value.node.origin.counterpart
        if is_step:
            waiting.extend(value.node.inputs)


def _mover(node: Vertex) -> Vertex:
    """Of the steps that pass numbers on to a node, the first that puts them in another order.

    The first of all where each step keeps the order.
    """
    steps = passing_on(node)
    for before, after in pairwise(steps):
        value, moved = before.value, after.value
        are_known = value.whole is not None and moved.whole is not None and value.size == moved.size
        if are_known and not np.array_equal(elements(value.whole), elements(moved.whole)):
            return after
    return steps[1] if len(steps) > 1 else node


def passing_on(node: Vertex) -> list[Vertex]:
    """What made the numbers of a node, and the steps that pass them on to it, itself the last."""
    steps = [node]
    while steps[-1] is not node.origin:
        passed_on = [feeder for feeder in steps[-1].feeders if feeder.origin is node.origin]
        steps.append(passed_on[0])
    return steps[::-1]
