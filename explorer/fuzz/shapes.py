"""Shapes of a random net: which operands an operator takes, and what shape it makes of them."""

from collections.abc import Callable, Sequence
from random import Random

Shape = tuple[int, ...]

Options = dict[str, str]
"""The texts that replace ``{axis}`` and the like in an operator's text."""

Fitted = tuple[Shape, Options]
"""The shape of a result, and the options of the operator."""

Fit = Callable[[Sequence[Shape], Random], Fitted | None]
"""What an operator makes of operands of some shapes; None if it does not take them."""

LARGEST = 64
"""The most elements that a tensor of a random net has."""

HIGHEST_RANK = 4


def size(shape: Shape) -> int:
    """The number of elements."""
    product = 1
    for length in shape:
        product *= length
    return product


def drawn_axis(shape: Shape, rng: Random) -> int:
    """An axis, by its number from the front or from the back."""
    axis = rng.randrange(len(shape))
    return axis - len(shape) if rng.random() < 0.3 else axis


def without(shape: Shape, axis: int, keep: bool) -> Shape:
    """The shape after a reduction along an axis."""
    axis %= len(shape)
    return (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :])


def broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """The shape to which shapes are broadcast; None where they are not."""
    result: list[int] = []
    longest = max(map(len, shapes))
    for place in range(1, longest + 1):
        lengths = {shape[-place] for shape in shapes if place <= len(shape)} - {1}
        if len(lengths) > 1:
            return None
        result.insert(0, lengths.pop() if lengths else 1)
    return tuple(result)


def resized(shape: Shape, axis: int, length: int) -> Shape:
    """The shape with another length along an axis."""
    return (*shape[:axis], length, *shape[axis + 1 :])


