"""Whether a recorded value is what its op yields from its recorded inputs, by plain arithmetic.

An engine proves a value by running the op again, with its attributes. This is the check that a
record alone allows, for the families whose arithmetic needs no attribute, or few to try.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, product

import numpy as np

from explorer.compare.align.vertices import OutputValue, Vertex
from explorer.compare.graphs.sameness import within
from explorer.numeric.differences import Floats

Arithmetic = Callable[[Sequence[Floats], Floats], Iterator[Floats]]
"""Takes what an op reads and what it yields; gives everything that it might yield."""

ROOM = 1e-3
"""The part of an element, and of the greatest one, by which a value may be off."""

ROUNDING = 1e-6
"""The part of what is summed up by which a sum may be off that cancels."""

POWERS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 1.5, -0.5, -1.0, -2.0)
"""Exponents that are tried where a record does not name them."""

GREATEST = 1e4
"""Greater numbers may be put in from outside: masks fill with -1e9."""


def is_yielded(node: Vertex) -> bool | None:
    """Whether a node holds what its op yields from its inputs; None where that is not known."""
    value = _floats(node.main)
    inputs = [_floats(read) for read in node.inputs]
    if value is None or not inputs:
        return None
    known = [array for array in inputs if array is not None]
    if len(known) < len(inputs):
        return None
    room = max(ROOM, 4 * node.coarseness)
    with np.errstate(all="ignore"):
        if node.family in MOVES:
            return _is_moved(value, known, room, may_fill=node.family in FILLS)
        arithmetic = ARITHMETIC.get((node.family, len(known)))
        return None if arithmetic is None else _is_computed(arithmetic, value, known, room)


def _is_computed(
    arithmetic: Arithmetic, value: Floats, known: list[Floats], room: float
) -> bool | None:
    """Whether a value is one that an op's arithmetic yields; None where none has its size."""
    candidates = [array for array in arithmetic(known, value) if array.size == value.size]
    if not candidates:
        return None
    greatest = max(float(np.abs(array).max()) for array in known)
    terms = max(array.size for array in known) / value.size
    floor = room * float(np.abs(value).max()) + ROUNDING * greatest * max(terms, 1.0)
    # In whatever layout.
    held = np.sort(value, axis=None)
    return any(within(np.sort(array, axis=None), held, (room, floor)) for array in candidates)


def fits(node: Vertex) -> bool:
    """Whether a node's value can be right, by its inputs or by what is computed from it.

    It can where nothing tells.
    """
    own = is_yielded(node)
    if own is not None:
        return own
    verdicts = {is_yielded(user) for user in node.users_in_phase if user.is_work}
    return True in verdicts or False not in verdicts


def _floats(value: OutputValue | None) -> Floats | None:
    """All elements in their shape, where they are known, finite and real."""
    numbers = None if value is None else value.finite_numbers
    if value is None or numbers is None or not 0 < numbers.size == value.size:
        return None
    return numbers.reshape(value.shape)


def _is_moved(value: Floats, inputs: Sequence[Floats], room: float, may_fill: bool) -> bool:
    """Whether an op that moves numbers about holds none but those of its inputs, or a fill."""
    own = np.unique(np.concatenate([np.ravel(array) for array in inputs]))
    held = np.unique(value)
    places = np.clip(np.searchsorted(own, held), 1, max(own.size - 1, 1))
    nearest = np.minimum(
        np.abs(held - own[np.minimum(places, own.size - 1)]), np.abs(held - own[places - 1])
    )
    foreign = np.abs(held[nearest > room * np.abs(held)])
    if may_fill:
        foreign = foreign[~(np.isin(foreign, (0.0, 1.0)) | (foreign > GREATEST))]
    return not foreign.size


# What the families compute


def _elementwise(function: Callable[..., Floats]) -> Arithmetic:
    def arithmetic(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
        try:
            yield function(*inputs)
        except ValueError:
            return  # shapes that do not broadcast: the op has a meaning of its own

    return arithmetic


def _difference(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Engines differ in which of the two is taken from the other."""
    one, other = inputs
    for result in _elementwise(np.subtract)((one, other), _):
        yield result
        yield -result


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


def _power(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    for exponent in POWERS:
        yield inputs[0] ** exponent


def _product(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Matrix products of two tensors, each as it is or transposed."""
    if min(array.ndim for array in inputs) < 2:
        return
    for one, other in product(*((array, np.swapaxes(array, -1, -2)) for array in inputs)):
        if one.shape[-1] == other.shape[-2]:
            yield from _elementwise(np.matmul)((one, other), _)


def _reduction(function: Callable[..., Floats]) -> Arithmetic:
    """A reduction along whichever axes."""

    def arithmetic(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
        (array,) = inputs
        axes = range(array.ndim)
        for some in chain.from_iterable(combinations(axes, n) for n in range(1, array.ndim + 1)):
            yield np.asarray(function(array, axis=some))
        if not array.ndim:
            yield array

    return arithmetic


def _spread(inputs: Sequence[Floats], value: Floats) -> Iterator[Floats]:
    array = inputs[0]
    if value.size % array.size == 0:
        yield np.repeat(array, value.size // array.size)


def _softmax(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    (array,) = inputs
    for axis in range(array.ndim):
        powers = np.exp(array - array.max(axis, keepdims=True))
        yield powers / powers.sum(axis, keepdims=True)


def _log_softmax(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    for softmax in _softmax(inputs, _):
        yield np.log(softmax)


def _softmax_gradient(inputs: Sequence[Floats], _: Floats) -> Iterator[Floats]:
    """Of an incoming gradient and the softmax, in either order."""
    for gradient, softmax in (tuple(inputs), tuple(reversed(inputs))):
        if gradient.shape == softmax.shape:
            for axis in range(softmax.ndim):
                inner = (gradient * softmax).sum(axis, keepdims=True)
                yield softmax * (gradient - inner)


def _sigmoid(array: Floats) -> Floats:
    sigmoid: Floats = 1 / (1 + np.exp(-array))
    return sigmoid


def _relu(array: Floats) -> Floats:
    relu: Floats = np.maximum(array, 0)
    return relu


ARITHMETIC: dict[tuple[str, int], Arithmetic] = {
    ("add", 2): _sum,
    ("sub", 2): _difference,
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
    ("relu", 1): _elementwise(_relu),
    ("sigmoid", 1): _elementwise(_sigmoid),
    ("pow", 1): _power,
    ("matmul", 2): _product,
    ("sum", 1): _reduction(np.sum),
    ("mean", 1): _reduction(np.mean),
    ("max", 1): _reduction(np.max),
    ("expand", 1): _spread,
    ("softmax", 1): _softmax,
    ("logsoftmax", 1): _log_softmax,
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
