"""Derivatives in float64 by numpy alone, of functions that both frameworks are asked about.

No automatic differentiation comes into it: a function of numpy's arrays takes complex numbers too.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray

Function = Callable[[Any], Any]

IMAGINARY_STEP = 1e-30
"""The step of first derivatives: the imaginary part of f(x + ih) / h, which subtracts nothing.

Squire and Trapp, "Using complex variables to estimate derivatives of real functions", 1998.
"""

STEP = 1e-5
"""The step of second derivatives, central differences of exact first ones.

Both their errors are far below float32's rounding: STEP² of the curvature, and 1e-16 / STEP.
"""


def jacobian(function: Function, x: AnyArray) -> AnyArray:
    """The derivative of a function of a vector, shape (size of its value, size of ``x``).

    ``function`` must be written in operators that take complex numbers.
    """
    columns = []
    for direction in np.eye(x.size):
        value = function(x + 1j * IMAGINARY_STEP * direction)
        columns.append(np.imag(value).ravel() / IMAGINARY_STEP)
    return np.stack(columns, axis=1)


def hessian(function: Function, x: AnyArray) -> AnyArray:
    """The second derivative of a number-valued function of a vector, shape (size, size)."""
    columns = []
    for direction in np.eye(x.size):
        above = jacobian(function, x + STEP * direction)[0]
        below = jacobian(function, x - STEP * direction)[0]
        columns.append((above - below) / (2 * STEP))
    return np.stack(columns, axis=1)
