"""When two values of arguments mean the same."""

import math

import numpy as np

from explorer.model.graph import Arguments, ArgumentValue

CLOSE = 1e-6
"""How far two numbers may be apart, relative to them, that a person wrote as one."""

WINDOWS = frozenset({"dilation", "kernel_size", "stride", "strides"})
"""Arguments of windows, which MindSpore gives with the axes of the batch and of the channels."""


def other_values(left: Arguments, right: Arguments) -> tuple[str, ...]:
    """The names that both have with values that are not the same.

    ``2`` and ``(2, 2)`` are: a single number is meant for each axis. So are ``(1, 1, 2, 2)`` and
    ``(2, 2)`` of a window.
    """
    shared = [name for name in left if name in right]
    others = [name for name in shared if unified(name, left[name]) != unified(name, right[name])]
    # Of a list without any, every Python makes the same empty tuple, which JSON leaves out.
    return tuple(others)


def unified(name: str, value: ArgumentValue) -> ArgumentValue:
    """A value in the form in which two that mean the same are equal."""
    if name in WINDOWS and isinstance(value, tuple) and len(value) == 4 and value[:2] == (1, 1):
        value = value[2:]
    value = alike(value)
    if isinstance(value, float):
        return shortest(value) if math.isnan(value) else float(shortest(value))
    return value


def alike(value: ArgumentValue) -> ArgumentValue:
    """The element that a sequence repeats, 1 of ``(1, 1)``; other values as they are."""
    if isinstance(value, tuple) and value and all(item == value[0] for item in value):
        return value[0]
    return value


def are_near(one: object, other: object) -> bool:
    """Whether two values are one as a person writes them."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other) <= CLOSE * max(abs(one), abs(other))
    return one == other


def shortest(value: float) -> str:
    """A number by its shortest digits: those of float32 where it was one."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if not math.isfinite(single) or value != float(single):
        return repr(value)
    return repr(float(str(single)))
