"""A wave whose derivatives never end.

`w(x) = eˣ·sin x`: its derivative of order n is `2^(n/2)·eˣ·sin(x + n·π/4)`, so every engine can be
held against a closed form at every order; no order is simpler than the one before.
"""

from typing import Any

import numpy as np

OUTPUTS = ("w",)

FORMULA = "eˣ·sin x"
"""What readers are told that is differentiated."""


def inputs() -> dict[str, Any]:
    """One number, in float64."""
    return {"x": np.array(0.7)}


def mindspore_net() -> Any:
    """The wave in MindSpore."""
    from mindspore import ops

    def wave(x: Any) -> Any:
        return ops.exp(x) * ops.sin(x)

    return wave


def torch_net() -> Any:
    """The wave in PyTorch."""

    def wave(x: Any) -> Any:
        return x.exp() * x.sin()

    return wave


def derivative(order: int, x: Any = 0.7) -> Any:
    """The derivative of order ``order`` in closed form, at a number or by element of an array."""
    return 2 ** (order / 2) * np.exp(x) * np.sin(x + order * np.pi / 4)
