"""What explains a divergence by recorded values alone, and between which of them it is looked for."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import msgspec

from explorer.compare.causes.choice import is_believed
from explorer.compare.causes.composites import (
    applied,
    of_functions,
    of_gradients,
    of_sums_and_means,
    tempered,
    with_values,
)
from explorer.compare.causes.relations import (
    ValuePair,
    are_rearranged,
    known_numbers,
    layouts,
    masked,
    plus,
    rounded_to,
    times,
    with_parts,
)
from explorer.compare.causes.rows import (
    COMMON,
    are_alike,
    are_no_counterparts,
    at_place,
    begin_other_formulas,
    does_the_same,
    elsewhere,
    goes_on_at,
    have_one_value,
    is_among,
    is_of_form,
    onwards,
    rows_at,
    sided,
    size_of,
)
from explorer.compare.graphs.sameness import noise_of, room_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.causes import LAYOUTS, Cause, InsertOperator, RemoveOperator
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherStart,
    OtherValue,
    ResultElsewhere,
    Rounded,
)
from explorer.model.graph import OTHER, Layer, Node, SideName
from explorer.operators.families import MASKING, family
from explorer.operators.table import TRIED

ENDS = (times, layouts, plus, applied, tempered, with_parts, rounded_to, masked)
"""How what two ops make may follow from one another, the simplest ways first."""

MOST_INSIDE = 32
"""In longer rows no two values are looked at but the last ones."""

NEAR = 4
"""So many ops of a row are compared with the one with which the other side goes on."""

CUTS = MOVES | {"slice", "cast"}
"""Families of ops between a mask and the op that reads it."""

TURNING = ("transpose_a", "transpose_b")
"""Arguments by which an op reads a matrix the other way round."""

MOST_OPS = 24
"""So many ops of a chain are followed."""


# Values of which one may follow from the other by an operator


def of_rounded(divergence: Rounded, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The value of the side that does not round, and what the other one goes on with."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    node = divergence.nodes[1 if divergence.side == "left" else 0]
    own, result = there.nodes[node] if node else None, here.nodes[divergence.result]
    if own and own.outputs and result.outputs:
        side, dtype = OTHER[divergence.side], divergence.dtypes[0]
        yield ValuePair(side, there, here, own, result, (rounded_to,), name=dtype)


def of_both(
    divergence: OtherValue | OtherStart, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """The last values of two rows of ops, or those of two leaves, either way round."""
    rows = rows_at(divergence, left, right)
    if rows is None or begin_other_formulas((left, rows[0]), (right, rows[1])):
        return
    if are_no_counterparts(divergence, left, right):
        return
    node, other = rows[0][-1], rows[1][-1]
    ends = ValuePair("left", left, right, node, other, ENDS).both_ways()
    if node.outputs and other.outputs:
        yield from ends
    if max(map(len, rows)) <= MOST_INSIDE:
        yield from with_values(rows, left, right, tempered)
    if max(map(len, rows)) > 1:
        for inner in rows[0]:
            yield from _beside_masks("left", left, inner, right)
    # Of two ops that read the same: what one makes of what it reads, where the op behind it is what the
    # other side has at once.
    elif isinstance(divergence, OtherValue):
        has_other_inputs = divergence.inputs.differing or all(divergence.inputs.alone)
        for pair in ends if not are_alike(node, other) and not has_other_inputs else ():
            if does_the_same(pair.here, pair.node, pair.other):
                yield from _made_of(pair.side, pair.here, pair.node, pair.here.origins(pair.node))


def _without_term(
    side: SideName, here: GraphView, node: Node, there: GraphView
) -> Iterator[ValuePair]:
    """What a sum or product makes of a node, and what the other side has that goes on as that does.

    There a term may be left out, or a factor, such as a mask.
    """
    user = here.next_op(node, frozenset())
    goes_on = here.next_op(user) if user and family(user.op) in COMMON else None
    if user is None or goes_on is None:
        return
    for other in there.graph.nodes:
        if is_of_form(other, user) and are_alike(there.next_op(other), goes_on):
            yield ValuePair(OTHER[side], there, here, other, user, (with_parts,))


def _made_of(
    side: SideName, flow: GraphView, node: Node, reads: Iterable[Node]
) -> Iterator[ValuePair]:
    """The value of a node, and what it reads that is as large."""
    for read in reads:
        if read.outputs and node.outputs and size_of(read) == size_of(node):
            yield ValuePair(side, flow, flow, read, node, ENDS, is_extra=True)


def of_extra_ops(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """What a row of ops makes of what it reads; both are of the side that has it."""
    here, there, node = sided(divergence, left, right)
    if node is None or divergence.gradients or divergence.is_between:
        return
    first = at_place(here, divergence.row.first)
    if first is not None:
        yield from _beside_masks(divergence.side, here, first, there)
    other = goes_on_at(divergence, here, node, there)
    # The other side is known to go on with an input only where this was read against the value. Else it may
    # go on with something as large instead.
    if divergence.gap.greatest is None:
        for own in (node, *onwards(here, node, NEAR - 1)) if other else ():
            if other and is_of_form(own, other):
                yield ValuePair(divergence.side, here, there, own, other, ENDS)
        yield from _without_term(divergence.side, here, node, there)
        return
    reads = here.read_by_row(node, divergence.row.count)
    if other is not None:
        # What that op reads, or makes.
        values = [other, *there.origins(other)]
        reads = [it for it in reads if is_among(it, values)]
        # What is only put elsewhere there may be what this side fills up: a shift that wraps around.
        for placed in [it for it in values[1:] if _is_placing(there, it)]:
            yield ValuePair(OTHER[divergence.side], there, here, placed, node, (masked,))
    yield from _made_of(divergence.side, here, node, reads)


def of_lone_leaf(divergence: LoneLeaf, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """Values of the other side of which one with the leaf added is what the leaf's user makes."""
    here, there, leaf = sided(divergence, left, right)
    if leaf is None:
        return
    reader = here.next_op(leaf, CUTS)
    if reader is not None:
        yield from _beside_constants(divergence.side, here, leaf, reader, there)
        yield from _beside_masks(divergence.side, here, reader, there)
    for node in (leaf, *onwards(here, leaf, NEAR, frozenset())):
        yield from _without_term(divergence.side, here, node, there)
    side, name = OTHER[divergence.side], divergence.name
    for edge in here.out_of(leaf):
        user = here.nodes[edge.target]
        for node in there.graph.nodes if user.kind == "op" else ():
            if is_of_form(node, user) and not does_the_same(there, node, user):
                yield ValuePair(side, there, here, node, user, (with_parts,), name=name)


