"""What explains a divergence by recorded values alone: one value that follows from another."""

import math
from collections.abc import Iterable, Iterator
from itertools import product

from explorer.compare.causes.choice import is_believed
from explorer.compare.causes.formulas import FORMULAS
from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.rearranged import rearranged_cause
from explorer.compare.causes.relations import (
    MASKED,
    NOTHING,
    ROUNDED,
    TEMPERED,
    WITH_PARTS,
    Found,
    Surroundings,
    relations_of,
)
from explorer.compare.causes.rows import at_place, does_the_same, is_ahead, is_of_form, rows_at
from explorer.compare.causes.value_pairs import ValuePair, are_same, cause_by
from explorer.compare.graphs.sameness import numbers_of, room_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.causes import LAYOUTS, Cause, InsertOperator
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherStart,
    OtherValue,
    Rounded,
)
from explorer.model.graph import OTHER, ArgumentValue, Node, Output, SideName
from explorer.numeric.differences import Floats
from explorer.operators.families import MASKING, family

MOST_PARTS = 300
"""So many values are looked at that may have been added or multiplied, the nearest ones first."""

NEAR = 4
"""So many ops back are the sizes of which a factor may be something."""


MOST_INSIDE = 32
"""In longer rows no two values are looked at but the last ones."""

CUTS = MOVES | {"slice", "cast"}
"""Families of ops between a mask and the op that reads it."""


def related_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """How the values at a divergence follow from one another; None where they do not."""
    causes = []
    for pair in _pairs(divergence, left, right):
        found = _found(pair)
        if found:
            causes.append(cause_by(found, pair))
    cause = min(causes, key=lambda it: not is_believed(it.edits), default=None)
    if cause is None or _is_layout(cause):
        # Which op moves the numbers says more than that they are moved.
        cause = rearranged_cause(divergence, left, right) or cause
    if cause is None:
        made = (find(divergence, left, right) for find in FORMULAS)
        cause = next((it for it in made if it is not None), None)
    return cause


def _is_layout(cause: Cause) -> bool:
    (first, *_) = cause.edits
    return isinstance(first, InsertOperator) and first.op in LAYOUTS


def _found(pair: ValuePair) -> Found | None:
    """How the second of two values follows from the first one; None where it does not."""
    own, target = numbers_of(pair.own), numbers_of(pair.target)
    if own is None or target is None:
        return None
    around = NOTHING if pair.finders in (ROUNDED, MASKED) else _surroundings(pair)
    for found in relations_of(own, target, room_of(pair.own, pair.target), around, pair.finders):
        (edit,) = found.edits
        if not pair.name or (isinstance(edit, InsertOperator) and edit.name == pair.name):
            return found
    return None


