"""The same numbers put elsewhere on the way to two values that should be equal: where the ways part."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from explorer.compare.causes.relations import (
    WITH_LAYOUTS,
    Found,
    Surroundings,
    are_rearranged,
    relations_of,
)
from explorer.compare.causes.rows import at_place, rows_at
from explorer.compare.causes.value_pairs import ValuePair, are_same, cause_by
from explorer.compare.graphs.sameness import numbers_of, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence, ExtraOps, OtherValue, ResultElsewhere
from explorer.model.graph import Node, SideName
from explorer.operators.families import family

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
        waiting = [node for node in waiting if node is not latest]
        waiting += {read.id: read for read in reads}.values()
        reached.update(read.id for read in reads)
        if len(waiting) == 1:
            if size_of(waiting[0]) != size_of(end):
                break
            nodes.append(waiting[0])
    return Chain(tuple(reversed(nodes)))


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


# Where two chains part


def rearranged_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Where the same numbers are put elsewhere on the way to the values at a divergence."""
    for node, other in ends_of_chains(divergence, left, right):
        if _are_rearranged(node, other):
            chains = chain_to(left, node), chain_to(right, other)
            shapes = tuple(it.outputs[0].shape for chain in chains for it in chain.nodes)
            around = Surroundings(shapes=shapes)
            for pair in _parted(chains, (left, right), around):
                found = _layout(pair.node, pair.other, around)
                if found:
                    return cause_by(found, pair)
    return None


def _parted(
    chains: tuple[Chain, Chain], flows: tuple[GraphView, GraphView], around: Surroundings
) -> Iterator[ValuePair]:
    """Values of two chains that may follow from one another, what says most of them first.

    One has ops too many behind the other's end; or they part at two values behind which they do the
    same; or their ends part, or one end and what the other chain begins with.
    """
    ends = chains[0].end, chains[1].end
    sides: tuple[SideName, ...] = ("left", "right")
    for side, flow, chain, other in zip(sides, flows, chains, ends[::-1], strict=True):
        for place in reversed(range(len(chain.nodes) - 1)):
            if are_same(chain.nodes[place], other):
                node, moved = chain.nodes[place], _moving(chain.nodes[place:])
                yield ValuePair(side, flow, flow, node, moved, is_extra=True)
                return
    for pair in pairs_between(*chains):
        if _go_on_alike(pair, ends, around):
            yield from _both_ways(*pair, flows)
            break
    yield from _both_ways(*ends, flows)
    left, right = flows
    yield ValuePair("left", left, right, chains[0].base, ends[1])
    yield ValuePair("right", right, left, chains[1].base, ends[0])


def _moving(nodes: Sequence[Node]) -> Node:
    """The op that puts the numbers of the first of some nodes where those of the last are, or the last."""
    first, last = nodes[0], nodes[-1]
    for node in nodes[1:]:
        if not are_same(node, first):
            return node if are_same(node, last) else last
    return last


def _both_ways(
    node: Node, other: Node, flows: tuple[GraphView, GraphView]
) -> tuple[ValuePair, ValuePair]:
    left, right = flows
    return ValuePair("left", left, right, node, other), ValuePair("right", right, left, other, node)


def _are_rearranged(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers, and not in one order."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or are_same(node, other):
        return False
    return are_rearranged(own, target, room_of(node.outputs[0], other.outputs[0]))


def _go_on_alike(pair: tuple[Node, Node], ends: tuple[Node, Node], around: Surroundings) -> bool:
    """Whether two values differ, and the same is done to both on the way to the ends."""
    if not _are_rearranged(*pair):
        return False
    first, second = (_layout(node, end, around) for node, end in zip(pair, ends, strict=True))
    return first is not None and second is not None and first.edits == second.edits


def _layout(node: Node, other: Node, around: Surroundings) -> Found | None:
    """In which layout a value has the numbers of another one."""
    one, second = node.outputs[0], other.outputs[0]
    own, target = numbers_of(one), numbers_of(second)
    if own is None or target is None:
        return None
    return next(relations_of(own, target, room_of(one, second), around, WITH_LAYOUTS), None)
