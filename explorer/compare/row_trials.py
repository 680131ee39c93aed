"""What is tried with several ops in a row: one of them changed, or two in the opposite order."""

from collections.abc import Iterator

from explorer.compare.input_trials import op_label
from explorer.compare.related import next_op
from explorer.model.causes import InputChange, Trial
from explorer.model.families import family
from explorer.model.graph import Arguments, GradGraph, Node

NORMS = frozenset({"layernorm", "groupnorm"})

MOST_OPS = 8
"""Longer rows are not tried."""


def members(row: list[Node]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The ops of a row, each with those behind it."""
    if len(row) <= MOST_OPS:
        for place, node in enumerate(row):
            yield node, tuple(later.id for later in row[place + 1 :])


def exchanged(
    here: GradGraph, node: Node, there: GradGraph, other: Node
) -> tuple[list[Trial], Node, Node] | None:
    """Two ops in the opposite order, where the other side has them so.

    The trials, one for each input, the second op of this side, and the second of the other one. None
    where the two sides do not have the same two kinds of ops.
    """
    second, other_second = _next(here, node), _next(there, other)
    if second is None or other_second is None:
        return None
    kinds = _kind(node), _kind(second)
    if kinds[0] == kinds[1] or kinds != (_kind(other_second), _kind(other)):
        return None
    flow = [edge for edge in here.edges if edge.kind != "control"]
    slots = [edge.input for edge in flow if (edge.origin, edge.target) == (node.id, second.id)]
    trials = []
    for read in flow:
        if read.target == node.id and slots:
            ahead = InputChange(
                (slots[0],), "ahead", node=read.origin, output=read.output, label=op_label(node)
            )
            for changed in ({}, *_numbers_of(other_second, node)):
                trial = Trial(second.id, inputs=(ahead,), then=(node.id,), then_arguments=changed)
                trials.append(trial)
    return trials, second, other_second


def _next(graph: GradGraph, node: Node) -> Node | None:
    """The only op that computes from a node; what only puts axes into another order is passed."""
    behind = next_op(graph, node)
    while behind is not None and family(behind.op) == "transpose":
        behind = next_op(graph, behind)
    return behind


def _kind(node: Node) -> str:
    """The family of an op; one for all norms, which are the same where one axis is left."""
    found = family(node.op)
    return "norm" if found in NORMS else found


def _numbers_of(other: Node, node: Node) -> Iterator[Arguments]:
    """Each number of a node, such as its eps, with those of another one in its place."""
    for name, own in node.arguments.items():
        for value in other.arguments.values():
            if isinstance(own, float) and isinstance(value, float) and value != own:
                yield {name: value}
