"""How far two values may be apart that are the same up to rounding."""

import math
from typing import NamedTuple

import numpy as np

from explorer.compare.noise import CLEAR
from explorer.model.arrays import unpack
from explorer.model.graph import Output
from explorer.numeric.differences import Floats, real_parts

ROUNDING = 3e-6
"""How far two elements may be apart as a part of the greater one, and of the usual size of all.

The usual size is no mask's: of -1e9 among scores, rounding takes hundreds, and theirs takes nothing.
"""

USUAL = 8.0
"""How many times as large as a lower quartile most elements are at most."""

EXPLAINED = 0.05
"""What an explanation may leave of a difference, as a part of it."""


def distance(one: Output, other: Output) -> float | None:
    """How far two values are apart at most; None where that is not known."""
    first, second = _numbers(one), _numbers(other)
    if first is None or second is None or first.shape != second.shape:
        return None
    with np.errstate(invalid="ignore"):  # of two infinities that are equal
        apart = np.abs(first - second)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    greatest = float(np.where(same, 0.0, apart).max(initial=0.0))
    return greatest if np.isfinite(greatest) else None


def _numbers(output: Output) -> Floats | None:
    """All elements of a value in C order; None where they are not known: figures prove nothing equal."""
    numbers = numbers_of(output)
    return None if numbers is None else numbers.ravel()


class Room(NamedTuple):
    """How far elements may be apart that are the same up to rounding: the ``base``, and a part of each.

    ``most`` is what they may be apart anyway.
    """

    base: float
    most: float = math.inf

    def apart(self, made: Floats, target: Floats) -> float | None:
        """How far two values of one shape are apart at most; None where they are not the same."""
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(made - target)
            sizes = np.maximum(np.abs(made), np.abs(target))
        same = (made == target) | (np.isnan(made) & np.isnan(target))
        apart = np.where(same, 0.0, apart)
        room = np.minimum(self.base + ROUNDING * sizes, self.most)
        # An infinity beside a number has infinite room, and is not the same.
        if not np.all(same | (np.isfinite(apart) & (apart <= room))):
            return None
        return float(apart.max(initial=0.0))


def is_telling(output: Output) -> bool:
    """Whether a value says something: one number alone does, many that are all the same do not."""
    numbers = _numbers(output)
    return numbers is not None and (numbers.size == 1 or np.unique(numbers).size > 1)


def room_of(own: Output, target: Output) -> Room:
    """The room of two values that differ: an explanation leaves little of their difference."""
    numbers = [found for found in (_numbers(own), _numbers(target)) if found is not None]
    sizes = np.abs(np.concatenate(numbers)) if numbers else np.zeros(0)
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    usual = min(USUAL * float(np.quantile(sizes, 0.25)), float(sizes.max())) if sizes.size else 0.0
    base = max(CLEAR * (noise_of(own, target) or 0.0), ROUNDING * usual)
    difference = distance(own, target)
    return Room(base) if not difference else Room(base, EXPLAINED * difference)


def apart_if_same(one: Output, other: Output, room: Room) -> float | None:
    """How far two values are apart at most; None where they are not the same, or not known."""
    first, second = _numbers(one), _numbers(other)
    if first is None or second is None or first.shape != second.shape:
        return None
    return room.apart(first, second)


MANY = 16
"""With fewer different numbers than this, two values in any order may hold the same by chance."""


def apart_in_any_order(one: Output, other: Output, own: Output, room: Room) -> float | None:
    """How far two values are apart in ascending order; None where they are not the same.

    None also where these are few numbers, or where ``own`` is as near in that order.
    """
    values = [_numbers(it) for it in (one, other, own)]
    first, second, unchanged = (np.sort(it) if it is not None else np.zeros(0) for it in values)
    if not first.size == second.size == unchanged.size or np.unique(second).size < MANY:
        return None
    if room.apart(unchanged, second) is not None:
        return None
    return room.apart(first, second)


def noise_of(one: Output, other: Output) -> float | None:
    """The noise of both values together; None where neither has one: infinite noise is none."""
    levels = [output.noise for output in (one, other) if output.noise is not None]
    finite = [level for level in levels if math.isfinite(level)]
    return sum(finite) if finite else None


def numbers_of(output: Output) -> Floats | None:
    """All elements of a value in its shape; None where they are not known."""
    summary = output.values
    if summary is None or summary.whole is None:
        return None
    return real_parts(unpack(summary.whole)).astype(np.float64)


def are_equal(one: Output, other: Output) -> bool:
    """Whether two values are the same up to rounding."""
    first, second = numbers_of(one), numbers_of(other)
    if first is None or second is None or first.size != second.size:
        return False
    return room_of(one, one).apart(first.ravel(), second.ravel()) is not None
