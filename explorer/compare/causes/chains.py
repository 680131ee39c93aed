"""Ops in a row that only put numbers elsewhere: where two such rows, which end in another order, part."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from explorer.compare.causes.places import at_place, rows_at
from explorer.compare.graphs.view import GraphView
from explorer.model.divergence import Divergence, ExtraOps, OtherValue, ResultElsewhere
from explorer.model.families import family
from explorer.model.graph import Node

PLACING = frozenset(
    {
        "reshape",
        "transpose",
        "slice",
        "concat",
        "roll",
        "flip",
        "reversev2",
        "reverse",
        "identity",
        "split",
        "chunk",
        "tuple",
    }
)
"""Families of ops of which every number that is given has been read."""

TURNING = ("transpose_a", "transpose_b")
"""Arguments by which an op reads a matrix the other way round."""

MOST_OPS = 24
"""So many ops of a chain are followed."""


class Chain(NamedTuple):
    """Values in a row that hold the same numbers, from what computes them to the last.

    The first, the ``base``, is what an op of another kind makes, or a leaf.
    """

    nodes: tuple[Node, ...]

    @property
    def base(self) -> Node:
        """What the numbers are of."""
        return self.nodes[0]

    @property
    def end(self) -> Node:
        """Where they are in the end."""
        return self.nodes[-1]


def chain_to(flow: GraphView, end: Node) -> Chain:
    """The values that hold all numbers of ``end``, from the one that computes them on.

    Parts of a value, which are put together again, are passed over.
    """
    nodes, waiting, reached = [end], [end], {end.id}
    for _ in range(MOST_OPS):
        # The last of all that is read: what it is made of may be read behind it once more.
        latest = max(waiting, key=lambda node: node.order)
        if not is_placing(latest):
            break
        reads = [it for it in flow.origins(latest) if it.id not in reached]
        waiting = [node for node in waiting if node is not latest] + _different(reads)
        reached.update(read.id for read in reads)
        if len(waiting) == 1:
            if size_of(waiting[0]) != size_of(end):
                break
            nodes.append(waiting[0])
    return Chain(tuple(reversed(nodes)))


def _different(nodes: list[Node]) -> list[Node]:
    return list({node.id: node for node in nodes}.values())


def is_placing(node: Node) -> bool:
    """Whether an op puts numbers elsewhere and changes none."""
    return node.kind == "op" and family(node.op) in PLACING


def size_of(node: Node) -> int:
    """How many elements a node's first value has; 0 where it has none."""
    return math.prod(node.outputs[0].shape) if node.outputs else 0


def pairs_between(left: Chain, right: Chain) -> Iterator[tuple[Node, Node]]:
    """A node of each of two chains, with values of one shape, the earliest ones first; not both ends."""
    for one in left.nodes[1:]:
        for other in right.nodes[1:]:
            is_end = one is left.end and other is right.end
            if not is_end and one.outputs[0].shape == other.outputs[0].shape:
                yield one, other


def ends_of_chains(
    divergence: Divergence, left: GraphView, right: GraphView
) -> Iterator[tuple[Node, Node]]:
    """A node of each side whose values should be equal, and may hold the same numbers elsewhere."""
    for node, other in _ends(divergence, left, right):
        if size_of(node) == size_of(other) > 1:
            yield _last(left, node), _last(right, other)


def _last(flow: GraphView, node: Node) -> Node:
    """Where the numbers of a node are put in the end, as far as nothing else reads them on the way."""
    for _ in range(MOST_OPS):
        behind = flow.next_op(node, frozenset())
        if behind is None or not is_placing(behind) or size_of(behind) != size_of(node):
            break
        node = behind
    return node


def _ends(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[tuple[Node, Node]]:
    if divergence.phase != "forward":
        return
    if isinstance(divergence, ExtraOps):
        yield from _of_extra_ops(divergence, left, right)
        return
    if isinstance(divergence, ResultElsewhere):
        first, second = divergence.nodes
        if first is not None and second is not None and not divergence.do_correspond:
            yield from _inputs_of(left, left.nodes[first], right, right.nodes[second])
        return
    rows = rows_at(divergence, left, right) if isinstance(divergence, OtherValue) else None
    if rows is not None:
        yield rows[0][-1], rows[1][-1]
        yield from _inputs_of(left, rows[0][-1], right, rows[1][-1])


def _of_extra_ops(
    divergence: ExtraOps, left: GraphView, right: GraphView
) -> Iterator[tuple[Node, Node]]:
    """What a row of ops makes, and what the op reads with which the other side goes on."""
    is_left = divergence.side == "left"
    here, there = (left, right) if is_left else (right, left)
    last = divergence.nodes[0 if is_left else 1]
    other = at_place(there, divergence.goes_on) if divergence.goes_on else None
    if last is None or other is None:
        return
    node = here.nodes[last]
    for read in there.origins(other):
        if read.outputs:
            yield (node, read) if is_left else (read, node)


def _inputs_of(
    left: GraphView, node: Node, right: GraphView, other: Node
) -> Iterator[tuple[Node, Node]]:
    """What two ops of one family read in the same places, one by one."""
    if family(node.op) != family(other.op) or _turns(node) != _turns(other):
        return
    ours, theirs = left.origins(node), right.origins(other)
    if len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)


def _turns(node: Node) -> bool:
    """Whether an op itself puts elsewhere what it reads."""
    return any(node.arguments.get(name) is True for name in TURNING)
