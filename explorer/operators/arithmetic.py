"""What families of operators compute: all that an op may yield whose attributes are not known.

An engine proves a value by running the op again, with its attributes. This is what a record alone allows, for
the families whose arithmetic needs no attribute, or few to try.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Arithmetic = Callable[[Sequence[Floats], Floats], Iterable[Floats]]
"""Takes what an op reads and what it yields; gives everything that it might yield."""

POWERS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 1.5, -0.5, -1.0, -2.0)
"""Exponents that are tried where a record does not name them."""

GREATEST = 1e4
"""Greater numbers may be put in from outside: masks fill with -1e9."""


def yielded(family: str, inputs: Sequence[Floats], value: Floats) -> list[Floats]:
    """All that an op of a family may yield from what it reads that is as large as the ``value`` it has.

    Nothing where that is not known.
    """
    arithmetic = ARITHMETIC.get((family, len(inputs)))
    # Where shapes do not broadcast, the op has a meaning of its own.
    with contextlib.suppress(ValueError):
        made = arithmetic(inputs, value) if arithmetic else ()
        return [array for array in made if array.size == value.size]
    return []


def is_moved(family: str, inputs: Sequence[Floats], value: Floats, room: float) -> bool:
    """Whether an op of MOVES holds no numbers but those of its inputs, or a fill.

    ``room`` is the part of an element by which it may be off.
    """
    own = np.unique(np.concatenate([np.ravel(array) for array in inputs]))
    held = np.unique(value)
    places = np.clip(np.searchsorted(own, held), 1, max(own.size - 1, 1))
    nearest = np.minimum(
        np.abs(held - own[np.minimum(places, own.size - 1)]), np.abs(held - own[places - 1])
    )
    foreign = np.abs(held[nearest > room * np.abs(held)])
    if family in FILLS:
        foreign = foreign[~(np.isin(foreign, (0.0, 1.0)) | (foreign > GREATEST))]
    return not foreign.size


def _elementwise(function: Callable[..., Floats]) -> Arithmetic:
    return lambda inputs, _: [function(*inputs)]


def _sum(inputs: Sequence[Floats], value: Floats) -> Iterator[Floats]:
    """A sum of tensors, the second perhaps along channels, or times a factor that is not seen."""
    one, other = inputs
    for second in _along_any_axis(other, one):
        yield one + second
        if not value.shape == one.shape == second.shape or second.size == 1:
            continue
        # The factor is what the greatest element tells.
        place = np.unravel_index(int(np.abs(second).argmax()), second.shape)
        if second[place]:
            factor = (value[place] - one[place]) / second[place]
            yield one + second * float(f"{factor:.1e}")  # people write round ones


def _along_any_axis(array: Floats, like: Floats) -> Iterator[Floats]:
    """An array as it broadcasts to another, or in one row along any axis of it, as a bias does."""
    with contextlib.suppress(ValueError):
        yield np.broadcast_to(array, np.broadcast_shapes(array.shape, like.shape))
    if array.ndim == 1:
        for axis, length in enumerate(like.shape):
            if length == array.size:
                shape = [1] * like.ndim
                shape[axis] = length
                yield np.broadcast_to(array.reshape(shape), like.shape)


def _product(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Matrix products of two tensors, each as it is or transposed."""
    if min(array.ndim for array in inputs) < 2:
        return
    for one, other in product(*((array, np.swapaxes(array, -1, -2)) for array in inputs)):
        if one.shape[-1] == other.shape[-2]:
            yield np.matmul(one, other)


def _reduction(function: Callable[..., Floats]) -> Arithmetic:
    """A reduction along whichever axes."""

    def arithmetic(inputs: Sequence[Floats], _: Floats) -> Iterable[Floats]:
        (array,) = inputs
        counts = range(1, array.ndim + 1)
        some = chain.from_iterable(combinations(range(array.ndim), count) for count in counts)
        return [np.asarray(function(array, axis=axes)) for axes in some] or [array]

    return arithmetic


def _softmax(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    (array,) = inputs
    for axis in range(array.ndim):
        powers = np.exp(array - array.max(axis, keepdims=True))
        yield powers / powers.sum(axis, keepdims=True)


def _softmax_gradient(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Of an incoming gradient and the softmax, in either order."""
    for gradient, softmax in (tuple(inputs), tuple(reversed(inputs))):
        if gradient.shape == softmax.shape:
            for axis in range(softmax.ndim):
                inner = (gradient * softmax).sum(axis, keepdims=True)
                yield softmax * (gradient - inner)


ARITHMETIC: dict[tuple[str, int], Arithmetic] = {
    ("add", 2): _sum,
    # Engines differ in which of the two is taken from the other.
    ("sub", 2): lambda inputs, _: (inputs[0] - inputs[1], inputs[1] - inputs[0]),
    ("mul", 2): _elementwise(np.multiply),
    ("div", 2): _elementwise(np.divide),
    ("neg", 1): _elementwise(np.negative),
    ("abs", 1): _elementwise(np.abs),
    ("exp", 1): _elementwise(np.exp),
    ("log", 1): _elementwise(np.log),
    ("sin", 1): _elementwise(np.sin),
    ("cos", 1): _elementwise(np.cos),
    ("tanh", 1): _elementwise(np.tanh),
    ("sqrt", 1): _elementwise(np.sqrt),
    ("relu", 1): _elementwise(lambda array: np.maximum(array, 0)),
    ("sigmoid", 1): _elementwise(lambda array: 1 / (1 + np.exp(-array))),
    ("pow", 1): lambda inputs, _: [inputs[0] ** exponent for exponent in POWERS],
    ("matmul", 2): _product,
    ("sum", 1): _reduction(np.sum),
    ("mean", 1): _reduction(np.mean),
    ("max", 1): _reduction(np.max),
    ("expand", 1): lambda inputs, value: [np.repeat(inputs[0], value.size // inputs[0].size)],
    ("softmax", 1): _softmax,
    ("logsoftmax", 1): lambda inputs, value: map(np.log, _softmax(inputs, value)),
    ("softmaxgrad", 2): _softmax_gradient,
}
"""What a family computes, by the number of tensors that an op reads."""

FILLS = frozenset({"maskedfill", "where", "constantpadnd", "scatternd"})
"""Families that move numbers about, and put in one that is filled with: 0, ±1, or a great one."""

MOVES = FILLS | {
    *("reshape", "transpose", "identity", "slice", "concat", "embedding"),
    *("split", "tensormove", "inplacecopy", "cast"),
}
"""Families that move numbers about."""
