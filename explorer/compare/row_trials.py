"""What is tried with several ops in a row: one of them changed, or two in the opposite order."""

from collections.abc import Iterator

from explorer.compare.input_trials import label_of
from explorer.compare.related import next_op
from explorer.model.causes import InputChange, Trial
from explorer.model.families import family
from explorer.model.graph import GradGraph, Node

MOST_OPS = 8
"""Longer rows are not tried."""


def members(row: list[Node]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The ops of a row, each with those behind it."""
    if len(row) <= MOST_OPS:
        for place, node in enumerate(row):
            yield node, tuple(later.id for later in row[place + 1 :])


def exchanged(
    here: GradGraph, node: Node, there: GradGraph, other: Node
) -> tuple[Trial, Node, Node] | None:
    """Two ops in the opposite order, where the other side has them so.

    The trial, the second op of this side, and the second of the other one. None where the two sides
    do not have the same two kinds of ops.
    """
    second, other_second = next_op(here, node), next_op(there, other)
    if second is None or other_second is None:
        return None
    kinds = family(node.op), family(second.op)
    if kinds[0] == kinds[1] or kinds != (family(other_second.op), family(other.op)):
        return None
    flow = [edge for edge in here.edges if edge.kind != "control"]
    read = next((edge for edge in flow if edge.target == node.id and edge.input == 0), None)
    slots = [edge.input for edge in flow if (edge.origin, edge.target) == (node.id, second.id)]
    if read is None or not slots:
        return None
    ahead = InputChange(
        (slots[0],), "ahead", node=read.origin, output=read.output, label=label_of(node)
    )
    return Trial(second.id, inputs=(ahead,), then=(node.id,)), second, other_second
