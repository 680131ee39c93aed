"""Numbers as people and strict JSON read them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray


def plain(value: Any) -> Any:
    """Builtins ready for strict JSON: tuples become lists, keys strings, and what is not finite a
    string.

    A NaN is spelt "NaN", the infinities "Infinity" and "-Infinity".
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "NaN"
        return "Infinity" if value > 0 else "-Infinity"
    return value


def number(value: Any) -> float:
    """The float that ``plain`` made ``value`` of; raises ValueError for what is no number."""
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else float(value)


def digits(values: Sequence[float] | AnyArray, limit: int = 6, precision: int = 5) -> str:
    """A short reading of an array for tables and boxes: ``[[4, 6, 8]]``, or its first elements and
    an ellipsis.

    ``limit`` is the greatest number of elements shown, ``precision`` that of significant digits.
    """
    array = np.asarray(values)
    if array.size > limit:
        first = " ".join(_nested(item, precision) for item in array.ravel()[:limit].tolist())
        return f"{array.shape} {first} …"
    return _nested(array.tolist(), precision)


def counted(number: int, noun: str) -> str:
    """A number of things: "1 node", "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _nested(value: Any, precision: int) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item, precision) for item in value) + "]"
    return f"{value:.{precision}g}" if isinstance(value, float) else str(value)
