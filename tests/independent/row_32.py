"""Row 32: whether a new layer is in training mode."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """Of a new Module."""
    from torch import nn

    return {"training": nn.Linear(2, 2).training}


def in_mindspore_tape() -> dict[str, Any]:
    """Of a new Cell."""
    from mindspore import nn

    return {"training": nn.Dense(2, 2).training}
