"""Loops that every engine takes as they stand; MindSpore compiles them from this source."""

from typing import Any

SIGNS = {"inputs times 1": 1, "inputs times -1": -1}
"""What a net's inputs are multiplied with, so that a branch on a value goes both ways."""


def while_positive(x: Any, w: Any, n: Any) -> Any:
    """x·wⁿ summed, by a loop whose length is a value."""
    while n > 0:
        x = x * w
        n = n - 1
    return x.sum()


def four_times(x: Any, w: Any) -> Any:
    """x·w⁴ summed, by a loop whose length stands in the program."""
    for _ in range(4):
        x = x * w
    return x.sum()
