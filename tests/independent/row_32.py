"""Row 32: whether a new layer is in training mode."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """Of a new Module."""
    from torch import nn

    own = type("Own", (nn.Module,), {})()
    return {
        "training": nn.Linear(2, 2).training,
        "own": own.training,
        "dropout": nn.Dropout().training,
    }


def in_mindspore_tape() -> dict[str, Any]:
    """Of a new Cell."""
    from mindspore import nn

    own = type("Own", (nn.Cell,), {})()
    return {
        "training": nn.Dense(2, 2).training,
        "own": own.training,
        "dropout": nn.Dropout(p=0.5).training,
    }
