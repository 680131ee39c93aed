"""How far two nested lists of figures lie apart."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.text.numbers import number


def greatest_difference(one: Any, other: Any) -> float:
    """The greatest absolute difference of two nested lists of numbers, each spelt as strict JSON
    has it.

    Infinite where shapes differ, or where one has a finite number and the other has not.
    """
    left = _floats(one)
    right = _floats(other)
    if left.shape != right.shape:
        return math.inf
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)):
        return math.inf
    return float(np.max(np.abs(left[finite] - right[finite]), initial=0.0))


def _floats(value: Any) -> NDArray[np.float64]:
    floats: NDArray[np.float64] = np.vectorize(number, otypes=[float])(
        np.array(value, dtype=object)
    )
    return floats
