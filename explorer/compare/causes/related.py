"""What explains a divergence by recorded values alone: one value that follows from another."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from explorer.compare.causes.flow import MOVES, Flow
from explorer.compare.causes.input_trials import label_of
from explorer.compare.causes.places import at_place, does_the_same, is_ahead, is_of_form, rows_at
from explorer.compare.causes.relations import ROUNDED, WITH_PARTS, Found, Surroundings, relation_of
from explorer.compare.causes.rooms import noise_of, room_of
from explorer.model.arrays import unpack
from explorer.model.causes import Cause, Change, LeftOut
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    LoneLeaf,
    OtherStart,
    OtherValue,
    Rounded,
)
from explorer.model.families import family
from explorer.model.graph import (
    OTHER,
    ArgumentValue,
    Layer,
    Node,
    Output,
    SideName,
)
from explorer.numeric.differences import Floats, real_parts

MOST_PARTS = 300
"""So many values are looked at that may have been added or multiplied, the nearest ones first."""

NEAR = 4
"""So many ops back are the sizes of which a factor may be something."""


CUTS = MOVES | {"slice", "cast"}
"""Families of ops between a mask and the op that reads it."""


class _Ends(NamedTuple):
    """Two values of which one may follow from the other.

    ``own`` is a node's of ``side``; ``target`` is the value that should follow, a node's of ``there``,
    or what an op makes of ``own``, in ``there`` too (``is_extra``: then both are one side's). With the name
    of a ``leaf``, it follows by that one alone; where it is
    ``rounded_to`` a dtype, by that.
    """

    side: SideName
    here: Flow
    there: Flow
    node: Node
    other: Node
    own: Output
    target: Output
    is_extra: bool = False
    leaf: str = ""
    rounded_to: str = ""


def related_cause(divergence: Divergence, left: Flow, right: Flow) -> Cause | None:
    """How the values at a divergence follow from one another; None where they do not."""
    causes = []
    for ends in _ends(divergence, left, right):
        cause = _cause(ends, (left, right))
        if cause:
            causes.append(cause)
    return min(causes, key=_simplicity, default=None)


def _simplicity(cause: Cause) -> int:
    """0 for a relation by a number that stands for something, 1 for all others."""
    relation = cause.change.relation if isinstance(cause.change, LeftOut) else cause.change
    factor = getattr(relation, "factor", None)
    return 0 if factor is not None and factor.form in ("1/n", "1/√n", "1-p", "p") else 1


def _cause(ends: _Ends, flows: tuple[Flow, Flow]) -> Cause | None:
    found = _found(ends)
    if found is None:
        return None
    change: Change = LeftOut(relation=found.relation) if ends.is_extra else found.relation
    here, there = flows if ends.side == "left" else flows[::-1]
    node = ends.other if ends.is_extra else ends.node
    layers: tuple[Layer | None, Layer | None] = (
        here.graph.layers.get(node.scope),
        None if ends.is_extra else there.graph.layers.get(ends.other.scope),
    )
    return Cause(
        side=ends.side,
        node=node.id,
        op=node.name or node.op,
        change=change,
        greatest=found.apart,
        noise=noise_of(ends.own, ends.target),
        layers=layers if ends.side == "left" else layers[::-1],
        tried=1,
    )


def _found(ends: _Ends) -> Found | None:
    own, target = numbers_of(ends.own), numbers_of(ends.target)
    if own is None or target is None:
        return None
    room = room_of(ends.own, ends.target)
    if ends.rounded_to:
        found = relation_of(own, target, room, finders=ROUNDED)
        return found if found and found.relation.name == ends.rounded_to else None
    if ends.leaf:
        leaves = dict(_parts(ends.there, ends.other, ends.target, ends.here))
        around = Surroundings(parts={ends.leaf: leaves[ends.leaf]} if ends.leaf in leaves else {})
        return relation_of(own, target, room, around, WITH_PARTS)
    return relation_of(own, target, room, _surroundings(ends))


def _ends(divergence: Divergence, left: Flow, right: Flow) -> Iterator[_Ends]:
    """The values that may follow from one another, those of the left side first."""
    if isinstance(divergence, ExtraOps):
        yield from _of_extra_ops(divergence, left, right)
    elif isinstance(divergence, LoneLeaf):
        yield from _of_lone_leaf(divergence, left, right)
    elif isinstance(divergence, Rounded):
        yield from _of_rounded(divergence, left, right)
    elif isinstance(divergence, (OtherValue, OtherStart)):
        yield from _of_both(divergence, left, right)


def _of_both(divergence: OtherValue | OtherStart, left: Flow, right: Flow) -> Iterator[_Ends]:
    """The last values of two rows of ops, or those of two leaves, either way round."""
    rows = rows_at(divergence, left, right)
    if rows is None:
        return
    node, other = rows[0][-1], rows[1][-1]
    if node.outputs and other.outputs:
        values = node.outputs[0], other.outputs[0]
        yield _Ends("left", left, right, node, other, *values)
        yield _Ends("right", right, left, other, node, *values[::-1])
    if len(rows[0]) == len(rows[1]) == 1 and _read_the_same(divergence):
        yield from _too_many("left", left, node, other)
        yield from _too_many("right", right, other, node)


def _read_the_same(divergence: OtherValue | OtherStart) -> bool:
    """Whether two ops read equal values, but for what one of them reads besides."""
    if not isinstance(divergence, OtherValue):
        return False
    return not (divergence.inputs.differing or all(divergence.inputs.alone))


def _too_many(side: SideName, flow: Flow, node: Node, other: Node) -> Iterator[_Ends]:
    """What an op makes of what it reads, where the op behind it is what the other side has at once."""
    if is_ahead(node, flow.next_op(node), other):
        yield from _made_of(side, flow, node, flow.origins(node))


def _made_of(side: SideName, flow: Flow, node: Node, reads: Iterable[Node]) -> Iterator[_Ends]:
    """The value of a node, and what it reads that is as large."""
    for read in reads:
        if read.outputs and node.outputs and _size(read.outputs[0]) == _size(node.outputs[0]):
            values = read.outputs[0], node.outputs[0]
            yield _Ends(side, flow, flow, read, node, *values, is_extra=True)


def _of_extra_ops(divergence: ExtraOps, left: Flow, right: Flow) -> Iterator[_Ends]:
    """What a row of ops makes of what it reads; both are of the side that has it."""
    here = left if divergence.side == "left" else right
    last = divergence.nodes[0 if divergence.side == "left" else 1]
    if last is None or divergence.gradients or divergence.is_between:
        return
    node = here.nodes[last]
    yield from _beside(divergence, left, right, node)
    # The other side is known to go on with an input only where this was read against the value.
    if divergence.gap.greatest is None:
        return
    reads = here.read_by_row(node, divergence.row.count)
    yield from _made_of(divergence.side, here, node, reads)


def _beside(divergence: ExtraOps, left: Flow, right: Flow, node: Node) -> Iterator[_Ends]:
    """What the other side goes on with instead of a row of ops, if it is as large."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    other = at_place(there, divergence.goes_on) if divergence.goes_on else None
    own: Node | None = node
    for _ in range(NEAR):
        if other and own and is_of_form(own, other):
            values = own.outputs[0], other.outputs[0]
            yield _Ends(divergence.side, here, there, own, other, *values)
        own = here.next_op(own) if own else None


def _of_lone_leaf(divergence: LoneLeaf, left: Flow, right: Flow) -> Iterator[_Ends]:
    """Values of the other side of which one with the leaf added is what the leaf's user makes."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    leaf = divergence.nodes[0 if divergence.side == "left" else 1]
    if leaf is None:
        return
    yield from _beside_constants(divergence.side, here, here.nodes[leaf], there)
    for edge in here.out_of(here.nodes[leaf]):
        user = here.nodes[edge.target]
        if user.kind != "op" or not user.outputs:
            continue
        for node in there.graph.nodes:
            if is_of_form(node, user) and not does_the_same(there, node, user):
                values = node.outputs[0], user.outputs[0]
                yield _Ends(
                    OTHER[divergence.side], there, here, node, user, *values, leaf=divergence.name
                )


def _of_rounded(divergence: Rounded, left: Flow, right: Flow) -> Iterator[_Ends]:
    """The value of the side that does not round, and what the other one goes on with."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    other = divergence.nodes[1 if divergence.side == "left" else 0]
    if other is None:
        return
    node, result = there.nodes[other], here.nodes[divergence.result]
    if node.outputs and result.outputs:
        values = node.outputs[0], result.outputs[0]
        yield _Ends(
            OTHER[divergence.side],
            there,
            here,
            node,
            result,
            *values,
            rounded_to=divergence.dtypes[0],
        )


def _beside_constants(side: SideName, here: Flow, leaf: Node, there: Flow) -> Iterator[_Ends]:
    """A leaf of one side alone, such as a mask, and constants that ops of its reader's kind read there.

    They are as large, and in a module of the same name.
    """
    reader = here.next_op(leaf, CUTS)
    if reader is None or not leaf.outputs:
        return
    for node in there.graph.nodes:
        if (node.scope, family(node.op)) != (reader.scope, family(reader.op)):
            continue
        for constant in there.origins(node):
            is_constant = constant.kind == "constant" and constant.outputs
            if is_constant and _size(constant.outputs[0]) == _size(leaf.outputs[0]) > 1:
                values = leaf.outputs[0], constant.outputs[0]
                yield _Ends(side, here, there, leaf, constant, *values)
                yield _Ends(OTHER[side], there, here, constant, leaf, *values[::-1])


def _size(output: Output) -> int:
    return math.prod(output.shape)


# What a relation may be made of


def _surroundings(ends: _Ends) -> Surroundings:
    outputs = [ends.own, ends.target]
    for graph, node in ((ends.here, ends.node), (ends.there, ends.other)):
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
        tuple(_shares(ends)),
        dict(_parts(ends.there, ends.other, ends.target, ends.here)),
    )


