"""Complex arrays as real ones, so that one arithmetic of figures and differences serves both."""

import numpy as np

from explorer.model.arrays import AnyArray

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
