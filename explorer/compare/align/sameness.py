"""When two values are the same numbers: element by element, up to rounding, and in which layout."""

from dataclasses import dataclass
from math import hypot, nan

import numpy as np

from explorer.compare.align.vertices import OutputValue
from explorer.compare.graphs.sameness import CLEAR, within
from explorer.model.divergence import Layout
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

TIGHT = 3e-6
"""Differences below this, relative to a value's scale, are the rounding of float32 sums.

Candidates that lie so close go first.
"""

NOISE = 10.0
"""Results are noise about zero up to this many times ``atol``.

A gradient that cancels is a sum of larger terms, and has the rounding of these.
"""

LAYOUT_SLACK = 10.0
"""The multiple of the tolerance beyond which an element counts as being in another place."""

MOST_ROWS = 512
"""Of values with more rows it is not looked whether they have the same ones."""


@dataclass(frozen=True)
class Tolerance:
    """The tolerance within which two elements agree whose noise was not measured.

    ``rtol`` is relative to the element, ``atol`` to the tensor's typical greatest element. ``alike``
    are the names of results that agree whatever the levels of the graphs say.
    """

    rtol: float
    atol: float
    alike: frozenset[str] = frozenset()

    def layout(self, first: OutputValue, second: OutputValue) -> Layout | None:
        """How the equal numbers of two values lie differently, whose shapes are one but for ones.

        "transposed", "reordered", or None where they do not or not every element is known.
        """
        one, other = first.whole, second.whole
        if one is None or other is None or one.data == other.data:
            return None
        # Dimensions of length 1 say nothing of where numbers lie.
        if [it for it in one.shape if it != 1] != [it for it in other.shape if it != 1]:
            return None
        beside = elements_beside(first, second)
        if beside is None:
            return None
        left, right = beside
        rtol, floor = self._room(first, second, left.size)
        if within(left, right, (rtol, floor)):
            return None
        if len(one.shape) == 2:
            transposed = left.reshape(one.shape).T.ravel()
            if within(transposed, right, (rtol, floor.max())):
                return "transposed"
        return "reordered"

    def have_other_rows(self, first: OutputValue, second: OutputValue) -> bool:
        """Whether equal numbers of two values make up other rows along the last axis.

        The rows may be in any order, and in any shape. False where that is not known.
        """
        one, other = first.whole, second.whole
        beside = elements_beside(first, second)
        if one is None or other is None or beside is None or not (one.shape and other.shape):
            return False
        if one.shape[-1] != other.shape[-1] or first.size != second.size:
            return False
        rows, others = (side.reshape(-1, one.shape[-1]) for side in beside)
        if len(rows) > MOST_ROWS:
            return False
        rtol, floor = self._room(first, second, rows.size)
        room = rtol.max(), floor.max()
        return any(not any(within(row, it, room) for it in others) for row in rows)

    def _room(self, first: OutputValue, second: OutputValue, count: int) -> tuple[Floats, Floats]:
        """The (rtol, floor) beyond which each of ``count`` elements counts as being in another place."""
        scale = max(value.bucket.scale if value.bucket else 0.0 for value in (first, second))
        rtol, floor = allowances(
            self,
            (levels_of(first, count), levels_of(second, count)),
            np.array(max(unit_of(first), unit_of(second))),
            np.array(max(first.node.coarseness, second.node.coarseness)),
            np.array(scale),
        )
        return LAYOUT_SLACK * rtol, LAYOUT_SLACK * floor

    def are_one(self, first: OutputValue, second: OutputValue) -> bool:
        """Whether two values are the same numbers up to layout, or both rounding noise about zero."""
        return bool(first.agrees(second)) or self.are_noise(first, second, NOISE)

    def are_noise(self, first: OutputValue, second: OutputValue, room: float = 1.0) -> bool:
        """Whether two values of one size are rounding noise about zero.

        All their elements lie within CLEAR times their noise of zero; where the noise of one was
        not measured, within ``room`` times ``atol``.
        """
        if first.size != second.size:
            return False
        if first.noise is None or second.noise is None:
            limit = room * self.atol
        else:
            limit = CLEAR * hypot(first.noise, second.noise)
        if not (first.is_within(limit) and second.is_within(limit)):
            return False
        # Examples may have a noise of their own.
        if not (first.levels or second.levels) or first.shape != second.shape:
            return True
        beside = elements_beside(first, second)
        if beside is None:
            return True
        left, right = beside
        limits = CLEAR * np.hypot(levels_of(first, left.size), levels_of(second, right.size))
        return bool((np.maximum(np.abs(left), np.abs(right)) <= limits).all())


def elements_beside(first: OutputValue, second: OutputValue) -> tuple[Floats, Floats] | None:
    """All elements of two values; None where not all are known, and of a complex tensor and a real one."""
    one, other = first.numbers, second.numbers
    if one is None or other is None or one.shape != other.shape:
        return None
    return one, other


def allowances(
    tolerance: Tolerance,
    noise: tuple[Floats, Floats],
    unit: Floats,
    coarseness: Floats,
    scale: Floats,
) -> tuple[Floats, Floats]:
    """The (rtol, floor) within which elements of two values agree.

    That is CLEAR times the noise of both sides, each at least a rounding of its elements. Where
    the noise of a side (NaN) was not measured, it is the tolerance instead.
    """
    measured = CLEAR * np.hypot(*noise)
    rounding = CLEAR * 2**0.5 * unit
    rtol = np.maximum(tolerance.rtol, coarseness)
    known = CLEAR * np.fmax(np.fmax(*noise), 0.0)
    floor = np.maximum(tolerance.atol, coarseness) * scale + np.nan_to_num(known)
    is_measured = ~np.isnan(measured)
    return (
        np.where(is_measured, rounding, rtol),
        np.where(is_measured, measured + rounding * scale, floor),
    )


def unit_of(value: OutputValue) -> float:
    """The relative error of rounding to a value's dtype; 0 for integers."""
    return UNIT.get(value.dtype, 0.0)


def levels_of(value: OutputValue, count: int) -> Floats:
    """The noise of each of ``count`` elements of a value, in C order; NaN where it was not measured."""
    if value.levels and count >= value.size:
        return np.repeat(value.levels, count // len(value.levels))
    return np.full(count, nan if value.noise is None else value.noise)


def noise_at(value: OutputValue, numbers: Floats) -> Floats | None:
    """The noise of numbers of a value; None where that was not measured.

    It is at least a rounding of each number, as it is where results are compared.
    """
    if value.noise is None:
        return None
    scale = value.bucket.scale if value.bucket else 0.0
    sizes = np.where(np.isfinite(numbers), np.abs(numbers), 0.0)
    rounding = unit_of(value) * np.maximum(sizes, scale)
    level: Floats = np.maximum(levels_of(value, numbers.size), rounding)
    return level
