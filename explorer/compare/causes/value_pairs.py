"""Recorded values of which one may follow from another: where they are looked for, and how one follows."""

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.relations import (
    NOTHING,
    RELATIONS,
    At,
    Found,
    Surroundings,
    Values,
    relations_of,
)
from explorer.compare.causes.rows import (
    at_place,
    does_the_same,
    is_ahead,
    is_of_form,
    rows_at,
    sided,
)
from explorer.compare.graphs.sameness import Sameness, noise_of, numbers_of, room_of
from explorer.compare.graphs.view import MOVES, GraphView
from explorer.model.causes import Cause, InsertOperator, RemoveOperator
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherStart,
    OtherValue,
    Rounded,
)
from explorer.model.graph import OTHER, ArgumentValue, Layer, Node, Output, SideName
from explorer.operators.families import MASKING, family

MOST_PARTS = 300
"""So many values are looked at that may have been added or multiplied, the nearest ones first."""

NEAR = 4
"""So many ops back are the sizes of which a factor may be something."""

MOST_INSIDE = 32
"""In longer rows no two values are looked at but the last ones."""

CUTS = MOVES | {"slice", "cast"}
"""Families of ops between a mask and the op that reads it."""


class ValuePair(NamedTuple):
    """The first values of two nodes, of which that of ``other`` may follow from that of ``node``.

    ``node`` is one of ``side``, and ``other`` one of ``there``; or of the same side, which alone has it
    (``is_extra``). How it may follow depends on where they are, ``at``; with a ``name``, by that alone. Of a
    leaf that is cut, the ``part`` that is read has the value.
    """

    side: SideName
    here: GraphView
    there: GraphView
    node: Node
    other: Node
    is_extra: bool = False
    at: At = "ends"
    name: str = ""
    part: Node | None = None

    @property
    def own(self) -> Output:
        """The value from which the other one may follow."""
        return (self.part or self.node).outputs[0]

    @property
    def target(self) -> Output:
        """The value that may follow."""
        return self.other.outputs[0]

    def both_ways(self) -> "tuple[ValuePair, ValuePair]":
        """The pair, and the one in which the first value may follow from the second."""
        here, there, node, other = self.here, self.there, self.node, self.other
        turned = ValuePair(OTHER[self.side], there, here, other, self.part or node, at=self.at)
        return self, turned


def relation(pair: ValuePair, around: Surroundings | None = None) -> Found | None:
    """How the second of two values follows from the first one; None where it does not."""
    own, target = numbers_of(pair.own), numbers_of(pair.target)
    if own is None or target is None:
        return None
    if around is None:
        around = NOTHING if pair.at in ("rounded", "masks") else _surroundings(pair)
    values = Values(own, target, room_of(pair.own, pair.target), around)
    for found in relations_of(values, RELATIONS[pair.at]):
        (edit,) = found.edits
        if not pair.name or (isinstance(edit, InsertOperator) and edit.name == pair.name):
            return found
    return None


def cause_by(found: Found, pair: ValuePair) -> Cause:
    """That the second of two values follows from the first one, as a cause."""
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
        noise=noise_of(pair.own, pair.target),
        layers=layers if pair.side == "left" else layers[::-1],
        tried=1,
    )


def are_same(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers in one order, in whichever shapes."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or own.size != target.size:
        return False
    room = room_of(node.outputs[0], other.outputs[0])
    return Sameness(room.base).apart(own.ravel(), target.ravel()) is not None


def _size(output: Output) -> int:
    return math.prod(output.shape)


def _surroundings(pair: ValuePair) -> Surroundings:
    """What a relation may be made of: sizes and numbers at hand, and values that were there before."""
    outputs = [pair.own, pair.target]
    given: list[ArgumentValue] = []
    for flow, node in ((pair.here, pair.node), (pair.there, pair.other)):
        for read in flow.read_by_row(node, NEAR):
            outputs += read.outputs[:1]
        given += node.arguments.values()
        layer = flow.graph.layers.get(node.scope)
        given += layer.settings.values() if layer else ()
    sizes: set[int] = set()
    for output in outputs:
        sizes.update((*output.shape, _size(output)))
        sizes.update(math.prod(output.shape[axes:]) for axes in range(1, len(output.shape)))
    shares = tuple(value for value in given if isinstance(value, float) and 0 < value < 1)
    # The nearest values come first, behind all parameters.
    other, target = pair.other, pair.target
    before = [
        it for it in pair.there.graph.nodes if it.order < other.order or it.kind == "parameter"
    ]
    before += [it for it in pair.here.graph.nodes if it.kind == "parameter"]
    before.sort(key=lambda it: (it.kind != "parameter", abs(other.order - it.order)))
    parts = {}
    for part in before[:MOST_PARTS] if pair.at != "inner" else ():
        if part.kind != "output" and part.id != other.id and part.outputs:
            value = numbers_of(part.outputs[0])
            if value is not None and 1 < value.size <= _size(target):
                parts[label_of(part)] = value
    return Surroundings(tuple(sizes), shares, parts)


# Where they are


def pairs_at(divergence: Divergence, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
    """The values that may follow from one another, those of the left side first."""
    if isinstance(divergence, ExtraOps):
        yield from _of_extra_ops(divergence, left, right)
    elif isinstance(divergence, LoneLeaf):
        yield from _of_lone_leaf(divergence, left, right)
    elif isinstance(divergence, (OtherValue, OtherStart)):
        yield from _of_both(divergence, left, right)
    elif isinstance(divergence, Rounded):
        # The value of the side that does not round, and what the other one goes on with.
        here, there = (left, right) if divergence.side == "left" else (right, left)
        node = divergence.nodes[1 if divergence.side == "left" else 0]
        own, result = there.nodes[node] if node else None, here.nodes[divergence.result]
        if own and own.outputs and result.outputs:
            side, dtype = OTHER[divergence.side], divergence.dtypes[0]
            yield ValuePair(side, there, here, own, result, at="rounded", name=dtype)


def _of_both(
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
        if read.outputs and node.outputs and _size(read.outputs[0]) == _size(node.outputs[0]):
            yield ValuePair(side, flow, flow, read, node, is_extra=True)


def _of_extra_ops(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
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


def _of_lone_leaf(divergence: LoneLeaf, left: GraphView, right: GraphView) -> Iterator[ValuePair]:
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
    reads = [it for it in here.origins(node) if it.outputs and _size(it.outputs[0]) > 1]
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
            if is_constant and _size(constant.outputs[0]) == _size(read.outputs[0]) > 1:
                yield from ValuePair(side, here, there, leaf, constant, part=read).both_ways()
