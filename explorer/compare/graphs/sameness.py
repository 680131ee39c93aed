"""Equal within what rounding moves: the one rule of all comparisons, noise, and the frameworks' tolerances.

Two elements differ when they lie further apart than CLEAR times the noise of both sides. Where no noise says
how far that is, it is a part of their size.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray, Array, unpack
from explorer.model.graph import Output
from explorer.numeric.differences import Floats, elementwise_difference, real_dtype, real_parts
from explorer.numeric.summaries import FAR_LESS, LEAST_OF_ONE, MASK, UNIT, quantile

# The rule

ROUNDING = 3e-6
"""How far two elements may be apart as a part of the greater one, and of the usual size of all.

The usual size is no mask's: of -1e9 among scores, rounding takes hundreds, and theirs takes nothing.
"""


class Sameness(NamedTuple):
    """How far elements may be apart that are the same up to rounding: the ``base``, and a part of each.

    ``share`` is of the greater of the two: the relation is symmetric, unlike that of numpy.isclose. They are
    never further apart than ``most``. Of complex numbers the magnitudes are compared, as in
    torch.testing.assert_close. An infinity is near nothing, however great the tolerance that it makes: it is
    the same as itself alone, and a NaN as a NaN.
    """

    base: float
    most: float = math.inf
    share: float = ROUNDING

    def apart(self, one: AnyArray, other: AnyArray) -> float | None:
        """How far two values of one shape are apart at most; None where they are not the same."""
        a, b = (
            np.asarray(it, np.complex128 if it.dtype.kind == "c" else np.float64)
            for it in (one, other)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(a - b)
            room = self.base + self.share * np.maximum(np.abs(a), np.abs(b))
            near = np.isfinite(apart) & (apart <= np.minimum(room, self.most))
        # Most values are finite and near: what is the same otherwise is looked at only where they are not.
        if not near.all():
            left = real_parts(a[~near]), real_parts(b[~near])
            if elementwise_difference(*left).any():
                return None
            apart = apart[near]
        return float(apart.max(initial=0.0))


def within(one: AnyArray, other: AnyArray, tolerance: tuple[Any, Any]) -> bool:
    """Whether |one - other| ≤ atol + rtol · max(|one|, |other|) everywhere.

    ``tolerance`` is (rtol, atol), each a number or an array of one for each element.
    """
    rtol, atol = tolerance
    return Sameness(atol, share=rtol).apart(one, other) is not None


# Tolerances by dtype


TORCH_TABLE = {
    "float64": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}
"""The table of torch.testing.assert_close."""

MINDSPORE_TABLE = {
    "float64": (1e-5, 1e-5),
    "float32": (1e-4, 1e-4),
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 4e-3),
}
"""MindSpore's own table, element by element."""

CENTRAL = (1e-3, 1e-5)
"""(rtol, share of the scale) of an engine beside central differences of step 1e-6."""

EXACT = (0.0, 0.0)
"""(rtol, atol) of integers and booleans."""

COARSE = {"float16": TORCH_TABLE["float16"][0], "bfloat16": TORCH_TABLE["bfloat16"][0]}
"""The rtol of values that passed through a dtype coarser than float32, whatever their own is."""


def in_tables(one: AnyArray, other: AnyArray, dtype: str) -> tuple[bool, bool]:
    """Whether two arrays of a dtype are within PyTorch's table, and within MindSpore's."""
    real = real_dtype(dtype)
    in_torch, in_mindspore = (
        within(one, other, table.get(real, EXACT)) for table in (TORCH_TABLE, MINDSPORE_TABLE)
    )
    return in_torch, in_mindspore


# Noise


CLEAR = 16.0
"""A difference of more than this many times the noise is no noise.

Levels come from few runs, and the graph engines take those of their tapes: benchmarks/sensitivity
shows what this leaves to be found.
"""

NEAR = 4.0
"""Up to this many times the noise two results match; from here to CLEAR they are close."""

UNMEASURED = 8.0
"""The level of values whose noise was not measured, in units of their last place."""

TYPICAL = 0.75
"""The share of a tensor's elements whose noise is at most what no element's is less than.

One element may move little by luck; most of a tensor does not.
"""


def level(values: Floats, dtype: str, movement: Floats | None) -> Floats:
    """The noise level of every element, absolute: how far rounding alone may have moved it.

    ``movement`` is how far it was seen to move, None where that was not measured. The level is
    finite, and never below half a unit in the last place of ``dtype`` at the scale of the tensor.
    """
    # What is not finite has no neighbours that rounding could take it to.
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    floor = UNIT[dtype] * np.maximum(sizes, scale(values, movement))
    if movement is None:
        return UNMEASURED * floor
    # An element that became finite in a run, or ceased to be, has a noise that nobody knows.
    measured = np.where(np.isfinite(movement), movement, UNMEASURED * floor)
    return np.maximum(floor, np.maximum(measured, _typical_of_each(movement)))


def _typical_of_each(movement: Floats) -> Floats | float:
    """What is typical of each element's example: that of all, but where an example moves far less.

    One example whose values are lost in rounding, behind a mask of all its keys, hides nothing in others.
    Where most elements do not move at all, as in the gradient of an embedding whose other rows are not
    read, each example has what is typical of its own.
    """
    typical = _typical(movement)
    if movement.ndim < 2 or not movement.any() or movement[0].size < LEAST_OF_ONE:
        return typical
    examples = movement.reshape(len(movement), -1)
    of_each = np.array([_typical(one) if one.any() else 0.0 for one in examples])
    if typical:
        of_each = np.where(of_each * FAR_LESS < typical, of_each, typical)
    return np.asarray(of_each.reshape(-1, *[1] * (movement.ndim - 1)))


