"""Numbers as people and strict JSON read them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray, Array, first_elements, unpack

SHOWN = 6
"""The greatest number of elements that a short reading of an array shows."""

FEW = 5
"""The number of significant digits of each of them."""


def plain(value: Any) -> Any:
    """``value`` as strict JSON can carry it, nested values too.

    Tuples become lists, keys become strings, a complex number becomes {"re": …, "im": …}, and a
    float that is not finite becomes "NaN", "Infinity" or "-Infinity". Other values
    are returned as they are.
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, complex):
        return {"re": plain(value.real), "im": plain(value.imag)}
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "NaN"
        return "Infinity" if value > 0 else "-Infinity"
    return value


def number(value: Any) -> float:
    """The float that ``plain`` made ``value`` of; raises ValueError for anything else."""
    # float() reads the three spellings of plain() as they are.
    return float(value)


def digits(values: Sequence[float] | AnyArray, limit: int = SHOWN, precision: int = FEW) -> str:
    """A short reading of an array for tables and boxes: ``[[4, 6, 8]]``.

    A longer array is its shape, its first elements and an ellipsis. ``limit`` is the greatest
    number of elements shown, ``precision`` that of significant digits.
    """
    array = np.asarray(values)
    if array.size <= limit:
        return _nested(array.tolist(), precision)
    return _beginning(array.shape, array.ravel()[:limit], precision)


def tensor_digits(array: Array, limit: int = SHOWN, precision: int = FEW) -> str:
    """digits() of a record, which may be an excerpt."""
    if array.size <= limit:
        return digits(unpack(array), limit, precision)
    return _beginning(array.shape, first_elements(array)[:limit], precision)


def _beginning(shape: tuple[int, ...], elements: AnyArray, precision: int) -> str:
    first = [_nested(element, precision) for element in elements.tolist()]
    return f"{shape} {' '.join(first)} …"


def multiple(ratio: float) -> str:
    """A ratio in two digits: "0.85", "240", "12,000", "2.4e+06"."""
    rounded = float(f"{ratio:.2g}")
    return f"{rounded:,.0f}" if 10 <= rounded < 1e6 else f"{rounded:.2g}"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 node", "2 nodes"."""
    plural = "" if number == 1 else "s"
    return f"{number} {noun}{plural}"


def _nested(value: Any, precision: int) -> str:
    if isinstance(value, list):
        parts = [_nested(part, precision) for part in value]
        return f"[{', '.join(parts)}]"
    if isinstance(value, (float, complex)):
        return f"{value:.{precision}g}"
    return str(value)
