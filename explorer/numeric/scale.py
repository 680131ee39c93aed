"""The scale of a tensor: what rounding in it is relative to, and which elements tell nothing of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.numeric.differences import Floats
from explorer.numeric.order_statistics import quantile

UNIT = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}
"""Half a unit in the last place of 1: the greatest relative error of one rounding."""

GREATEST = {
    "float64": float(np.finfo(np.float64).max),
    "float32": float(np.finfo(np.float32).max),
    "float16": float(np.finfo(np.float16).max),
    "bfloat16": (2 - 2.0**-7) * 2.0**127,  # numpy has none
    "complex64": float(np.finfo(np.float32).max),
    "complex128": float(np.finfo(np.float64).max),
}
"""The greatest finite number, by dtype."""

MASK = 1e4
"""Elements this many times greater than the typical one do not raise the scale of rounding.

Such are the -1e9 of attention masks.
"""

FEW_UNITS = 4
"""An element that moves by at most so many times UNIT of itself is rounded, and no more."""


def rounded_masks(values: Floats, movement: Floats, dtype: str) -> NDArray[Any]:
    """Which elements are masks that only their own rounding moves: that of -1e9 is 64 in float32.

    ``movement`` is how far each element of ``values`` moves, and ``dtype`` that of the tensor.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    numbers = sizes[sizes > 0]
    typical = quantile(numbers, 0.25) if numbers.size else 0.0
    is_rounded = movement <= FEW_UNITS * UNIT.get(dtype, 0.0) * sizes
    masks: NDArray[Any] = (sizes > MASK * typical) & is_rounded
    return masks
