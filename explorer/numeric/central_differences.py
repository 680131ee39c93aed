"""What belongs to central differences: the directions of a leaf, and kinks between the slopes."""

import zlib

import numpy as np
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray
from explorer.numeric.differences import Floats


def directions(name: str, count: int, shape: tuple[int, ...]) -> AnyArray:
    """``count`` directions of unit length in a tensor of ``shape``, seeded by ``name`` alone.

    ``name`` is that of the leaf. The result is float64, of shape ``(count, *shape)``; the derivative
    along a row is its inner product with the gradient.
    """
    # Not hash(), which Python salts anew in every process.
    draws = np.random.default_rng(zlib.crc32(name.encode())).standard_normal((count, *shape))
    lengths = np.sqrt((draws**2).reshape(count, -1).sum(axis=1))
    scaled: AnyArray = draws / lengths.reshape(count, *(1,) * len(shape))
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
