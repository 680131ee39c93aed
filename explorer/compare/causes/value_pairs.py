"""Two recorded values, of which one may follow from the other, and the table of how it may follow."""

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.relations import (
    FEW,
    Found,
    Proposal,
    Relation,
    Values,
    activated,
    applied,
    layouts,
    masked,
    plus,
    rounded_to,
    tempered,
    times,
    with_parts,
)
from explorer.compare.graphs.sameness import Sameness, is_telling, noise_of, numbers_of, room_of
from explorer.compare.graphs.view import GraphView, Shape
from explorer.model.causes import (
    Cause,
    FromLeaf,
    FromNode,
    InsertOperator,
    RemoveOperator,
    Rewire,
)
from explorer.model.graph import OTHER, ArgumentValue, Layer, Node, Output, SideName
from explorer.numeric.differences import Floats
from explorer.operators.families import family

MOST_PARTS = 300
"""So many values are looked at that may have been added or multiplied, the nearest ones first."""

NEAR = 4
"""So many ops back are the sizes of which a factor may be something."""

MOST_MASKS = 40
"""So many conditions are looked at."""

GRADIENT = "d"
"""What the name of a leaf's gradient begins with."""

At = Literal[
    "ends", "inner", "masks", "leaf", "rounded", "layout", "function", "sum", "mean", "shared"
]
"""Which two values are compared.

"ends": what two ops make. "inner": ops of two rows. "masks": two masked values. "leaf": an op with a leaf,
and one without. "rounded": a value, and what it is rounded to. "layout": the same numbers in some order.
"function": a value, and what an op behind it makes. "sum": two sums. "mean": two means. "shared": the
gradients of a leaf.
"""


