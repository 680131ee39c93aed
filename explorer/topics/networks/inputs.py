"""What programs of both frameworks share: functions, indices, and a net's weights and samples."""

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray

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


def write_by_tensor(x: Any, at: Any) -> Any:
    """The squares, with a zero written at an index that is a tensor."""
    y = x * 1  # a copy: what is written to is no input
    y[at] = 0.0
    return y * y


def write_by_mask(x: Any, at: Any) -> Any:
    """The squares of the elements up to 1, with zeros written over the others."""
    y = x * 1
    y[x > 1] = 0.0
    return y * y


def list_by_tensor(x: Any, at: Any) -> Any:
    """One of several results in a list, at an index that is a tensor."""
    return [x * 1, x * 2, x * 3][at]


def reshape_by_tensor(x: Any, at: Any) -> Any:
    """The squares in as many rows as a tensor says."""
    return x.reshape(at, -1) ** 2


def while_below_tensor(x: Any, at: Any) -> Any:
    """A sum over as many elements as a tensor says, in a while loop."""
    total = x.sum() * 0
    index = at * 0
    while index < at:
        total = total + x[index]
        index = index + 1
    return total


INDEXING = (
    by_tensor,
    slice_by_tensor,
    by_mask,
    write_by_tensor,
    write_by_mask,
    list_by_tensor,
    reshape_by_tensor,
)
"""Functions of a vector and an index that read, write or shape by it, the same in both frameworks."""

CODE = {
    "by_tensor": "x[at]",
    "slice_by_tensor": "x[at:]",
    "by_mask": "x[x > 1]",
    "write_by_tensor": "y[at] = 0.0",
    "write_by_mask": "y[x > 1] = 0.0",
    "list_by_tensor": "[x * 1, x * 2, x * 3][at]",
    "reshape_by_tensor": "x.reshape(at, -1)",
    "while_below_tensor": "while index < at",
    "loop_to_tensor": "for index in range(at)",
}
"""What each of these functions, and of those with a loop, is about: its code, letter for letter."""


def starting_figures(layer: Any, own: Any, dropout: Any) -> dict[str, bool]:
    """Whether a framework's layer, a net of the user's own and dropout are in training mode."""
    return {"layer": layer.training, "own": own.training, "dropout": dropout.training}


def figures_by_mode(run: Callable[[bool], tuple[Any, Any, AnyArray]]) -> dict[str, Any]:
    """A batch norm and a dropout in training mode and in inference mode, as figures.

    ``run`` is called with True for training mode and with False for inference. It returns the
    output of the batch norm and its running mean, both in nested lists, and what dropout makes of
    ones: the zeros of that are counted, and its different values listed.
    """
    figures = {}
    for mode, training in (("training", True), ("inference", False)):
        normalized, running_mean, dropped = run(training)
        figures[mode] = {
            "norm": normalized,
            "running_mean": running_mean,
            "dropout_zeros": int((dropped == 0).sum()),
            "dropout_values": sorted(set(dropped.ravel().tolist())),
        }
    return figures


SAMPLES = np.array([[1.0, 2.0], [3.0, -2.0], [5.0, 6.0], [-1.0, 0.5], [0.25, -4.0]], np.float32)
"""Five samples: two batches of two, and one left over."""

BATCH = 2

MEAN = np.array([0.5, -1.0], np.float32)
VARIANCE = np.array([2.0, 0.25], np.float32)
"""Batch norm's running statistics, far from those of any batch."""

WEIGHT = np.array([[2.0, -3.0]], np.float32)
"""The row of the dense layer behind it."""
