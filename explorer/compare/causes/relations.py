"""How one value follows from another: a factor, something added, a function, another layout.

Only what holds for every element, up to the room that rounding takes, is a relation; and only where
the elements are so many that it is no chance.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, combinations, permutations
from typing import Literal, NamedTuple

import numpy as np

from explorer.compare.graphs.sameness import ROUNDING, Sameness
from explorer.compare.graphs.view import Shape
from explorer.model.causes import Edits, Factor, InsertOperator
from explorer.numeric.differences import Floats

FEW = 4
"""With fewer different elements than this, a number between two values may be chance."""


class Found(NamedTuple):
    """Edits by which a value follows from recorded ones, and how far the two are apart at most."""

    edits: Edits
    apart: float


class Values(NamedTuple):
    """A value that may follow from another one, how far apart they may be, and what it may be made of.

    ``sizes`` are lengths of axes and products of them, ``shares`` are probabilities, ``parts``
    are values by name that may be added or multiplied, and ``shapes`` those that numbers may have had.
    """

    own: Floats
    target: Floats
    room: Sameness
    sizes: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    parts: Mapping[str, Floats] = {}
    shapes: tuple[Shape, ...] = ()

    @property
    def are_of_one_size(self) -> bool:
        """Whether both have as many elements, and some."""
        return self.own.size == self.target.size > 0

    def fitting(self, proposals: "Iterable[Proposal]") -> Iterator[Found]:
        """The proposals by which the one value follows from the other."""
        for edits, made in proposals:
            if made.size == self.target.size:
                apart = self.room.apart(made.reshape(self.target.shape), self.target)
                if apart is not None:
                    yield Found(edits if isinstance(edits, tuple) else (edits,), apart)


Proposal = tuple[InsertOperator | Edits, Floats]
"""What may be inserted behind a value, or edits, and what would follow by them."""

Relation = Callable[[Values], Iterator[Proposal]]


# Numbers


def times(values: Values) -> Iterator[Proposal]:
    """A factor."""
    if not values.are_of_one_size:
        return
    own, target = values.own.ravel(), values.target.ravel()
    finite = np.isfinite(own) & np.isfinite(target)
    if not finite.any():
        return
    square = float(np.dot(own[finite], own[finite]))
    if square == 0 or not math.isfinite(square):
        return
    factor = float(np.dot(own[finite], target[finite])) / square
    if factor == 0 or abs(factor - 1) < 1e-6:
        return
    greatest = float(np.abs(target[finite]).max())
    if greatest <= values.room.base:
        return  # what is nothing but rounding is any value times next to nothing
    named = named_factor(factor, values, values.room.base / greatest if greatest else 0.0)
    if named.form or _is_telling(own):
        yield InsertOperator(op="mul", factor=named), values.own * named.value


def plus(values: Values) -> Iterator[Proposal]:
    """A number that is added."""
    if not values.are_of_one_size or not _is_telling(values.own):
        return
    with np.errstate(invalid="ignore"):
        term = float(np.median(values.target.ravel() - values.own.ravel()))
    if math.isfinite(term) and term != 0:
        yield InsertOperator(op="add", factor=Factor(_rounded(term))), values.own + _rounded(term)


def _is_telling(value: Floats) -> bool:
    """Whether a value has so many different elements that a number for all of them is no chance."""
    return np.unique(value).size >= FEW


def _rounded(number: float) -> float:
    """A number with the digits that single precision has, where it has no more."""
    single = float(f"{number:.6g}")
    return single if abs(single - number) <= 1e-6 * abs(number) else number


FORMS: dict[str, Callable[[float], float]] = {
    "n": lambda n: n,
    "1/n": lambda n: 1 / n,
    "√n": math.sqrt,
    "1/√n": lambda n: 1 / math.sqrt(n),
}
"""What a factor may be of a size."""

SHARES: dict[str, Callable[[float], float]] = {
    "1-p": lambda p: 1 - p,
    "1/(1-p)": lambda p: 1 / (1 - p),
    "p": lambda p: p,
}
"""What it may be of a probability."""


def named_factor(factor: float, values: Values, room: float = 0.0) -> Factor:
    """A factor, and what it is of a size or a probability at hand, up to a part ``room`` of it."""
    tolerance = min(max(2e-6, room), 1e-4)
    for forms, numbers in ((FORMS, values.sizes), (SHARES, values.shares)):
        for number in sorted(set(numbers)):
            for form, value_of in forms.items():
                is_known = number > 1 if forms is FORMS else 0 < number < 1
                if is_known and math.isclose(value_of(number), factor, rel_tol=tolerance):
                    return Factor(value_of(number), form, number)  # type: ignore[arg-type]  # a key of the two tables
    return Factor(_rounded(factor))


# Another value


SUMS: dict[Literal["add", "sub", "mul"], np.ufunc] = {"add": np.add, "sub": np.subtract}
PRODUCTS: dict[Literal["add", "sub", "mul"], np.ufunc] = {"mul": np.multiply}


def with_parts(values: Values) -> Iterator[Proposal]:
    """Another value that is added or subtracted, or multiplied."""
    own, target = values.own, values.target
    # Zeros, such as a product with a state of zeros, plus anything are that.
    if own.shape != target.shape or not _is_telling(own) or not _is_telling(target):
        return
    fitting = []
    for name, part in values.parts.items():
        ends = zip(part.shape[::-1], target.shape[::-1], strict=False)
        fits = part.ndim <= target.ndim and all(one in (1, other) for one, other in ends)
        if fits and np.unique(part).size > 1:
            fitting.append((name, part))
    for operators in (SUMS, PRODUCTS):
        for name, part in fitting:
            for op, compute in operators.items():
                with np.errstate(invalid="ignore"):  # none times an infinity
                    made = compute(own, part)
                yield InsertOperator(op=op, name=name), made


# Functions

_erf = np.vectorize(math.erf, otypes=[np.float64])

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu by erf": lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2,
    "gelu by tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softplus": lambda x: np.logaddexp(x, 0),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}
"""Functions that frameworks compute in one op or in several."""


def activated(values: Values) -> Iterator[Proposal]:
    """A function that frameworks compute in one op or in several."""
    for name, function in ACTIVATIONS.items() if _is_telling(values.own) else ():
        with np.errstate(all="ignore"):
            made = function(values.own)
        yield InsertOperator(op="function", name=name), made


FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "relu": ACTIVATIONS["relu"],
    "sqrt": np.sqrt,
    "square": np.square,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "reciprocal": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "1 - x": lambda x: 1 - x,
    "sigmoid": ACTIVATIONS["sigmoid"],
    "tanh": np.tanh,
    "softmax": lambda x: _softmax(x),
    "log_softmax": lambda x: np.log(_softmax(x)),
}
"""Functions that one side may have more."""


def _softmax(x: Floats) -> Floats:
    """The softmax along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True)) if x.ndim else np.ones_like(x)
    made: Floats = powers / powers.sum(axis=-1, keepdims=True) if x.ndim else powers
    return made


