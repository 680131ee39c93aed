"""Row 53: what lists the parameters of a net."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """The type of parameters()."""
    from torch import nn

    return {"type": type(nn.Linear(2, 2).parameters()).__name__}


def in_mindspore_tape() -> dict[str, Any]:
    """The types of trainable_params() and get_parameters()."""
    from mindspore import nn

    net = nn.Dense(2, 2)
    return {
        "type": type(net.trainable_params()).__name__,
        "get_parameters": type(net.get_parameters()).__name__,
    }