def _pairs(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The values that may follow from one another, those of the left side first."""
    if isinstance(divergence, ExtraOps):
        yield from _of_extra_ops(divergence, left, right)
    elif isinstance(divergence, LoneLeaf):
        yield from _of_lone_leaf(divergence, left, right)
    elif isinstance(divergence, Rounded):
        yield from _of_rounded(divergence, left, right)
    elif isinstance(divergence, (OtherValue, OtherStart)):
        yield from _of_both(divergence, left, right)


def _of_both(
    divergence: OtherValue | OtherStart, left: GraphView, right: GraphView
) -> Iterator[ValuePair]:
    """The last values of two rows of ops, or those of two leaves, either way round."""
    rows = rows_at(divergence, left, right)
    if rows is None:
        return
    node, other = rows[0][-1], rows[1][-1]
    if node.outputs and other.outputs:
        yield ValuePair("left", left, right, node, other)
        yield ValuePair("right", right, left, other, node)
    if len(rows[0]) <= MOST_INSIDE and len(rows[1]) <= MOST_INSIDE:
        for inner, other_inner in product(*rows):
            if inner.outputs and other_inner.outputs:
                yield ValuePair("left", left, right, inner, other_inner, finders=TEMPERED)
    if max(map(len, rows)) > 1:
        for inner in rows[0]:
            yield from _beside_masks("left", left, inner, right)
    if len(rows[0]) == len(rows[1]) == 1 and _read_the_same(divergence):
        yield from _too_many("left", left, node, other)
        yield from _too_many("right", right, other, node)


def _read_the_same(divergence: OtherValue | OtherStart) -> bool:
    """Whether two ops read equal values, but for what one of them reads besides."""
    if not isinstance(divergence, OtherValue):
        return False
    return not (divergence.inputs.differing or all(divergence.inputs.alone))


def _too_many(side: SideName, flow: GraphView, node: Node, other: Node) -> Iterator[ValuePair]:
    """What an op makes of what it reads, where the op behind it is what the other side has at once."""
    if is_ahead(node, flow.next_op(node), other):
        yield from _made_of(side, flow, node, flow.origins(node))


def _made_of(
    side: SideName, flow: GraphView, node: Node, reads: Iterable[Node]
) -> Iterator[ValuePair]:
    """The value of a node, and what it reads that is as large."""
    for read in reads:
        if read.outputs and node.outputs and _size(read.outputs[0]) == _size(node.outputs[0]):
            yield ValuePair(side, flow, flow, read, node, is_extra=True)


def _of_extra_ops(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """What a row of ops makes of what it reads; both are of the side that has it."""
    here = left if divergence.side == "left" else right
    last = divergence.nodes[0 if divergence.side == "left" else 1]
    if last is None or divergence.gradients or divergence.is_between:
        return
    node = here.nodes[last]
    there = right if divergence.side == "left" else left
    first = at_place(here, divergence.row.first)
    if first is not None:
        yield from _beside_masks(divergence.side, here, first, there)
    other = at_place(there, divergence.goes_on) if divergence.goes_on else None
    # The other side is known to go on with an input only where this was read against the value.
    if divergence.gap.greatest is None:
        yield from _beside(divergence, left, right, node)
        return
    reads = here.read_by_row(node, divergence.row.count)
    if other is not None:
        reads = [read for read in reads if _goes_on_with(there, other, read)]
    yield from _made_of(divergence.side, here, node, reads)


def _goes_on_with(flow: GraphView, node: Node, read: Node) -> bool:
    """Whether a node reads, or makes, the numbers that another value has."""
    values = [it for it in (node, *flow.origins(node)) if it.outputs]
    return bool(read.outputs) and any(are_same(read, value) for value in values)


def _beside(
    divergence: ExtraOps, left: GraphView, right: GraphView, node: Node
) -> Iterator[ValuePair]:
    """What the other side goes on with instead of a row of ops, if it is as large."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    other = at_place(there, divergence.goes_on) if divergence.goes_on else None
    own: Node | None = node
    for _ in range(NEAR):
        if other and own and is_of_form(own, other):
            yield ValuePair(divergence.side, here, there, own, other)
        own = here.next_op(own) if own else None


def _of_lone_leaf(divergence: LoneLeaf, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """Values of the other side of which one with the leaf added is what the leaf's user makes."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    leaf = divergence.nodes[0 if divergence.side == "left" else 1]
    if leaf is None:
        return
    yield from _beside_constants(divergence.side, here, here.nodes[leaf], there)
    reader = here.next_op(here.nodes[leaf], CUTS)
    if reader is not None:
        yield from _beside_masks(divergence.side, here, reader, there)
    for edge in here.out_of(here.nodes[leaf]):
        user = here.nodes[edge.target]
        if user.kind != "op" or not user.outputs:
            continue
        for node in there.graph.nodes:
            if is_of_form(node, user) and not does_the_same(there, node, user):
                side = OTHER[divergence.side]
                yield ValuePair(
                    side, there, here, node, user, finders=WITH_PARTS, name=divergence.name
                )


def _beside_masks(
    side: SideName, here: GraphView, node: Node, there: GraphView
) -> Iterator[ValuePair]:
    """What is masked, and what the other side masks of an equal value."""
    if family(node.op) not in MASKING:
        return
    reads = [it for it in here.origins(node) if it.outputs and _size(it.outputs[0]) > 1]
    for other in there.graph.nodes:
        if not is_of_form(other, node) or family(other.op) not in MASKING:
            continue
        others = [it for it in there.origins(other) if it.outputs]
        if any(are_same(read, it) for read in reads for it in others):
            yield ValuePair(side, here, there, node, other, finders=MASKED)
            yield ValuePair(OTHER[side], there, here, other, node, finders=MASKED)


def _of_rounded(divergence: Rounded, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The value of the side that does not round, and what the other one goes on with."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    other = divergence.nodes[1 if divergence.side == "left" else 0]
    if other is None:
        return
    node, result = there.nodes[other], here.nodes[divergence.result]
    if node.outputs and result.outputs:
        side, dtype = OTHER[divergence.side], divergence.dtypes[0]
        yield ValuePair(side, there, here, node, result, finders=ROUNDED, name=dtype)


def _beside_constants(
    side: SideName, here: GraphView, leaf: Node, there: GraphView
) -> Iterator[ValuePair]:
    """A leaf of one side alone, such as a mask, and constants that ops of its reader's kind read there.

    They are as large, and in a module of the same name.
    """
    reader = here.next_op(leaf, CUTS)
    if reader is None or not leaf.outputs:
        return
    behind = here.behind(leaf.id)
    # What is read is a part of the leaf where that is cut.
    (read,) = [it for it in here.origins(reader) if it.id in behind][:1]
    for node in there.graph.nodes:
        if (node.scope, family(node.op)) != (reader.scope, family(reader.op)):
            continue
        for constant in there.origins(node):
            is_constant = constant.kind == "constant" and constant.outputs
            if is_constant and _size(constant.outputs[0]) == _size(read.outputs[0]) > 1:
                yield ValuePair(side, here, there, leaf, constant, part=read)
                yield ValuePair(OTHER[side], there, here, constant, read)


def _size(output: Output) -> int:
    return math.prod(output.shape)


# What a relation may be made of


def _surroundings(pair: ValuePair) -> Surroundings:
    outputs = [pair.own, pair.target]
    for graph, node in ((pair.here, pair.node), (pair.there, pair.other)):
        for read in graph.read_by_row(node, NEAR):
            outputs += read.outputs[:1]
    sizes: set[int] = set()
    for output in outputs:
        sizes.update(output.shape)
        sizes.add(_size(output))
        for axes in range(1, len(output.shape)):
            sizes.add(math.prod(output.shape[axes:]))
    return Surroundings(
        tuple(sizes),
        tuple(_shares(pair)),
        dict(_parts(pair.there, pair.other, pair.target, pair.here)),
    )


def _shares(pair: ValuePair) -> Iterator[float]:
    """Arguments between 0 and 1 of the ops and layers at hand."""
    given: list[ArgumentValue] = []
    for graph, node in ((pair.here, pair.node), (pair.there, pair.other)):
        given += node.arguments.values()
        layer = graph.graph.layers.get(node.scope)
        given += layer.settings.values() if layer else ()
    for value in given:
        if isinstance(value, float) and 0 < value < 1:
            yield value


def _parts(
    graph: GraphView, node: Node, target: Output, other: GraphView
) -> Iterator[tuple[str, Floats]]:
    """The values that were there before a node, by name, the nearest ones first; all parameters."""
    before = [it for it in graph.graph.nodes if it.order < node.order or it.kind == "parameter"]
    before += [it for it in other.graph.nodes if it.kind == "parameter"]
    for part in _nearest(before, node)[:MOST_PARTS]:
        if part.kind == "output" or part.id == node.id or not part.outputs:
            continue
        value = numbers_of(part.outputs[0])
        if value is not None and 1 < value.size <= _size(target):
            yield label_of(part), value


def _nearest(nodes: Iterable[Node], node: Node) -> list[Node]:
    return sorted(nodes, key=lambda it: (it.kind != "parameter", abs(node.order - it.order)))