class ValuePair(NamedTuple):
    """The first values of two nodes, of which that of ``other`` may follow from that of ``node``.

    ``node`` is one of ``side``, and ``other`` one of ``there``; or of the same side, which alone has it
    (``is_extra``). How it may follow depends on where they are, ``at``; with a ``name``, by that alone. Of a
    leaf that is cut, the ``part`` that is read has the value; of a function, a mean and a gradient, the node
    that has it. The ``shapes`` are those that moved numbers had on their way.
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
    shapes: tuple[Shape, ...] = ()

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
        here, there, node, other = self.there, self.here, self.other, self.part or self.node
        turned = ValuePair(OTHER[self.side], here, there, node, other)
        return self, turned._replace(at=self.at, shapes=self.shapes)


def relation(pair: ValuePair) -> Found | None:
    """How the second of two values follows from the first one; None where it does not."""
    own, target = numbers_of(pair.own), numbers_of(pair.target)
    if own is None or target is None:
        return None
    values = Values(own, target, room_of(pair.own, pair.target), shapes=pair.shapes)
    if pair.at in SURROUNDED:
        values = _with_surroundings(values, pair)
    of_graphs = OF_GRAPHS.get(pair.at)
    found = values.fitting(of_graphs(pair)) if of_graphs else relations_of(values, pair.at)
    for one in found:
        edit = one.edits[0]
        if not pair.name or (isinstance(edit, InsertOperator) and edit.name == pair.name):
            return one
    return None


def relations_of(values: Values, at: At) -> Iterator[Found]:
    """How one value may follow from another by an operator, the simplest way first."""
    for find in RELATIONS[at]:
        yield from values.fitting(find(values))


def cause_of_pair(pair: ValuePair) -> Cause | None:
    """That the second of two values follows from the first one, as a cause; None where it does not."""
    found = relation(pair)
    if found is None:
        return None
    node = pair.other if pair.is_extra else pair.node
    # A function and a mean are said of the node, whose value is not the one that was computed with.
    own = pair.node.outputs[0] if pair.at in ("function", "mean") else pair.own
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
        noise=noise_of(own, pair.target),
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


def size_of(output: Output) -> int:
    """How many elements a value has."""
    return math.prod(output.shape)


def _with_surroundings(values: Values, pair: ValuePair) -> Values:
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
        sizes.update((*output.shape, size_of(output)))
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
            if value is not None and 1 < value.size <= size_of(target):
                parts[label_of(part)] = value
    return values._replace(sizes=tuple(sizes), shares=shares, parts=parts)


# What follows from more values of the graphs

Factor = tuple[Node, Floats]
"""What a product reads, with its numbers."""


def factors_exchanged(pair: ValuePair) -> Iterator[Proposal]:
    """Two factors of two products in a sum in the place of each other.

    A weight and its complement are: y·a + (1 - y)·b, or (1 - y)·a + y·b.
    """
    flow = pair.here
    products: list[list[Factor]] = []
    for term in flow.origins(pair.node):
        factors: list[Factor] = []
        for edge in flow.into(term) if family(term.op) == "mul" else ():
            read = flow.nodes[edge.origin]
            numbers = [numbers_of(it) for it in read.outputs[edge.output : edge.output + 1]]
            factors += [(read, it) for it in numbers if it is not None]
        products += [factors] if len(factors) == 2 else []
    if len(products) != 2 or size_of(pair.target) < 2 or not is_telling(pair.target):
        return
    (one, other), last = products
    for second, rest in (last, last[::-1]):
        try:
            made = second[1] * other[1] + one[1] * rest[1]
        except ValueError:
            continue  # of other shapes
        if made.shape == pair.own.shape:
            sources = [FromNode(it.id, label=label_of(it)) for it in (one[0], second[0])]
            yield tuple(Rewire(source=source) for source in sources), made


def of_some(pair: ValuePair) -> Iterator[Proposal]:
    """A mean of those elements alone for which a condition holds, where no other one gives it as well."""
    own, target = numbers_of(pair.own), numbers_of(pair.target)
    if own is None or target is None or own.size != 1 or target.size != 1:
        return
    room = room_of(pair.own, pair.target)
    for read in pair.here.origins(pair.node):
        elements = numbers_of(read.outputs[0]) if read.outputs else None
        if elements is None or elements.size < 2 or not np.isfinite(elements).all():
            continue
        for sign in (1, -1):
            mean = np.full(own.shape, sign * elements.mean())
            found: dict[bytes, Proposal] = {}
            is_mean = Sameness(room.base).apart(mean, own) is not None
            for node, holds in _conditions(pair.here, pair.there) if is_mean else ():
                if holds.size == elements.size:
                    made = np.full(target.shape, sign * elements.ravel()[holds].mean())
                    counts = int(holds.sum()), holds.size
                    edit = InsertOperator(op="where", name=label_of(node), numbers=counts)
                    if room.apart(made, target) is not None:
                        found.setdefault(holds.tobytes(), (edit, made))
            if len(found) == 1:
                yield from found.values()


def _conditions(*flows: GraphView) -> Iterator[tuple[Node, NDArray[np.bool_]]]:
    """The values of forward that are 0 or 1 in each element, and both of them somewhere."""
    for flow in flows:
        count = 0
        for node in flow.graph.nodes:
            is_forward = node.kind != "output" and node.phase == "forward"
            numbers = numbers_of(node.outputs[0]) if is_forward and node.outputs else None
            if numbers is not None and numbers.size > 1 and set(np.unique(numbers)) == {0, 1}:
                yield node, numbers.ravel() == 1
                count += 1
            if count == MOST_MASKS:
                break


def shared(pair: ValuePair) -> Iterator[Proposal]:
    """The gradient of a leaf with that of another one, of which the other side has none, or the same one."""
    ours, theirs, name = gradients(pair.there), gradients(pair.here), pair.other.name
    (maker,) = pair.there.origins(pair.other)[:1]
    names = [it.name for it in pair.there.results(maker)]
    # One tensor given as both may be a number; two leaves that are one are told by more than that.
    others: list[tuple[str, int]] = []
    if len(names) == 2 and names[0] == name and names[1] in theirs:
        # The two are taken from different outputs.
        taken = [edge for it in names for edge in pair.here.into(theirs[it])]
        if len({(edge.origin, edge.output) for edge in taken}) == 2:
            others.append((names[1], 1))
    for other in theirs:
        # The other side has no such gradient, or it is zeros.
        own = numbers_of(ours[other].outputs[0]) if other in ours else np.zeros(1)
        if own is not None and not own.any():
            others.append((other, FEW))
    first = numbers_of(pair.own)
    for other, fewest in others:
        second = numbers_of(theirs[other].outputs[0])
        if first is None or second is None or not first.shape == second.shape == pair.target.shape:
            continue
        is_told = min(np.unique(first).size, np.unique(second).size) >= fewest
        if is_told and first.any() and second.any():
            leaf = FromLeaf(other.removeprefix(GRADIENT), is_one_tensor=fewest == 1)
            yield (Rewire(source=leaf),), first + second


def gradients(flow: GraphView) -> dict[str, Node]:
    """The results of backward that a graph yields, by name."""
    results = [it for it in flow.graph.nodes if it.kind == "output" and it.outputs]
    return {it.name: it for it in results if it.phase == "backward"}


RELATIONS: dict[At, tuple[Relation, ...]] = {
    "ends": (times, layouts, plus, applied, tempered, with_parts, rounded_to, masked),
    "inner": (tempered,),
    "masks": (masked,),
    "leaf": (with_parts,),
    "rounded": (rounded_to,),
    "layout": (layouts,),
    "function": (activated,),
}
"""How one value may follow from another, the simplest ways first."""

OF_GRAPHS: dict[At, Callable[[ValuePair], Iterator[Proposal]]] = {
    "sum": factors_exchanged,
    "mean": of_some,
    "shared": shared,
}
"""How it may follow from other values of the graphs as well."""

SURROUNDED: frozenset[At] = frozenset({"ends", "inner", "leaf"})
"""Where sizes, numbers and values that are at hand may say how."""
