"""The kinks that a net crosses when a leaf is varied: where slopes part that came in together."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.numeric.differences import KINK
from explorer.numeric.slopes import STEP

ROUNDING = 64 * 2.0**-53
"""The rounding of an element, as a share of it."""


class Computed(NamedTuple):
    """An operator's call: its tensors, which are known by their identity, and the values of its outputs."""

    operator: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    values: tuple[AnyArray, ...]


def births(
    middle: Sequence[Computed], plus: Sequence[Computed], minus: Sequence[Computed]
) -> int | None:
    """How many elements have a kink that no input of their operator has, when a leaf is varied.

    The runs are those without variation and to either side. None where they took different ways.
    """
    parted: set[int] = set()
    count = 0
    if not len(middle) == len(plus) == len(minus):
        return None
    for call, up, down in zip(middle, plus, minus, strict=True):
        if not (call.operator == up.operator == down.operator):
            return None
        # Before the outputs are looked at: one may be an input that was changed in place.
        is_fresh = parted.isdisjoint(map(id, call.inputs))
        sides = zip(call.outputs, call.values, up.values, down.values, strict=True)
        for output, *values in sides:
            number = _kinks(*values)
            if number is None:
                return None
            if number:
                parted.add(id(output))
            if is_fresh:
                count += number
    return count


def _kinks(value: AnyArray, plus: AnyArray, minus: AnyArray) -> int | None:
    """The number of elements whose slopes to either side part."""
    if not value.shape == plus.shape == minus.shape:
        return None
    if value.dtype.kind != "f":
        return 0
    parting = np.abs(plus + minus - 2 * value)
    size = np.maximum(np.abs(plus - value), np.abs(minus - value))
    least = KINK * np.maximum(size, STEP) + ROUNDING * np.abs(value)
    return int((parting > least).sum())
