"""The same numbers put elsewhere on the way to two values that should be equal: where the ways part."""

import math
from collections.abc import Iterator
from itertools import product

from explorer.compare.causes.relations import Found, Surroundings, are_rearranged
from explorer.compare.causes.rows import at_place, rows_at, sided
from explorer.compare.causes.value_pairs import ValuePair, are_same, cause_by, relation
from explorer.compare.graphs.sameness import numbers_of, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause
from explorer.model.divergence import Divergence, ExtraOps, OtherValue, ResultElsewhere
from explorer.model.graph import OTHER, Node
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

Chain = list[Node]
"""Values in a row that hold the same numbers: the first is what an op of another kind makes, or a leaf."""


def rearranged_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Where the same numbers are put elsewhere on the way to the values at a divergence."""
    for node, other in _ends(divergence, left, right):
        if not _size_of(node) == _size_of(other) > 1:
            continue
        chains = _chain_of(left, node), _chain_of(right, other)
        if _are_rearranged(chains[0][-1], chains[1][-1]):
            shapes = tuple(it.outputs[0].shape for chain in chains for it in chain)
            around = Surroundings(shapes=shapes)
            for pair in _parted(chains, (left, right), around):
                found = relation(pair, around)
                if found:
                    return cause_by(found, pair)
    return None


def _ends(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[tuple[Node, Node]]:
    """A node of each side whose values should be equal, and may hold the same numbers elsewhere."""
    if divergence.phase != "forward":
        return
    if isinstance(divergence, ExtraOps):
        # What a row of ops makes, and what the op reads with which the other side goes on.
        _, there, last = sided(divergence, left, right)
        goes_on = at_place(there, divergence.goes_on) if divergence.goes_on else None
        for read in there.origins(goes_on) if last and goes_on else ():
            if last and read.outputs:
                yield (last, read) if divergence.side == "left" else (read, last)
        return
    is_value = isinstance(divergence, OtherValue)
    is_result = isinstance(divergence, ResultElsewhere) and not divergence.do_correspond
    rows = rows_at(divergence, left, right) if is_value or is_result else None
    if rows is None:
        return
    node, other = rows[0][-1], rows[1][-1]
    if is_value:
        yield node, other
    # What two ops of one family read in the same places, one by one, if neither alone turns it.
    turns = [any(it.arguments.get(name) is True for name in TURNING) for it in (node, other)]
    ours, theirs = left.origins(node), right.origins(other)
    if family(node.op) == family(other.op) and turns[0] == turns[1] and len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)


def _size_of(node: Node) -> int:
    """How many elements a node's first value has; 0 where it has none."""
    return math.prod(node.outputs[0].shape) if node.outputs else 0


def _is_placing(node: Node) -> bool:
    """Whether an op puts numbers elsewhere and changes none."""
    return node.kind == "op" and family(node.op) in PLACING


def _chain_of(flow: GraphView, end: Node) -> Chain:
    """The values that hold all numbers of a node, from the one that computes them to the last.

    That is as far as nothing else reads them on the way. Parts of a value, which are put together again,
    are passed over.
    """
    for _ in range(MOST_OPS):
        behind = flow.next_op(end, frozenset())
        if behind is None or not _is_placing(behind) or _size_of(behind) != _size_of(end):
            break
        end = behind
    nodes, waiting, reached = [end], [end], {end.id}
    for _ in range(MOST_OPS):
        # The last of all that is read: what it is made of may be read behind it once more.
        latest = max(waiting, key=lambda node: node.order)
        if not _is_placing(latest):
            break
        reads = [it for it in flow.origins(latest) if it.id not in reached]
        waiting = [node for node in waiting if node is not latest]
        waiting += {read.id: read for read in reads}.values()
        reached.update(read.id for read in reads)
        if len(waiting) == 1:
            if _size_of(waiting[0]) != _size_of(end):
                break
            nodes.append(waiting[0])
    return nodes[::-1]


def _are_rearranged(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers, and not in one order."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or are_same(node, other):
        return False
    return are_rearranged(own, target, room_of(node.outputs[0], other.outputs[0]))


def _parted(
    chains: tuple[Chain, Chain], flows: tuple[GraphView, GraphView], around: Surroundings
) -> Iterator[ValuePair]:
    """Values of two chains that may follow from one another, what says most of them first.

    One has ops too many behind the other's end; or they part at two values behind which they do the
    same; or their ends part, or one end and what the other chain begins with.
    """
    ends = chains[0][-1], chains[1][-1]
    pair = ValuePair("left", *flows, *ends, at="layout")
    for side, flow, chain, other in zip(OTHER, flows, chains, ends[::-1], strict=True):
        for place in reversed(range(len(chain) - 1)):
            if are_same(chain[place], other):
                # The op that puts the numbers where those of the last are, or the last.
                node, *behind = chain[place:]
                moved = next((it for it in behind if not are_same(it, node)), behind[-1])
                if not are_same(moved, behind[-1]):
                    moved = behind[-1]
                yield ValuePair(side, flow, flow, node, moved, is_extra=True, at="layout")
                return

    def onwards(node: Node, end: Node) -> Found | None:
        """What is done to a value on the way to the end."""
        return relation(pair._replace(node=node, other=end), around)

    for node, other in product(chains[0][1:], chains[1][1:]):
        is_end = node is ends[0] and other is ends[1]
        if is_end or node.outputs[0].shape != other.outputs[0].shape:
            continue
        if _are_rearranged(node, other):
            first, second = onwards(node, ends[0]), onwards(other, ends[1])
            if first and second and first.edits == second.edits:
                yield from pair._replace(node=node, other=other).both_ways()
                break
    yield from pair.both_ways()
    yield pair._replace(node=chains[0][0])
    yield pair._replace(other=chains[1][0]).both_ways()[1]