def same(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """Element by element: the operands are broadcast."""
    shape = broadcast(shapes)
    return None if shape is None or size(shape) > LARGEST else (shape, {})


def pairwise(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """One number of two tensors of one shape."""
    return ((), {}) if shapes[0] and len(set(shapes)) == 1 else None


def like_the_first(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """All of one shape."""
    return (shapes[0], {}) if len(set(shapes)) == 1 else None


Rule = Callable[[Shape, Random], Fitted | None]
"""What an operator makes of one operand; None if it does not take it."""


def of_rank(least: int, most: int = HIGHEST_RANK) -> Callable[[Rule], Fit]:
    """Makes a fit of a rule for one operand; those of other ranks, or empty, are not taken."""

    def fit_of(rule: Rule) -> Fit:
        def fit(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
            (shape,) = shapes
            is_taken = size(shape) > 0 and least <= len(shape) <= most
            return rule(shape, rng) if is_taken else None

        return fit

    return fit_of


def reduced(keep: bool, least: int = 0) -> Fit:
    """Reduced along an axis that is at least so long: of one element there is no spread."""

    def fit(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
        (shape,) = shapes
        if not shape:
            return None
        axis = drawn_axis(shape, rng)
        if shape[axis] < least:
            return None
        return without(shape, axis, keep), {"axis": str(axis)}

    return fit


def along(least: int = 1) -> Fit:
    """Along an axis that is at least so long; the shape stays."""

    def fit(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
        shape = shapes[0]
        if not shape:
            return None
        axis = drawn_axis(shape, rng)
        if shape[axis] < least:
            return None
        return shape, {"axis": str(axis)}

    return fit


def to_scalar(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """Reduced to one number."""
    return (), {}


def reshaped(shapes: Sequence[Shape], rng: Random) -> Fitted:
    """Another shape of as many elements."""
    left = size(shapes[0])
    shape: list[int] = []
    for factor in (2, 3, 5):
        while left % factor == 0 and len(shape) < HIGHEST_RANK - 1 and rng.random() < 0.7:
            shape.append(factor)
            left //= factor
    shape.append(left)
    rng.shuffle(shape)
    return tuple(shape), {"shape": str(tuple(shape))}


@of_rank(2)
def permuted(shape: Shape, rng: Random) -> Fitted | None:
    """The axes in another order."""
    order = list(range(len(shape)))
    rng.shuffle(order)
    return tuple(shape[axis] for axis in order), {"order": str(tuple(order))}


@of_rank(2)
def swapped(shape: Shape, _: Random) -> Fitted | None:
    """The first axis and the last one change places."""
    return (shape[-1], *shape[1:-1], shape[0]), {}


@of_rank(0, HIGHEST_RANK - 1)
def with_axis(shape: Shape, rng: Random) -> Fitted | None:
    """One more axis, of one element."""
    axis = rng.randrange(len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:]), {"axis": str(axis)}


def without_axis(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
    """Without an axis of one element."""
    (shape,) = shapes
    ones = [axis for axis, length in enumerate(shape) if length == 1]
    if not ones:
        return None
    axis = rng.choice(ones)
    return without(shape, axis, False), {"axis": str(axis)}


@of_rank(0, HIGHEST_RANK - 1)
def expanded(shape: Shape, _: Random) -> Fitted | None:
    """Repeated along a new first axis."""
    result = (2, *shape)
    return (result, {"shape": str(result)}) if size(result) <= LARGEST else None


@of_rank(1)
def tiled(shape: Shape, rng: Random) -> Fitted | None:
    """Twice in a row along an axis."""
    if size(shape) * 2 > LARGEST:
        return None
    axis = rng.randrange(len(shape))
    times = resized((1,) * len(shape), axis, 2)
    return resized(shape, axis, 2 * shape[axis]), {"times": str(times)}


@of_rank(1)
def repeated(shape: Shape, rng: Random) -> Fitted | None:
    """Each element twice along an axis."""
    if size(shape) * 2 > LARGEST:
        return None
    axis = rng.randrange(len(shape))
    return resized(shape, axis, 2 * shape[axis]), {"axis": str(axis)}


def joined(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
    """Joined along an axis."""
    one, other = shapes
    if not one or len(one) != len(other):
        return None
    axis = rng.randrange(len(one))
    if without(one, axis, False) != without(other, axis, False):
        return None
    result = resized(one, axis, one[axis] + other[axis])
    return None if size(result) > LARGEST else (result, {"axis": str(axis)})


def stacked(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
    """Stacked along a new axis."""
    one, other = shapes
    if one != other or len(one) >= HIGHEST_RANK or size(one) * 2 > LARGEST:
        return None
    axis = rng.randrange(len(one) + 1)
    return (*one[:axis], 2, *one[axis:]), {"axis": str(axis)}


def first_half(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
    """One half along an axis of even length."""
    (shape,) = shapes
    even = [axis for axis, length in enumerate(shape) if length % 2 == 0]
    if not even:
        return None
    axis = rng.choice(even)
    return resized(shape, axis, shape[axis] // 2), {
        "axis": str(axis),
        "half": str(shape[axis] // 2),
        "part": str(rng.randrange(2)),
    }


def sliced(start: int, step: int) -> Fit:
    """A slice of the first axis."""

    def fit(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
        shape = shapes[0]
        if not shape or shape[0] < 2:
            return None
        return (len(range(start, shape[0], step)), *shape[1:]), {}

    return fit


@of_rank(2)
def last(shape: Shape, _: Random) -> Fitted | None:
    """The last element of the last axis."""
    return shape[:-1], {}


@of_rank(1)
def row(shape: Shape, rng: Random) -> Fitted | None:
    """One row."""
    return shape[1:], {"place": str(rng.randrange(shape[0]))}


def written(shapes: Sequence[Shape], rng: Random) -> Fitted | None:
    """One whose first row takes the other."""
    one, other = shapes
    if len(one) < 2 or one[1:] != other:
        return None
    return one, {"place": str(rng.randrange(one[0]))}


@of_rank(1)
def gathered(shape: Shape, rng: Random) -> Fitted | None:
    """Three rows, which may be the same."""
    if size(shape) // shape[0] * 3 > LARGEST:
        return None
    places = [rng.randrange(shape[0]) for _ in range(3)]
    return (3, *shape[1:]), {"places": str(places)}


@of_rank(2, 2)
def taken(shape: Shape, rng: Random) -> Fitted | None:
    """Two elements of each row of a matrix."""
    rows = [[rng.randrange(shape[1]) for _ in range(2)] for _ in range(shape[0])]
    return (shape[0], 2), {"places": str(rows)}


@of_rank(1)
def padded(shape: Shape, _: Random) -> Fitted | None:
    """Three more elements along the last axis."""
    result = (*shape[:-1], shape[-1] + 3)
    return (result, {}) if size(result) <= LARGEST else None


@of_rank(2, 2)
def matrix(shape: Shape, _: Random) -> Fitted | None:
    """A matrix, whose shape stays."""
    return shape, {}


@of_rank(2, 2)
def diagonal(shape: Shape, _: Random) -> Fitted | None:
    """The diagonal of a matrix."""
    return (min(shape),), {}


@of_rank(2)
def flat(shape: Shape, _: Random) -> Fitted | None:
    """All axes but the first in one."""
    return (shape[0], size(shape[1:])), {}


def product(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """A product of matrices, to which a third operand may be added."""
    one, other = shapes[:2]
    if len(one) != 2 or len(other) != 2 or one[1] != other[0]:
        return None
    shape = (one[0], other[1])
    if len(shapes) == 3 and broadcast([shape, shapes[2]]) != shape:
        return None
    return shape, {}


def dense(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """A product with a transposed matrix."""
    one, other = shapes
    if len(one) < 2 or len(other) != 2 or one[-1] != other[1]:
        return None
    return (*one[:-1], other[0]), {}


def batched(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """Products of matrices in a batch."""
    one, other = shapes
    if len(one) != 3 or len(other) != 3 or one[0] != other[0] or one[2] != other[1]:
        return None
    return (one[0], one[1], other[2]), {}


def dot(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """The inner product of two rows."""
    one, other = shapes
    return ((), {}) if len(one) == 1 and one == other else None


def outer(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """The outer product of two rows."""
    one, other = shapes
    if len(one) != 1 or len(other) != 1:
        return None
    return (one[0], other[0]), {}


def normalised(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """Normalised along the last axis, with a weight for it."""
    one, other = shapes
    if len(one) < 2 or one[-1] < 3 or other != one[-1:]:
        return None
    return one, {"length": str(one[-1])}


def convolved(shapes: Sequence[Shape], _: Random) -> Fitted | None:
    """A row of numbers with a row of three or two."""
    one, other = shapes
    if len(one) != 1 or len(other) != 1 or not 1 < other[0] <= 3 or one[0] < other[0]:
        return None
    return (one[0] - other[0] + 1,), {}


@of_rank(2, 2)
def pooled(shape: Shape, _: Random) -> Fitted | None:
    """Windows of two by two."""
    if min(shape) < 2:
        return None
    return (shape[0] // 2, shape[1] // 2), {}


@of_rank(2, 2)
def loss(shape: Shape, rng: Random) -> Fitted | None:
    """A loss of rows of scores, with random labels."""
    if shape[1] < 2:
        return None
    return (), {"labels": str([rng.randrange(shape[1]) for _ in range(shape[0])])}