def _beside_masks(
    side: SideName, here: GraphView, node: Node, there: GraphView
) -> Iterator[ValuePair]:
    """What is masked, and what the other side masks of an equal value."""
    if family(node.op) not in MASKING:
        return
    reads = [it for it in here.origins(node) if size_of(it) > 1]
    for other in there.graph.nodes:
        is_masking = is_of_form(other, node) and family(other.op) in MASKING
        if is_masking and any(is_among(read, there.origins(other)) for read in reads):
            yield from ValuePair(side, here, there, node, other, (masked,)).both_ways()


def _beside_constants(
    side: SideName, here: GraphView, leaf: Node, reader: Node, there: GraphView
) -> Iterator[ValuePair]:
    """A leaf of one side alone, such as a mask, and constants that ops of its reader's kind read there.

    They are as large, and in a module of the same name.
    """
    if not leaf.outputs:
        return
    behind = here.behind(leaf.id)
    # What is read is a part of the leaf where that is cut.
    (read,) = [it for it in here.origins(reader) if it.id in behind][:1]
    for node in there.graph.nodes:
        if (node.scope, family(node.op)) != (reader.scope, family(reader.op)):
            continue
        for constant in there.origins(node):
            if constant.kind == "constant" and size_of(constant) == size_of(read) > 1:
                yield from ValuePair(side, here, there, leaf, constant, ENDS, part=read).both_ways()


# Where the ways to two values that should be equal part

Chain = list[Node]
"""Values in a row that hold the same numbers: the first is what an op of another kind makes, or a leaf."""