def _typical(movement: Floats) -> float:
    """What most elements moved by at most; those that became finite, or ceased to be, tell nothing."""
    finite = movement[np.isfinite(movement)]
    return quantile(finite, TYPICAL) if finite.size else 0.0


def scale(values: Floats, movement: Floats | None = None) -> float:
    """The magnitude that rounding in a tensor is relative to.

    It is the greatest element that is no mask; elements that are noise themselves do not tell what
    is typical: a packed bias may be noise in one half.
    """
    sizes = np.abs(values).ravel()
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if not sizes.size:
        return 0.0
    numbers = sizes
    if movement is not None:
        numbers = sizes[sizes > CLEAR * _typical(movement)]
    typical = quantile(numbers if numbers.size else sizes, 0.25)
    return float(sizes[sizes <= MASK * typical].max(initial=0.0))


def ratios(one: Floats, other: Floats, level_one: Floats, level_other: Floats) -> Floats:
    """How many times the noise of both sides two elements lie apart; 0 where they are equal.

    A NaN is infinitely far from a number, an infinity from all but itself, whatever the noise.
    """
    apart = elementwise_difference(one, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = apart / np.hypot(level_one, level_other)
    times = np.where(np.isinf(apart), np.inf, times)
    return np.where(apart == 0, 0.0, times)


def farthest(differences: Floats, times: Floats) -> int:
    """The place, in C order, of the element that lies apart by the most ``times`` its noise.

    Where several are infinitely far apart, or none is, it is that of the greatest difference.
    """
    return int(np.where(times == times.max(), differences, -1.0).argmax())


def greatest(differences: Floats, times: Floats) -> int:
    """The place, in C order, of the greatest of the differences that decide the verdict.

    Beside an element that differs clearly, a greater difference of one that only rounding moves
    says nothing.
    """
    ranks = rank(times)
    return int(np.where(ranks == ranks.max(), differences, -1.0).argmax())


def rank(times: Floats | np.float64) -> NDArray[np.int64]:
    """Of each multiple of the noise whether it is a match (0), close (1), or differs (2)."""
    return np.asarray(np.searchsorted((NEAR, CLEAR), times, side="left"))


# Values of graphs


USUAL = 8.0
"""How many times as large as a lower quartile most elements are at most."""

MASKED = 1e6
"""How many times as large as usual elements a mask's number is at least."""

EXPLAINED = 0.05
"""What an explanation may leave of a difference, as a part of it."""

MANY = 16
"""With fewer different numbers than this, two values in any order may hold the same by chance."""


def elements(array: Array) -> Floats:
    """All elements of a record in C order; of complex ones, the real part and the imaginary one."""
    return real_parts(unpack(array)).astype(np.float64).ravel()


def numbers_of(output: Output) -> Floats | None:
    """All elements of a value in its shape; None where they are not known: figures prove nothing equal."""
    if output.whole is None or output.whole.excerpt is not None:
        return None
    return real_parts(unpack(output.whole)).astype(np.float64)


def noise_of(one: Output, other: Output) -> float | None:
    """The noise of both values together; None where neither has one: infinite noise is none."""
    levels = [output.noise for output in (one, other) if output.noise is not None]
    finite = [level for level in levels if math.isfinite(level)]
    return sum(finite) if finite else None


def room_of(own: Output, target: Output) -> Sameness:
    """The room of two values that differ: an explanation leaves little of their difference."""
    numbers = [it.ravel() for it in map(numbers_of, (own, target)) if it is not None]
    sizes = np.abs(np.concatenate(numbers)) if numbers else np.zeros(0)
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    usual = min(USUAL * float(np.quantile(sizes, 0.25)), float(sizes.max())) if sizes.size else 0.0
    noise = CLEAR * (noise_of(own, target) or 0.0)
    if usual * MASKED < sizes.max(initial=0.0):
        noise = min(
            noise, EXPLAINED * usual
        )  # what a mask's numbers are rounded by is no room for others
    base = max(noise, ROUNDING * usual)
    difference = distance(own, target)
    return Sameness(base, EXPLAINED * difference) if difference else Sameness(base)


def distance(one: Output, other: Output) -> float | None:
    """How far two values are apart at most; None where that is not known, or infinite."""
    return apart_if_same(one, other, Sameness(math.inf))


def apart_if_same(one: Output, other: Output, room: Sameness) -> float | None:
    """How far two values are apart at most; None where they are not the same, or not known."""
    first, second = numbers_of(one), numbers_of(other)
    if first is None or second is None or first.size != second.size:
        return None
    return room.apart(first.ravel(), second.ravel())


def are_equal(one: Output, other: Output) -> bool:
    """Whether two values are the same up to rounding."""
    return apart_if_same(one, other, room_of(one, one)) is not None


def apart_in_any_order(one: Output, other: Output, own: Output, room: Sameness) -> float | None:
    """How far two values are apart in ascending order; None where they are not the same.

    None also where these are few numbers, or where ``own`` is as near in that order.
    """
    values = [numbers_of(it) for it in (one, other, own)]
    first, second, unchanged = (
        np.zeros(0) if it is None else np.sort(it, axis=None) for it in values
    )
    if not first.size == second.size == unchanged.size or np.unique(second).size < MANY:
        return None
    if room.apart(unchanged, second) is not None:
        return None
    return room.apart(first, second)


def is_telling(output: Output) -> bool:
    """Whether a value says something: one number but 0 does, many that are all the same do not."""
    numbers = numbers_of(output)
    if numbers is None:
        return False
    return np.unique(numbers).size > 1 or (numbers.size == 1 and bool(numbers.any()))
