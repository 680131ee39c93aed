"""Differences of arrays, and the gradient by central differences."""

import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray
from explorer.text.numbers import number

REAL_DTYPES = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the parts of a complex number."""


def real_parts(array: AnyArray) -> AnyArray:
    """A complex array as a real one with a last axis of two, (re, im); any other as it is."""
    if array.dtype.kind != "c":
        return array
    return np.stack([array.real, array.imag], axis=-1)


def real_dtype(dtype: str) -> str:
    """The dtype of the real numbers that a tensor of ``dtype`` is made of."""
    return REAL_DTYPES.get(dtype, dtype)


Floats = NDArray[np.float64]


def are_equal(one: Floats, other: Floats) -> NDArray[np.bool_]:
    """Whether elements are equal, an infinity to the same infinity, and a NaN to a NaN."""
    both_nan = np.isnan(one) & np.isnan(other)
    equal: NDArray[np.bool_] = (one == other) | both_nan
    return equal


def elementwise_difference(one: Floats, other: Floats) -> Floats:
    """The absolute difference of elements: 0 where ``are_equal``, infinite where only one is NaN."""
    # An infinity minus itself and a difference that overflows deserve no warning.
    with np.errstate(invalid="ignore", over="ignore"):
        differences = np.where(are_equal(one, other), 0.0, np.abs(one - other))
    return np.where(np.isnan(differences), np.inf, differences)


def greatest_difference(one: Any, other: Any) -> float:
    """The greatest absolute difference of two nested lists of numbers.

    Numbers are spelt as strict JSON has them. The difference is infinite where shapes differ, or
    where a number that is not finite does not stand beside the same.
    """
    left = _floats(one)
    right = _floats(other)
    if left.shape != right.shape:
        return math.inf
    return float(np.max(elementwise_difference(left, right), initial=0.0))


def relative_error(values: Any, reference: Any) -> float:
    """The greatest absolute difference, as a share of the reference's greatest absolute value.

    Both are nested lists of numbers, spelt as strict JSON has them. The error is zero where they
    are equal; it is infinite where shapes differ, where a number is not finite, and where the
    reference is all zeros and the values are not.
    """
    if not (np.isfinite(_floats(values)).all() and np.isfinite(_floats(reference)).all()):
        return math.inf
    difference = greatest_difference(values, reference)
    if difference == 0:
        return 0.0
    scale = float(np.max(np.abs(_floats(reference)), initial=0.0))
    return difference / scale if scale else math.inf


def _floats(value: Any) -> Floats:
    # An array of objects first: numpy would make strings of all numbers beside one "NaN".
    floats: Floats = np.vectorize(number, otypes=[float])(np.array(value, dtype=object))
    return floats


def directions(name: str, count: int, shape: tuple[int, ...]) -> AnyArray:
    """``count`` directions of unit length in a tensor of ``shape``, seeded by ``name`` alone.

    ``name`` is that of the leaf. The result is float64, of shape ``(count, *shape)``; the derivative
    along a row is its inner product with the gradient.
    """
    return np.stack([direction(name, number, shape) for number in range(count)])


def direction(name: str, number: int, shape: tuple[int, ...]) -> AnyArray:
    """One row of directions(): ``number`` seeds it too, so that each is drawn without the others."""
    # Not hash(), which Python salts anew in every process.
    drawn = np.random.default_rng((zlib.crc32(name.encode()), number)).standard_normal(shape)
    scaled: AnyArray = drawn / np.sqrt((drawn**2).sum())
    return scaled


CLEAR = 4.0
"""How many times the noise of rounding a parting of two slopes must be."""

KINK = 1e-4
"""Slopes to either side of a point that part by more than this share of the greatest make a kink.

At a step of 1e-6 those of a smooth net do so only where its curvature is two hundred times its slope.
"""


def is_kink(central: Floats, parting: Floats, noise: float) -> NDArray[np.bool_]:
    """Where slopes part by more than curvature and rounding can make them.

    ``central`` are the means of the slopes to either side, ``parting`` half of what they part by, of
    which ``noise`` may be rounding.
    """
    size = np.abs(parting)
    greatest = max(float(np.max(np.abs(central), initial=0.0)), float(np.max(size, initial=0.0)))
    least = max(KINK * greatest, CLEAR * noise)
    clear: NDArray[np.bool_] = np.isfinite(size) & (size > least)
    return clear
