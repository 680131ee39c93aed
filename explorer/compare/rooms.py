"""How far two values may be apart that are the same up to rounding."""

import math

import numpy as np

from explorer.compare.noise import CLEAR
from explorer.model.arrays import unpack
from explorer.model.graph import Output
from explorer.numeric.differences import Floats, real_parts

ROUNDING = 3e-6
"""How far two values may be apart relative to their greatest element where no noise was measured."""

EXPLAINED = 0.05
"""What an explanation may leave of a difference, as a part of it."""


def distance(one: Output, other: Output) -> float | None:
    """How far two values are apart at most; None where that is not known.

    Of values that are not kept whole, their figures are compared.
    """
    first, second = _numbers(one), _numbers(other)
    if first is None or second is None or first.shape != second.shape:
        return None
    apart = np.abs(first - second)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    greatest = float(np.where(same, 0.0, apart).max(initial=0.0))
    return greatest if np.isfinite(greatest) else None


def _numbers(output: Output) -> Floats | None:
    """The elements of a value in C order, or figures of one that is not kept whole."""
    summary = output.values
    if summary is None:
        return None
    if summary.whole is not None:
        return real_parts(unpack(summary.whole)).astype(np.float64).ravel()
    figures = (summary.minimum, summary.maximum, summary.mean, summary.norm, *summary.quantiles)
    return np.array([*figures, summary.nonfinite], np.float64)


def allowance(one: Output, other: Output) -> float:
    """How far two values may be apart that are the same up to rounding."""
    numbers = [np.abs(found) for found in (_numbers(one), _numbers(other)) if found is not None]
    scale = max((float(np.nanmax(found, initial=0.0)) for found in numbers), default=0.0)
    return max(CLEAR * (noise_of(one, other) or 0.0), ROUNDING * scale)


def noise_of(one: Output, other: Output) -> float | None:
    """The noise of both values together; None where neither has one: infinite noise is none."""
    levels = [output.noise for output in (one, other) if output.noise is not None]
    finite = [level for level in levels if math.isfinite(level)]
    return sum(finite) if finite else None