def applied(values: Values) -> Iterator[Proposal]:
    """A function that one side has more."""
    if not values.are_of_one_size or not _is_telling(values.target):
        return
    for name, function in FUNCTIONS.items():
        with np.errstate(all="ignore"):
            made = function(values.own)
        if _is_change(values.own, made):
            yield InsertOperator(op="function", name=name), made


def _is_change(own: Floats, made: Floats) -> bool:
    """Whether a function does more to a value than rounding: a softmax of one only makes its sum 1 again."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(made - own)
    return bool(np.any(apart > ROUNDING * np.maximum(np.abs(own), 1)))


def tempered(values: Values) -> Iterator[Proposal]:
    """Two softmaxes of the same logits, times another factor."""
    if values.own.shape != values.target.shape or not values.own.ndim or not values.own.size:
        return
    logs = [_logits(value) for value in (values.own, values.target)]
    own, target = logs
    if own is None or target is None:
        return
    square = float((own * own).sum())
    factor = float((own * target).sum()) / square if square else 0.0
    if factor <= 0 or not _is_telling(own):
        return
    named = named_factor(factor, values, 1e-5)
    is_log = float(values.own.max()) <= 0
    softmax = _softmax(own * named.value)
    made = np.log(softmax) if is_log else softmax
    if _is_change(values.own, made):
        yield InsertOperator(op="temper", factor=named), made


def _logits(value: Floats) -> Floats | None:
    """The logits of a softmax or of its logarithm, with the mean 0; None of another value."""
    with np.errstate(all="ignore"):
        logs = value if float(value.max()) <= 0 else np.log(value)
        sums = np.exp(logs).sum(axis=-1)
    if not np.isfinite(logs).all() or not np.allclose(sums, 1, atol=1e-4):
        return None
    centred: Floats = logs - logs.mean(axis=-1, keepdims=True)
    return centred


def rounded_to(values: Values) -> Iterator[Proposal]:
    """A narrower dtype."""
    if not values.are_of_one_size:
        return
    with np.errstate(over="ignore"):
        halves = values.own.astype(np.float16).astype(np.float64)
    yield InsertOperator(op="cast", name="float16"), halves
    # The upper 16 bits of single precision.
    bits = values.own.astype(np.float32).view(np.uint32)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    upper: Floats = (nearest & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    yield InsertOperator(op="cast", name="bfloat16"), upper


# Another layout


MOST_AXES = 6
"""Values with more axes are not put into all orders."""

MOST_PLACES = 8
"""So many elements are looked at that may be the first one of a value that is shifted."""

SAMPLE = 16
"""So many elements are compared first."""

MOST_PARTS = 8
"""Equal parts of an axis whose order is looked for, such as the gates of a cell."""


def are_rearranged(own: Floats, target: Floats, room: Sameness) -> bool:
    """Whether two values hold the same numbers in some order."""
    if own.size != target.size:
        return False
    return room.apart(np.sort(own.ravel()), np.sort(target.ravel())) is not None


def layouts(values: Values) -> Iterator[Proposal]:
    """The same numbers in another order."""
    own, target, room = values[:3]
    is_telling = values.are_of_one_size and _is_telling(own)
    if not is_telling or not are_rearranged(own, target, room):
        return
    # Whatever the order of the axes, the first and the last element are at their places.
    ends = own.ravel()[[0, -1]], target.ravel()[[0, -1]]
    may_have_other_axes = room.apart(*ends) is not None
    if own.ndim <= MOST_AXES and may_have_other_axes:
        for order in permutations(range(own.ndim)):
            if order != tuple(range(own.ndim)):
                yield InsertOperator(op="transpose", numbers=order), own.transpose(order)
    if own.shape == target.shape:
        for axis in range(own.ndim):
            yield from _along(own, target, axis, room)
        yield from _along_several(own, target, room)
    if may_have_other_axes:
        whole = dict.fromkeys(chain(_finer_shapes(target.shape), values.shapes))
        for shape in (it for it in whole if len(it) <= MOST_AXES):
            yield from _regrouped(own, target, room, shape)


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
    for parts in range(2, min(MOST_PARTS, length - 1) + 1):
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
        shifts = [(axis, int(-by)) for axis, by in enumerate(place) if by]
        signed = [(axis, _nearer(by, own.shape[axis])) for axis, by in shifts]
        if len(signed) > 1:
            made = np.roll(own, [by for _, by in signed], [axis for axis, _ in signed])
            yield InsertOperator(op="roll", numbers=tuple(chain.from_iterable(signed))), made


def _nearer(steps: int, length: int) -> int:
    """Steps along an axis of a length, the other way round where that is nearer."""
    steps %= length
    return steps if steps <= length // 2 else steps - length


def _regrouped(
    own: Floats, target: Floats, room: Sameness, last: tuple[int, ...]
) -> Iterator[Proposal]:
    """Read in another shape, whose axes are then put into another order, as which they have a shape."""
    start = target.ravel()[:SAMPLE]
    for order in permutations(range(len(last))):
        if order == tuple(range(len(last))):
            continue
        shape = [0] * len(last)
        for place, axis in enumerate(order):
            shape[axis] = last[place]
        made = own.reshape(shape).transpose(order)
        if room.apart(made.flat[:SAMPLE], start) is not None:
            yield InsertOperator(op="regroup", shape=tuple(shape), numbers=order), made


def _finer_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A shape, and those with one of its axes as two."""
    yield shape
    if len(shape) >= MOST_AXES - 2:
        return
    for axis, length in enumerate(shape):
        for part in range(2, length):
            if length % part == 0:
                yield (*shape[:axis], part, length // part, *shape[axis + 1 :])


# Masks


def masked(values: Values) -> Iterator[Proposal]:
    """The same but for elements that are one number there."""
    own, target = values.own, values.target
    if own.size < 2 or own.squeeze().shape != target.squeeze().shape:
        return
    own = own.reshape(target.shape)
    with np.errstate(invalid="ignore"):
        others = ~(np.abs(own - target) <= values.room.base) & (own != target)
    count, numbers = int(others.sum()), np.unique(target[others])
    # A mask may have two numbers alone: then most of it is the same.
    is_much = _is_telling(own[~others]) or own.size > 2 * max(count, FEW)
    if np.unique(target).size < 2:
        return  # all of it is one number, whatever was masked
    if numbers.size == 1 and not np.isnan(numbers[0]) and 1 < count < own.size and is_much:
        number = float(numbers[0])
        made = np.where(others, number, own)
        yield InsertOperator(op="fill", factor=Factor(number), numbers=(count,)), made
