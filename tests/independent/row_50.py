"""Row 50: the initial values of a dense layer from 64 to 48."""

from typing import Any

import numpy as np


def closed_form() -> dict[str, Any]:
    """√k = 1/√64, the standard deviations of U(−√k, √k) and of Keras' Glorot uniform."""
    return {
        "bound": 0.125,
        "std": float(0.125 / np.sqrt(3)),
        "std of Keras": float(np.sqrt(6 / (64 + 48)) / np.sqrt(3)),
        "bound of Keras": float(np.sqrt(6 / (64 + 48))),
        "minimum": -0.125,
        "minimum of Keras": -float(np.sqrt(6 / (64 + 48))),
        "share of zeros": 1.0,
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The standard deviation of a layer's own draws."""
    import mindspore as ms
    from mindspore import nn

    ms.set_seed(2)
    layer = nn.Dense(64, 48)
    return {
        "std": float(np.std(layer.weight.asnumpy())),
        "bias": bool(layer.bias.asnumpy().any()),
        "by default": nn.Dense(1, 1).bias is not None,
    }


def in_torch() -> dict[str, Any]:
    """Whether a layer has a bias by default."""
    from torch import nn

    return {"by default": nn.Linear(1, 1).bias is not None}
