"""What explains a divergence by recorded values alone, and between which of them it is looked for."""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

from explorer.compare.causes.choice import is_believed
from explorer.compare.causes.relations import Found, are_rearranged
from explorer.compare.causes.rows import (
    at_place,
    does_the_same,
    have_one_value,
    is_ahead,
    is_of_form,
    rows_at,
    sided,
)
from explorer.compare.causes.value_pairs import (
    GRADIENT,
    NEAR,
    ValuePair,
    are_same,
    cause_of_pair,
    gradients,
    relation,
    size_of,
)
from explorer.compare.graphs.sameness import numbers_of, room_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.causes import LAYOUTS, Cause, InsertOperator
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherStart,
    OtherValue,
    ResultElsewhere,
    Rounded,
)
from explorer.model.graph import OTHER, Node, SideName
from explorer.operators.families import BOOKKEEPING, MASKING, family
from explorer.operators.table import TRIED

MOST_INSIDE = 32
"""In longer rows no two values are looked at but the last ones."""

MOST_BEHIND = 16
"""So many ops behind a value are looked at for the one that yields a function of it."""

CUTS = MOVES | {"slice", "cast"}
"""Families of ops between a mask and the op that reads it."""

REDUCING = frozenset({"sum", "mean"})
"""Families of ops that make a mean, or a sum that is divided."""


def related_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """How the values at a divergence follow from one another; None where they do not."""
    causes = filter(None, map(cause_of_pair, pairs_at(divergence, left, right)))
    cause = min(causes, key=lambda it: not is_believed(it.edits), default=None)
    first = cause.edits[0] if cause else None
    if first is None or (isinstance(first, InsertOperator) and first.op in LAYOUTS):
        # Which op moves the numbers says more than that they are moved.
        cause = first_cause(rearranged_pairs(divergence, left, right)) or cause
    return cause or first_cause(further_pairs(divergence, left, right))


def first_cause(pairs: Iterable[ValuePair]) -> Cause | None:
    """How the first of some values follow from one another of which any do."""
    return next(filter(None, map(cause_of_pair, pairs)), None)


# Values of which one may follow from the other by an operator