def _shares(ends: _Ends) -> Iterator[float]:
    """Arguments between 0 and 1 of the ops and layers at hand."""
    given: list[ArgumentValue] = []
    for graph, node in ((ends.here, ends.node), (ends.there, ends.other)):
        given += node.arguments.values()
        layer = graph.graph.layers.get(node.scope)
        given += layer.settings.values() if layer else ()
    for value in given:
        if isinstance(value, float) and 0 < value < 1:
            yield value


def _parts(graph: Flow, node: Node, target: Output, other: Flow) -> Iterator[tuple[str, Floats]]:
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


def constants_read(graph: Flow, row: list[Node]) -> Iterator[float | int]:
    """The single numbers that some ops read as constants."""
    for edge in (edge for node in row for edge in graph.into(node)):
        origin = graph.nodes[edge.origin]
        if origin.kind == "constant" and edge.output < len(origin.outputs):
            value = numbers_of(origin.outputs[edge.output])
            if value is not None and value.size == 1:
                number = float(value.ravel()[0])
                yield number
                if number.is_integer():
                    yield int(number)


def numbers_of(output: Output) -> Floats | None:
    """All elements of a value in its shape; None where they are not known."""
    summary = output.values
    if summary is None or summary.whole is None:
        return None
    return real_parts(unpack(summary.whole)).astype(np.float64)
