"""What is tried with several ops in a row: one of them changed, or two in the opposite order."""

from collections.abc import Iterator
from typing import NamedTuple

from explorer.compare.causes.input_trials import op_label
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.causes import InputChange, Trial
from explorer.model.families import family
from explorer.model.graph import Arguments, Node

NORMS = frozenset({"layernorm", "groupnorm"})
"""Families of norms that are the same where one axis is left."""

MOST_BETWEEN = 2
"""So many ops may stand between two that are in the opposite order."""

MOST_OPS = 8
"""Longer rows are not tried."""


def members(row: list[Node]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The ops of a row, each with those behind it."""
    if len(row) <= MOST_OPS:
        for place, node in enumerate(row):
            yield node, tuple(later.id for later in row[place + 1 :])


class Exchanged(NamedTuple):
    """Two ops in the opposite order: the trials, one for each input of the first, and both second ops."""

    trials: list[Trial]
    second: Node
    other_second: Node


def exchanged(
    here: GraphView, own_row: list[Node], there: GraphView, row: list[Node]
) -> Exchanged | None:
    """Two ops in the opposite order, where the other side has them so; a few may stand between them.

    None where the two sides do not have the same two kinds of ops: the other one has them as the ends
    of ``row``, as its only op and the one behind it, or as its only op and the one before it. Of two ops
    which the other side writes out in more, any kinds are tried.
    """
    node = own_row[0]
    before: Node | None = node
    for _ in range(MOST_BETWEEN + 1):
        second = here.next_op(before, MOVES) if before else None
        if second is not None and before is not None and _kind(node) != _kind(second):
            other_second = _second(there, row, (_kind(second), _kind(node)))
            if other_second is not None:
                return _exchange(here, node, before, second, other_second)
        before = second
    if len(own_row) == 2 < len(row) and here.next_op(node, MOVES) is own_row[1]:
        return _exchange(here, node, node, own_row[1], row[-1])
    return None


def _exchange(
    here: GraphView, node: Node, before: Node, second: Node, other_second: Node
) -> Exchanged:
    """An op, with ``before`` as the last one ahead of it, computed from what ``node`` reads instead."""
    slots = [edge.input for edge in here.into(second) if here.is_handed_on(edge.origin, before)]
    trials = []
    for read in here.into(node) if slots else ():
        ahead = InputChange(
            (slots[0],), "ahead", node=read.origin, output=read.output, label=op_label(node)
        )
        trials += [
            Trial(second.id, inputs=(ahead,), then=(node.id,), then_arguments=changed)
            for changed in ({}, *_numbers_of(other_second, node))
        ]
    return Exchanged(trials, second, other_second)


def _second(flow: GraphView, row: list[Node], kinds: tuple[str, str]) -> Node | None:
    """The second of two ops of some kinds in a row, or around its only op."""
    if len(row) > 1:
        seconds = [it for it in row[1:] if _kinds(row[0], it) == kinds]
        return seconds[-1] if seconds else None
    (node,) = row
    behind = flow.next_op(node, MOVES)
    if _kinds(node, behind) == kinds:
        return behind
    return node if _kinds(flow.previous_op(node, MOVES), node) == kinds else None


def _kinds(first: Node | None, second: Node | None) -> tuple[str, str]:
    return _kind(first) if first else "", _kind(second) if second else ""


def _kind(node: Node) -> str:
    """The family of an op; one for all norms, which are the same where one axis is left.

    The maximum of a value and 0 is relu.
    """
    found = family(node.op)
    if found == "max" and 0.0 in node.arguments.values():
        return "relu"
    return "norm" if found in NORMS else found


def _numbers_of(other: Node, node: Node) -> Iterator[Arguments]:
    """Each number of a node, such as its eps, with those of another one in its place."""
    for name, own in node.arguments.items():
        for value in other.arguments.values():
            if isinstance(own, float) and isinstance(value, float) and value != own:
                yield {name: value}