def rearranged_pairs(
    divergence: Divergence, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """Where the same numbers are put elsewhere on the way to the values at a divergence."""
    for node, other in _ends(divergence, left, right):
        if size_of(node) == size_of(other) > 1:
            chains = _chain_of(left, node), _chain_of(right, other)
            if _hold_the_same(chains[0][-1], chains[1][-1]):
                yield from _parted(chains, (left, right))


def _ends(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[tuple[Node, Node]]:
    """A node of each side whose values should be equal, and may hold the same numbers elsewhere."""
    if divergence.phase != "forward":
        return
    if isinstance(divergence, ExtraOps):
        # What a row of ops makes, and what the op reads with which the other side goes on.
        here, there, last = sided(divergence, left, right)
        goes_on = goes_on_at(divergence, here, last, there) if last else None
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


def _is_placing(flow: GraphView, node: Node) -> bool:
    """Whether an op puts numbers elsewhere, repeats none and changes none."""
    if node.kind != "op" or family(node.op) != "expand":
        return node.kind == "op" and family(node.op) in TRIED.placing
    return all(size_of(it) == size_of(node) for it in flow.origins(node))


def _chain_of(flow: GraphView, end: Node) -> Chain:
    """The values that hold all numbers of a node, from the one that computes them to the last.

    That is as far as nothing else reads them on the way. Parts of a value, which are put together again,
    are passed over.
    """
    for _ in range(MOST_OPS):
        behind = flow.next_op(end, frozenset()) or _put_together(flow, end)
        if behind is None or not _is_placing(flow, behind) or size_of(behind) != size_of(end):
            break
        end = behind
    nodes, waiting, reached = [end], [end], {end.id}
    for _ in range(MOST_OPS):
        # The last of all that is read: what it is made of may be read behind it once more.
        latest = max(waiting, key=lambda node: node.order)
        if not _is_placing(flow, latest):
            break
        reads = [it for it in flow.origins(latest) if it.id not in reached]
        waiting = [node for node in waiting if node is not latest]
        waiting += {read.id: read for read in reads}.values()
        reached.update(read.id for read in reads)
        if len(waiting) == 1:
            if size_of(waiting[0]) != size_of(end):
                break
            nodes.append(waiting[0])
    return nodes[::-1]


def _put_together(flow: GraphView, node: Node) -> Node | None:
    """The op that puts all parts of a node together again, where nothing else reads it or one of them."""
    parts = [it for it in flow.readers(node) if it.phase == node.phase and it.kind != "output"]
    behind = [flow.next_op(it, frozenset()) for it in parts if _is_placing(flow, it)]
    joins = {it.id: it for it in behind if it}
    is_one = len(joins) == 1 and None not in behind and len(behind) == len(parts)
    return next(iter(joins.values())) if is_one else None


def _hold_the_same(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers, and not in one order."""
    own, target = known_numbers(node.outputs[0]), known_numbers(other.outputs[0])
    if not (own.size and target.size) or have_one_value(node, other):
        return False
    return are_rearranged(own, target, room_of(node.outputs[0], other.outputs[0]))


def _parted(chains: tuple[Chain, Chain], flows: tuple[GraphView, GraphView]) -> Iterator[ValuePair]:
    """Values of two chains that may follow from one another, what says most of them first.

    One has ops too many behind the other's end; or they part at two values behind which they do the
    same; or their ends part, or one end and what the other chain begins with.
    """
    ends = chains[0][-1], chains[1][-1]
    # As they stand here, and as the framework has them: with channels last.
    moved_by = [(flow, it) for flow, chain in zip(flows, chains, strict=True) for it in chain]
    shapes = tuple(it.outputs[0].shape for _, it in moved_by)
    shapes += tuple(flow.own_shape(it, it.outputs[0].shape) for flow, it in moved_by)
    pair = ValuePair("left", *flows, *ends, (layouts,), shapes=shapes)
    for side, flow, nodes, other in zip(OTHER, flows, chains, ends[::-1], strict=True):
        for place in reversed(range(len(nodes) - 1)):
            # Of one with channels last the op reads the numbers in another order than they stand here.
            shape = nodes[place].outputs[0].shape
            is_turned = flow.own_shape(nodes[place], shape) != shape
            if not is_turned and have_one_value(nodes[place], other):
                # The op that puts the numbers where those of the last are, or the last.
                node, *behind = nodes[place:]
                moved = next((it for it in behind if not have_one_value(it, node)), behind[-1])
                if not have_one_value(moved, behind[-1]):
                    moved = behind[-1]
                yield replace(
                    pair, side=side, here=flow, there=flow, node=node, other=moved, is_extra=True
                )
                return
    # An op that repeats what it reads puts it elsewhere too.
    begun = [chain[0 if family(chain[0].op) == "expand" else 1 :] for chain in chains]
    for node, other in product(*begun):
        is_end = node is ends[0] and other is ends[1]
        if is_end or node.outputs[0].shape != other.outputs[0].shape:
            continue
        if _hold_the_same(node, other):
            # What is done to both on the way to the ends.
            ways = zip((node, other), ends, strict=True)
            done = [replace(pair, node=it, other=end).follows() for it, end in ways]
            if done[0] and done[1] and done[0].edits == done[1].edits:
                yield from replace(pair, node=node, other=other).both_ways()
                break
    yield from pair.both_ways()
    yield replace(pair, node=chains[0][0])
    yield replace(pair, other=chains[1][0]).both_ways()[1]


# The cause of a divergence

PLAIN, MOVED, LAYOUT, OF_SEVERAL = range(1, 5)
"""How relations rank behind a number that is no chance: by another operator, by which op moves the numbers,
by that they are moved, and by more than one op or value."""

FINDERS: tuple[tuple[int, Any, Callable[[Any, GraphView, GraphView], Iterator[ValuePair]]], ...] = (
    (PLAIN, ExtraOps, of_extra_ops),
    (PLAIN, LoneLeaf, of_lone_leaf),
    (PLAIN, OtherValue | OtherStart, of_both),
    (PLAIN, Rounded, of_rounded),
    (MOVED, Divergence, rearranged_pairs),
    (OF_SEVERAL, ExtraOps, of_gradients),
    (OF_SEVERAL, ExtraOps | OtherValue, of_functions),
    (OF_SEVERAL, OtherValue, of_sums_and_means),
)
"""The values that may follow from one another at a divergence of a kind, and how what does then ranks."""


def related_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """How the values at a divergence follow from one another, by what says most; None where they do not."""
    best: Cause | None = None
    least = float("inf")
    for rank, kind, find in FINDERS:
        pairs = find(divergence, left, right) if isinstance(divergence, kind) else ()
        for cause in filter(None, map(cause_of_pair, pairs if rank < least else ())):
            node = (left if cause.side == "left" else right).nodes[cause.node]
            ends = zip((left, right), divergence.nodes, strict=True)
            at = [flow.nodes[end] for flow, end in ends if end is not None]
            cause = msgspec.structs.replace(cause, source=elsewhere(node, *at))
            first, own = cause.edits[0], 0 if is_believed(cause.edits) else rank
            if rank == PLAIN and isinstance(first, InsertOperator) and first.op in LAYOUTS:
                own = LAYOUT
            if own < least:
                best, least = cause, own
            if rank > PLAIN:
                break  # no other one says more
    return best


def cause_of_pair(pair: ValuePair) -> Cause | None:
    """That the second of two values follows from the first one, as a cause; None where it does not."""
    found = pair.follows()
    if found is None:
        return None
    node = pair.other if pair.is_extra else pair.node
    layers: tuple[Layer | None, Layer | None] = (
        pair.here.graph.layers.get(node.scope),
        None if pair.is_extra else pair.there.graph.layers.get(pair.other.scope),
    )
    return Cause(
        side=pair.side,
        node=node.id,
        op=node.name or node.op,
        edits=(RemoveOperator(), *found.edits) if pair.is_extra else found.edits,
        proven="recorded_values",
        greatest=found.apart,
        noise=noise_of((pair.part or pair.node).outputs[0], pair.other.outputs[0]),
        layers=layers if pair.side == "left" else layers[::-1],
        tried=1,
    )
