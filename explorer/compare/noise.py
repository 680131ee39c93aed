"""Noise and difference, the one rule of all comparisons, and the frameworks' tolerances.

Two elements differ when they lie further apart than CLEAR times the noise of both sides.
"""

import numpy as np
from numpy.typing import NDArray

from explorer.numeric.differences import Floats, elementwise_difference
from explorer.numeric.summaries import FAR_LESS, LEAST_OF_ONE, MASK, UNIT, quantile

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