def of_rounded(divergence: Rounded, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The value of the side that does not round, and what the other one goes on with."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    node = divergence.nodes[1 if divergence.side == "left" else 0]
    own, result = there.nodes[node] if node else None, here.nodes[divergence.result]
    if own and own.outputs and result.outputs:
        side, dtype = OTHER[divergence.side], divergence.dtypes[0]
        yield ValuePair(side, there, here, own, result, at="rounded", name=dtype)


def of_both(
    divergence: OtherValue | OtherStart, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """The last values of two rows of ops, or those of two leaves, either way round."""
    rows = rows_at(divergence, left, right)
    if rows is None:
        return
    node, other = rows[0][-1], rows[1][-1]
    if node.outputs and other.outputs:
        yield from ValuePair("left", left, right, node, other).both_ways()
    if len(rows[0]) <= MOST_INSIDE and len(rows[1]) <= MOST_INSIDE:
        for inner, other_inner in product(*rows):
            if inner.outputs and other_inner.outputs:
                yield ValuePair("left", left, right, inner, other_inner, at="inner")
    if max(map(len, rows)) > 1:
        for inner in rows[0]:
            yield from _beside_masks("left", left, inner, right)
        return
    # Of two ops that read the same: what one makes of what it reads, where the op behind it is what the
    # other side has at once.
    if isinstance(divergence, OtherValue):
        inputs = divergence.inputs
        if not inputs.differing and not all(inputs.alone):
            if is_ahead(node, left.next_op(node), other):
                yield from _made_of("left", left, node, left.origins(node))
            if is_ahead(other, right.next_op(other), node):
                yield from _made_of("right", right, other, right.origins(other))


def _made_of(
    side: SideName, flow: GraphView, node: Node, reads: Iterable[Node]
) -> Iterator[ValuePair]:
    """The value of a node, and what it reads that is as large."""
    for read in reads:
        if read.outputs and node.outputs and size_of(read.outputs[0]) == size_of(node.outputs[0]):
            yield ValuePair(side, flow, flow, read, node, is_extra=True)


def of_extra_ops(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """What a row of ops makes of what it reads; both are of the side that has it."""
    here, there, node = sided(divergence, left, right)
    if node is None or divergence.gradients or divergence.is_between:
        return
    first = at_place(here, divergence.row.first)
    if first is not None:
        yield from _beside_masks(divergence.side, here, first, there)
    other = at_place(there, divergence.goes_on) if divergence.goes_on else None
    # The other side is known to go on with an input only where this was read against the value. Else it may
    # go on with something as large instead.
    if divergence.gap.greatest is None:
        own: Node | None = node
        for _ in range(NEAR if other else 0):
            if other and own and is_of_form(own, other):
                yield ValuePair(divergence.side, here, there, own, other)
            own = here.next_op(own) if own else None
        return
    reads = here.read_by_row(node, divergence.row.count)
    if other is not None:
        # What that op reads, or makes.
        values = [it for it in (other, *there.origins(other)) if it.outputs]
        reads = [it for it in reads if it.outputs and any(are_same(it, one) for one in values)]
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
    side, name = OTHER[divergence.side], divergence.name
    for edge in here.out_of(leaf):
        user = here.nodes[edge.target]
        for node in there.graph.nodes if user.kind == "op" else ():
            if is_of_form(node, user) and not does_the_same(there, node, user):
                yield ValuePair(side, there, here, node, user, at="leaf", name=name)


def _beside_masks(
    side: SideName, here: GraphView, node: Node, there: GraphView
) -> Iterator[ValuePair]:
    """What is masked, and what the other side masks of an equal value."""
    if family(node.op) not in MASKING:
        return
    reads = [it for it in here.origins(node) if it.outputs and size_of(it.outputs[0]) > 1]
    for other in there.graph.nodes:
        if not is_of_form(other, node) or family(other.op) not in MASKING:
            continue
        others = [it for it in there.origins(other) if it.outputs]
        if any(are_same(read, it) for read in reads for it in others):
            yield from ValuePair(side, here, there, node, other, at="masks").both_ways()


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
            is_constant = constant.kind == "constant" and constant.outputs
            if is_constant and size_of(constant.outputs[0]) == size_of(read.outputs[0]) > 1:
                yield from ValuePair(side, here, there, leaf, constant, part=read).both_ways()


PAIRS: dict[type[Divergence], Callable[[Any, GraphView, GraphView], Iterator[ValuePair]]] = {
    ExtraOps: of_extra_ops,
    LoneLeaf: of_lone_leaf,
    OtherValue: of_both,
    OtherStart: of_both,
    Rounded: of_rounded,
}
"""The values that may follow from one another at a divergence, those of the left side first."""


def pairs_at(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The values that may follow from one another by an operator."""
    if type(divergence) in PAIRS:
        yield from PAIRS[type(divergence)](divergence, left, right)


# Values that may follow from more than one


def further_pairs(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The values that may follow from others by more than one op: gradients, functions, sums, means."""
    if isinstance(divergence, ExtraOps) and divergence.gradients:
        here, there, last = sided(divergence, left, right)
        ours, theirs = gradients(here), gradients(there)
        for name in [it.name for it in here.results(last)] if last else ():
            leaves = [it for it in there.graph.nodes if it.name == name.removeprefix(GRADIENT)]
            leaves = [it for it in leaves if it.kind in ("parameter", "input")]
            if name in ours and name in theirs and leaves:
                # One leaf where the other graph reads two, or one tensor given as both: it then sums the
                # gradients of more uses.
                pair = ValuePair(OTHER[divergence.side], there, here, leaves[0], ours[name])
                yield pair._replace(at="shared", part=theirs[name])
    if divergence.phase != "forward":
        return
    yield from _of_functions(divergence, left, right)
    rows = rows_at(divergence, left, right) if isinstance(divergence, OtherValue) else None
    for node, other in product(*rows) if rows else ():
        if family(node.op) == family(other.op) == "add" and node.outputs and other.outputs:
            yield ValuePair("left", left, right, node, other, at="sum")
    if rows and rows[0][-1].outputs and rows[1][-1].outputs:
        ends = ValuePair("left", left, right, rows[0][-1], rows[1][-1], at="mean")
        for row, pair in zip(rows, ends.both_ways(), strict=True):
            for node in row:
                if family(node.op) in REDUCING:
                    yield pair._replace(node=node, part=pair.node)


def _of_functions(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """A value of which one side computes a known function, and the other one another."""
    side: SideName = "left"
    here, there, first = left, right, None
    if isinstance(divergence, ExtraOps):
        side = divergence.side
        here, there, _ = sided(divergence, left, right)
        first = at_place(here, divergence.row.first)
    elif isinstance(divergence, OtherValue) and divergence.nodes[0] is not None:
        first = left.nodes[divergence.nodes[0]]
    for read in here.origins(first) if first else ():
        values = (it for it in there.graph.nodes if it.kind != "output")
        other = next((it for it in values if have_one_value(it, read)), None)
        made = _function_of(here, read) if other else None
        made_there = _function_of(there, other) if other else None
        if other and made and made_there and made[0].edits != made_there[0].edits:
            pair = ValuePair(OTHER[side], there, here, other, made[1], at="function")
            yield pair._replace(part=read)


def _function_of(flow: GraphView, read: Node) -> tuple[Found, Node] | None:
    """A known function of a value, and the one of the nearest ops behind it that yields it."""
    behind = flow.behind(read.id)
    nodes = [it for it in flow.graph.nodes if it.id in behind and it is not read]
    # Those that compute numbers of their own, in order.
    computing = [it for it in nodes if it.kind == "op" and family(it.op) not in BOOKKEEPING]
    for node in computing[:MOST_BEHIND] if read.outputs else ():
        if node.outputs and node.phase == read.phase:
            found = relation(ValuePair("left", flow, flow, read, node, at="function"))
            if found is not None:
                return found, node
    return None


# The same numbers put elsewhere on the way to two values that should be equal: where the ways part

TURNING = ("transpose_a", "transpose_b")
"""Arguments by which an op reads a matrix the other way round."""

MOST_OPS = 24
"""So many ops of a chain are followed."""

Chain = list[Node]
"""Values in a row that hold the same numbers: the first is what an op of another kind makes, or a leaf."""


def rearranged_pairs(
    divergence: Divergence, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """Where the same numbers are put elsewhere on the way to the values at a divergence."""
    for node, other in _ends(divergence, left, right):
        if not (node.outputs and other.outputs):
            continue
        if not size_of(node.outputs[0]) == size_of(other.outputs[0]) > 1:
            continue
        chains = _chain_of(left, node), _chain_of(right, other)
        if _are_rearranged(chains[0][-1], chains[1][-1]):
            yield from _parted(chains, (left, right))


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


def _has_as_many(node: Node, other: Node) -> bool:
    """Whether two values have as many elements."""
    sizes = [size_of(it.outputs[0]) if it.outputs else 0 for it in (node, other)]
    return sizes[0] == sizes[1]


def _is_placing(node: Node) -> bool:
    """Whether an op puts numbers elsewhere and changes none."""
    return node.kind == "op" and family(node.op) in TRIED.placing


def _chain_of(flow: GraphView, end: Node) -> Chain:
    """The values that hold all numbers of a node, from the one that computes them to the last.

    That is as far as nothing else reads them on the way. Parts of a value, which are put together again,
    are passed over.
    """
    for _ in range(MOST_OPS):
        behind = flow.next_op(end, frozenset())
        if behind is None or not _is_placing(behind) or not _has_as_many(behind, end):
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
            if not _has_as_many(waiting[0], end):
                break
            nodes.append(waiting[0])
    return nodes[::-1]


def _are_rearranged(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers, and not in one order."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or are_same(node, other):
        return False
    return are_rearranged(own, target, room_of(node.outputs[0], other.outputs[0]))


def _parted(chains: tuple[Chain, Chain], flows: tuple[GraphView, GraphView]) -> Iterator[ValuePair]:
    """Values of two chains that may follow from one another, what says most of them first.

    One has ops too many behind the other's end; or they part at two values behind which they do the
    same; or their ends part, or one end and what the other chain begins with.
    """
    ends = chains[0][-1], chains[1][-1]
    shapes = tuple(it.outputs[0].shape for chain in chains for it in chain)
    pair = ValuePair("left", *flows, *ends, at="layout", shapes=shapes)
    for side, flow, chain, other in zip(OTHER, flows, chains, ends[::-1], strict=True):
        for place in reversed(range(len(chain) - 1)):
            if are_same(chain[place], other):
                # The op that puts the numbers where those of the last are, or the last.
                node, *behind = chain[place:]
                moved = next((it for it in behind if not are_same(it, node)), behind[-1])
                if not are_same(moved, behind[-1]):
                    moved = behind[-1]
                yield pair._replace(
                    side=side, here=flow, there=flow, node=node, other=moved, is_extra=True
                )
                return

    def onwards(node: Node, end: Node) -> Found | None:
        """What is done to a value on the way to the end."""
        return relation(pair._replace(node=node, other=end))

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
