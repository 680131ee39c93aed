"""What is tried with several ops in a row: one of them changed, or two in the opposite order."""

from collections.abc import Iterator

from explorer.compare.input_trials import op_label
from explorer.compare.related import next_op
from explorer.model.causes import InputChange, Trial
from explorer.model.families import family
from explorer.model.graph import Arguments, GradGraph, Node

NORMS = frozenset({"layernorm", "groupnorm"})
"""Families of norms that are the same where one axis is left."""

MOVES = frozenset({"reshape", "transpose"})
"""Families that only move numbers."""

MOST_OPS = 8
"""Longer rows are not tried."""


def members(row: list[Node]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """The ops of a row, each with those behind it."""
    if len(row) <= MOST_OPS:
        for place, node in enumerate(row):
            yield node, tuple(later.id for later in row[place + 1 :])


def exchanged(
    here: GradGraph, node: Node, there: GradGraph, row: list[Node]
) -> tuple[list[Trial], Node, Node] | None:
    """Two ops in the opposite order, where the other side has them so.

    The trials, one for each input, the second op of this side, and the second of the other one. None
    where the two sides do not have the same two kinds of ops: the other one has them as the ends of
    ``row``, as its only op and the one behind it, or as its only op and the one before it.
    """
    second = _next(here, node)
    if second is None or _kind(node) == _kind(second):
        return None
    other_second = _second(there, row, (_kind(second), _kind(node)))
    if other_second is None:
        return None
    flow = [edge for edge in here.edges if edge.kind != "control"]
    slots = [
        edge.input
        for edge in flow
        if edge.target == second.id and _is_before(here, edge.origin, node)
    ]
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


def _is_before(graph: GradGraph, origin: str, node: Node) -> bool:
    """Whether what an op reads is a node, or its numbers moved."""
    nodes = graph.by_id()
    seen = set()
    while origin != node.id and origin not in seen:
        seen.add(origin)
        before = [edge.origin for edge in graph.edges if edge.target == origin]
        if family(nodes[origin].op) not in MOVES or not before:
            return False
        origin = before[0]
    return origin == node.id


def _second(graph: GradGraph, row: list[Node], kinds: tuple[str, str]) -> Node | None:
    """The second of two ops of some kinds in a row, or around its only op."""
    if len(row) > 1:
        return row[-1] if _kinds(row[0], row[-1]) == kinds else None
    behind, before = _next(graph, row[0]), _previous(graph, row[0])
    if _kinds(row[0], behind) == kinds:
        return behind
    return row[0] if _kinds(before, row[0]) == kinds else None


def _kinds(first: Node | None, second: Node | None) -> tuple[str, str]:
    return _kind(first) if first else "", _kind(second) if second else ""


def _previous(graph: GradGraph, node: Node) -> Node | None:
    """The only op that an op computes from in its phase; what only moves numbers is passed."""
    nodes = graph.by_id()
    for _ in graph.nodes:
        before = [nodes[edge.origin] for edge in graph.edges if edge.target == node.id]
        ops = [it for it in before if it.kind == "op" and it.phase == node.phase]
        if len(ops) != 1:
            return None
        (node,) = ops
        if family(node.op) not in MOVES:
            return node
    return None


def _next(graph: GradGraph, node: Node) -> Node | None:
    """The only op that computes from a node; what only puts axes into another order is passed."""
    behind = next_op(graph, node)
    for _ in graph.nodes:
        if behind is None or family(behind.op) not in MOVES:
            return behind
        behind = next_op(graph, behind)
    return None


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
