"""What both frameworks' cells and modules are given: numbers, and functions that index by value."""

from typing import Any

import numpy as np

ROWS = np.array([[1.0, 2.0], [3.0, -2.0], [5.0, 6.0]], np.float32)
"""A batch of three samples with two features."""

MANY = np.ones((10, 10), np.float32)
"""Enough elements that dropout at 0.5 drops some of them."""

VECTOR, INDEX = [1.0, 2.0, 3.0], 1
"""What is indexed, and where."""


def by_tensor(x: Any, at: Any) -> Any:
    """One element at an index that is a tensor."""
    return x[at]


def slice_by_tensor(x: Any, at: Any) -> Any:
    """A slice whose start is a tensor."""
    return x[at:]


def by_mask(x: Any, at: Any) -> Any:
    """The elements above 1: how many there are depends on the values."""
    return x[x > 1]


INDEXING = (by_tensor, slice_by_tensor, by_mask)
"""Functions of a vector and an index, the same in both frameworks."""
