"""Seeded unit directions, along which the derivative of a large tensor is estimated.

They are alike in every process.
"""

import zlib

import numpy as np

from explorer.model.arrays import AnyArray


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
