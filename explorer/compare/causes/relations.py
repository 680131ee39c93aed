"""Two recorded values, and how one follows from the other: a factor, something added, a mask, another order.

Only what holds for every element, up to the room that rounding takes, is a relation; and only where
the elements are so many that it is no chance.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, permutations, product
from typing import NamedTuple

import numpy as np

from explorer.compare.causes.inputs import label_of
from explorer.compare.causes.rows import size_of
from explorer.compare.graphs.sameness import Sameness, numbers_of, room_of
from explorer.compare.graphs.view import GraphView, Shape
from explorer.model.causes import Edits, Factor, FactorForm, Inserted, InsertOperator
from explorer.model.graph import OTHER, ArgumentValue, Node, Output, SideName
from explorer.numeric.differences import Floats

FEW = 4
"""With fewer different elements than this, a number between two values may be chance."""

MOST_PARTS = 300
"""So many values are looked at that may have been added or multiplied, the nearest ones first."""

NEAR = 4
"""So many ops back are the sizes of which a factor may be something."""

Proposal = tuple[InsertOperator | Edits, Floats]
"""What may be inserted behind a value, or edits, and what would follow by them."""


class Found(NamedTuple):
    """Edits by which a value follows from recorded ones, and how far the two are apart at most."""

    edits: Edits
    apart: float


@dataclass(frozen=True)
class ValuePair:
    """The first values of two nodes, of which that of ``other`` may follow from that of ``node``.

    ``node`` is one of ``side``, and ``other`` one of ``there``; or of the same side, which alone has it
    (``is_extra``). It may follow by one of the ``relations``, and with a ``name`` by that alone. A ``part``
    has the value of a leaf that is cut, or its gradient; of a function and a mean, that of the node ``read``
    is computed with. The ``shapes`` are those that moved numbers had on their way.
    """

    side: SideName
    here: GraphView
    there: GraphView
    node: Node
    other: Node
    relations: "tuple[Relation, ...]"
    is_extra: bool = False
    name: str = ""
    part: Node | None = None
    read: Node | None = None
    shapes: tuple[Shape, ...] = ()

    @property
    def outputs(self) -> tuple[Output, Output]:
        """The value from which the other one may follow, and that one."""
        return (self.read or self.part or self.node).outputs[0], self.other.outputs[0]

    @cached_property
    def own(self) -> Floats:
        """The numbers of the first value; none where they are not known."""
        return known_numbers(self.outputs[0])

    @cached_property
    def target(self) -> Floats:
        """The numbers that may follow; none where they are not known."""
        return known_numbers(self.outputs[1])

    @cached_property
    def room(self) -> Sameness:
        """How far the two may be apart."""
        return room_of(*self.outputs)

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """What a factor may be of: lengths of axes and products of them, then probabilities."""
        outputs = list(self.outputs)
        given: list[ArgumentValue] = []
        for flow, node in ((self.here, self.node), (self.there, self.other)):
            for read in flow.read_by_row(node, NEAR):
                outputs += read.outputs[:1]
            given += node.arguments.values()
            layer = flow.graph.layers.get(node.scope)
            given += layer.settings.values() if layer else ()
        sizes: set[int] = set()
        for shape in (output.shape for output in outputs):
            sizes.update(shape, (math.prod(shape[axis:]) for axis in range(len(shape))))
        shares = {value for value in given if isinstance(value, float) and 0 < value < 1}
        return *sorted(size for size in sizes if size > 1), *sorted(shares)

    @cached_property
    def parts(self) -> list[tuple[str, Floats]]:
        """Values by name that may be added or multiplied: parameters, then those before, nearest first."""
        other = self.other
        nodes = [
            it for it in self.there.graph.nodes if it.order < other.order or it.kind == "parameter"
        ]
        nodes += [it for it in self.here.graph.nodes if it.kind == "parameter"]
        nodes.sort(key=lambda it: (it.kind != "parameter", abs(other.order - it.order)))
        parts = []
        for node in nodes[:MOST_PARTS]:
            if node.kind != "output" and node.id != other.id and node.outputs:
                value = known_numbers(node.outputs[0])
                if 1 < value.size <= size_of(other):
                    parts.append((label_of(node), value))
        return parts

    def follows(self) -> Found | None:
        """The first edits by which the one value follows from the other; None where it does not."""
        own, target = self.own, self.target
        for relation in self.relations if own.size == target.size > 0 else ():
            for proposed, made in relation(self):
                edits = proposed if isinstance(proposed, tuple) else (proposed,)
                if made.size == target.size and self.name in ("", getattr(edits[0], "name", "")):
                    apart = self.room.apart(made.reshape(target.shape), target)
                    if apart is not None:
                        return Found(edits, apart)
        return None

    def both_ways(self) -> "tuple[ValuePair, ValuePair]":
        """The pair, and the one in which the first value may follow from the second."""
        here, there, node, other = self.there, self.here, self.other, self.part or self.node
        turned = ValuePair(OTHER[self.side], here, there, node, other, self.relations)
        return self, replace(turned, shapes=self.shapes)


Relation = Callable[[ValuePair], Iterator[Proposal]]


def known_numbers(output: Output) -> Floats:
    """All elements of a value in its shape; none where they are not known."""
    numbers = numbers_of(output)
    return np.zeros(0) if numbers is None else numbers


def is_varied(value: Floats) -> bool:
    """Whether a value has so many different elements that a number for all of them is no chance."""
    return np.unique(value).size >= FEW


# Numbers


def times(pair: ValuePair) -> Iterator[Proposal]:
    """A factor."""
    own, target = pair.own.ravel(), pair.target.ravel()
    finite = np.isfinite(own) & np.isfinite(target)
    square = float(np.dot(own[finite], own[finite]))
    greatest = float(np.abs(target[finite]).max(initial=0.0))
    # What is nothing but rounding is any value times next to nothing.
    if square == 0 or not math.isfinite(square) or greatest <= pair.room.base:
        return
    factor = float(np.dot(own[finite], target[finite])) / square
    if factor == 0 or abs(factor - 1) < 1e-6:
        return
    named = named_factor(factor, pair, pair.room.base / greatest)
    if named.form or is_varied(own):
        yield InsertOperator(op="mul", factor=named), pair.own * named.value


def plus(pair: ValuePair) -> Iterator[Proposal]:
    """A number that is added."""
    if is_varied(pair.own):
        with np.errstate(invalid="ignore"):
            term = _rounded(float(np.median(pair.target.ravel() - pair.own.ravel())))
        if math.isfinite(term) and term != 0:
            yield InsertOperator(op="add", factor=Factor(term)), pair.own + term


def _rounded(number: float) -> float:
    """A number with the digits that single precision has, where it has no more."""
    single = float(f"{number:.6g}")
    return single if abs(single - number) <= 1e-6 * abs(number) else number


OF_SIZES: dict[FactorForm, Callable[[float], float]] = {
    "n": lambda n: n,
    "1/n": lambda n: 1 / n,
    "√n": math.sqrt,
    "1/√n": lambda n: 1 / math.sqrt(n),
}
"""What a factor may be of a size."""

OF_SHARES: dict[FactorForm, Callable[[float], float]] = {
    "1-p": lambda p: 1 - p,
    "1/(1-p)": lambda p: 1 / (1 - p),
    "p": lambda p: p,
}
"""What it may be of a probability."""


def named_factor(factor: float, pair: ValuePair, room: float = 0.0) -> Factor:
    """A factor, and what it is of a size or a probability at hand, up to a part ``room`` of it."""
    tolerance = min(max(2e-6, room), 1e-4)
    for number in pair.sizes:
        for form, value_of in (OF_SIZES if number > 1 else OF_SHARES).items():
            if math.isclose(value_of(number), factor, rel_tol=tolerance):
                return Factor(value_of(number), form, number)
    return Factor(_rounded(factor))


# Another value

SUMS: dict[Inserted, np.ufunc] = {"add": np.add, "sub": np.subtract}
PRODUCTS: dict[Inserted, np.ufunc] = {"mul": np.multiply}


def with_parts(pair: ValuePair) -> Iterator[Proposal]:
    """Another value that is added or subtracted, or multiplied."""
    own, target = pair.own, pair.target
    # Zeros, such as a product with a state of zeros, plus anything are that.
    if own.shape != target.shape or not is_varied(own) or not is_varied(target):
        return
    fitting = []
    for name, part in pair.parts:
        ends = zip(part.shape[::-1], target.shape[::-1], strict=False)
        fits = part.ndim <= target.ndim and all(one in (1, other) for one, other in ends)
        if fits and np.unique(part).size > 1:
            fitting.append((name, part))
    for operators in SUMS, PRODUCTS:
        for (name, part), op in product(fitting, operators):
            with np.errstate(invalid="ignore"):  # none times an infinity
                made = operators[op](own, part)
            yield InsertOperator(op=op, name=name), made


# Another dtype, and masks


def rounded_to(pair: ValuePair) -> Iterator[Proposal]:
    """A narrower dtype."""
    with np.errstate(over="ignore"):
        halves = pair.own.astype(np.float16).astype(np.float64)
    yield InsertOperator(op="cast", name="float16"), halves
    # The upper 16 bits of single precision.
    bits = pair.own.astype(np.float32).view(np.uint32)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    upper: Floats = (nearest & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    yield InsertOperator(op="cast", name="bfloat16"), upper


def masked(pair: ValuePair) -> Iterator[Proposal]:
    """The same but for elements that are one number there."""
    own, target = pair.own, pair.target
    if own.size < 2 or own.squeeze().shape != target.squeeze().shape:
        return
    own = own.reshape(target.shape)
    with np.errstate(invalid="ignore"):
        others = ~(np.abs(own - target) <= pair.room.base) & (own != target)
    count, numbers = int(others.sum()), np.unique(target[others])
    # A mask may have two numbers alone: then most of it is the same.
    is_much = is_varied(own[~others]) or own.size > 2 * max(count, FEW)
    if np.unique(target).size < 2:
        return  # all of it is one number, whatever was masked
    if numbers.size == 1 and not np.isnan(numbers[0]) and 1 < count < own.size and is_much:
        number = float(numbers[0])
        made = np.where(others, number, own)
        yield InsertOperator(op="fill", factor=Factor(number), numbers=(count,)), made


# Another order

MOST_AXES = 6
"""Values with more axes are not put into all orders."""

MOST_PLACES = 8
"""So many elements are looked at that may be the first one of a value that is shifted."""

SAMPLE = 16
"""So many elements are compared first."""

MOST_BLOCKS = 8
"""Equal parts of an axis whose order is looked for, such as the gates of a cell."""


def are_rearranged(own: Floats, target: Floats, room: Sameness) -> bool:
    """Whether two values hold the same numbers in some order."""
    if own.size != target.size:
        return False
    return room.apart(np.sort(own.ravel()), np.sort(target.ravel())) is not None


def layouts(pair: ValuePair) -> Iterator[Proposal]:
    """The same numbers in another order."""
    own, target, room = pair.own, pair.target, pair.room
    if not is_varied(own) or not are_rearranged(own, target, room):
        return
    # Whatever the order of the axes, the first and the last element are at their places.
    ends = own.ravel()[[0, -1]], target.ravel()[[0, -1]]
    may_have_other_axes = room.apart(*ends) is not None
    if own.ndim <= MOST_AXES and may_have_other_axes:
        for order in _other_orders(own.ndim):
            yield InsertOperator(op="transpose", numbers=order), own.transpose(order)
    # The order of single rows says least.
    rows: list[Proposal] = []
    if own.shape == target.shape:
        for proposal in chain.from_iterable(
            _along(own, target, it, room) for it in range(own.ndim)
        ):
            if isinstance(proposal[0], InsertOperator) and proposal[0].op == "rows":
                rows.append(proposal)
            else:
                yield proposal
        yield from _along_several(own, target, room)
    for shape in _finer_shapes(target.shape, pair.shapes) if may_have_other_axes else ():
        # Read in another shape, whose axes are then put into another order, as which they have this shape.
        for order in _other_orders(len(shape)):
            read = tuple(shape[order.index(axis)] for axis in range(len(shape)))
            made = own.reshape(read).transpose(order)
            if room.apart(made.flat[:SAMPLE], target.ravel()[:SAMPLE]) is not None:
                yield InsertOperator(op="regroup", shape=read, numbers=order), made
    yield from rows


def _other_orders(axes: int) -> Iterator[Shape]:
    """The orders of so many axes but their own, which is the first."""
    orders = permutations(range(axes))
    next(orders)
    return orders


def _along(own: Floats, target: Floats, axis: int, room: Sameness) -> Iterator[Proposal]:
    """The same rows along an axis, in another order."""
    length = own.shape[axis]
    if length < 2:
        return
    yield InsertOperator(op="flip", numbers=(axis,)), np.flip(own, axis)
    for steps in range(1, length):
        signed = _nearer(steps, length)
        yield InsertOperator(op="roll", numbers=(axis, signed)), np.roll(own, signed, axis)
    # Which row of the one value each row of the other one is, where that is clear.
    rows, wanted = (np.moveaxis(it, axis, 0).reshape(length, -1) for it in (own, target))
    order: list[int] = []
    for row in wanted:
        places = [place for place, it in enumerate(rows) if room.apart(it, row) is not None]
        if len(places) != 1:
            return
        order += places
    if order == list(range(length)):
        return
    made = np.take(own, order, axis)
    for parts in range(2, min(MOST_BLOCKS, length - 1) + 1):
        size, rest = divmod(length, parts)
        blocks = [order[start] // size for start in range(0, length, size)]
        if not rest and order == [block * size + it for block in blocks for it in range(size)]:
            yield InsertOperator(op="blocks", numbers=(axis, *blocks)), made
    yield InsertOperator(op="rows", numbers=(axis, *order)), made


def _along_several(own: Floats, target: Floats, room: Sameness) -> Iterator[Proposal]:
    """In reverse along several axes, and shifted along several."""
    for count in range(2, own.ndim + 1):
        for axes in combinations(range(own.ndim), count):
            yield InsertOperator(op="flip", numbers=axes), np.flip(own, axes)
    first = target[(0,) * target.ndim]
    with np.errstate(invalid="ignore"):
        places = np.argwhere(np.abs(own - first) <= room.base)
    for place in places[:MOST_PLACES]:
        steps = [(axis, _nearer(int(-by), own.shape[axis])) for axis, by in enumerate(place) if by]
        if len(steps) > 1:
            made = np.roll(own, [by for _, by in steps], [axis for axis, _ in steps])
            yield InsertOperator(op="roll", numbers=tuple(chain.from_iterable(steps))), made


def _nearer(steps: int, length: int) -> int:
    """Steps along an axis of a length, the other way round where that is nearer."""
    steps %= length
    return steps if steps <= length // 2 else steps - length


def _finer_shapes(shape: Shape, others: tuple[Shape, ...]) -> list[Shape]:
    """A shape, those with one of its axes as two, and others; none with too many axes."""
    shapes = [shape]
    for axis, length in enumerate(shape) if len(shape) < MOST_AXES - 1 else ():
        parts = [part for part in range(2, length) if length % part == 0]
        shapes += [(*shape[:axis], it, length // it, *shape[axis + 1 :]) for it in parts]
    return [it for it in dict.fromkeys((*shapes, *others)) if len(it) <= MOST_AXES]
