"""The study of conventions: settings of layers read from what they compute, and gradients by formula."""

import math
from typing import Any

SMALL = 1e-3
"""Half the distance of two numbers whose variance is its square: layer norm's ε shows beside it."""


def closed_form() -> dict[str, Any]:
    """What follows from a formula: x = [1, 2], y = [3, 5]."""
    return {
        "by x": [2 * 1 * 3, 2 * 2 * 5],
        "by y": [1, 4],
        "loss and logits": [18 * 1 + 3, 18 * 2 + 3],
        "loss": [18 * 1, 18 * 2],
        "one of two uses": [1, 2],
        "both uses": [2, 4],
        "second derivative": [6, 12],
        "by z": [2 * 1, 2 * 2],
        "gelu": [0.5 * (1 + math.erf(1 / math.sqrt(2)))],
        "std by n": math.sqrt(1.25),
        "std by n - 1": math.sqrt(5 / 3),
        "momentum": 0.1 * (1 + 0.9),
    }


def in_torch() -> dict[str, Any]:
    """From what PyTorch's layers compute."""
    import torch
    from torch import nn

    x = torch.tensor([[-SMALL, SMALL]], dtype=torch.float64)
    norm = nn.LayerNorm(2).double()
    dropped = nn.Dropout(0.3)(torch.ones(100_000)) == 0
    return {
        "layer norm": epsilon(float(norm(x)[0, 1])),
        "dropout": float(dropped.double().mean()),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """From what MindSpore's layers compute."""
    import mindspore as ms
    from mindspore import nn

    x = ms.Tensor([[-SMALL, SMALL]], ms.float32)
    dropout = nn.Dropout(0.3)
    dropout.set_train()
    dropped = dropout(ms.ops.ones(100_000)).asnumpy() == 0
    return {
        "layer norm": epsilon(float(nn.LayerNorm((2,))(x).asnumpy()[0, 1])),
        "dropout": float(dropped.mean()),
    }


def epsilon(output: float) -> float:
    """The ε that layer norm adds to the variance SMALL² of an element SMALL that becomes ``output``."""
    return (SMALL / output) ** 2 - SMALL**2
