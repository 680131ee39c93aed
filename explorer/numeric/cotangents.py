"""The cotangents that seed a backward pass wherever a case brings its own: alike for every engine."""

import numpy as np

from explorer.model.arrays import AnyArray, carrier


def cotangent(index: int, shape: tuple[int, ...], dtype: str) -> AnyArray:
    """The cotangent of output ``index``: evenly spaced from 0.5 to 1.5, plus the index.

    It has the numpy dtype that carries ``dtype``: that of bfloat16 is float32.
    """
    count = int(np.prod(shape))
    return (np.linspace(0.5, 1.5, count) + index).reshape(shape).astype(carrier(dtype))
