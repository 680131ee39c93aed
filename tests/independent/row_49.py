"""Row 49: the initial values of a convolution from 8 to 16 channels with a kernel of 3×3."""

from typing import Any

import numpy as np

FAN_IN, FAN_OUT = 8 * 9, 16 * 9


def closed_form() -> dict[str, Any]:
    """√k = 1/√(8·9), the standard deviations of U(−√k, √k) and of Keras' Glorot uniform."""
    bound = 1 / np.sqrt(FAN_IN)
    return {
        "bound": float(bound),
        "std": float(bound / np.sqrt(3)),
        "std of Keras": float(np.sqrt(6 / (FAN_IN + FAN_OUT)) / np.sqrt(3)),
        "bound of Keras": float(np.sqrt(6 / (FAN_IN + FAN_OUT))),
        "minimum": -float(bound),
        "minimum of Keras": -float(np.sqrt(6 / (FAN_IN + FAN_OUT))),
        "share of zeros": 1.0,
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The standard deviation of a layer's own draws."""
    import mindspore as ms
    from mindspore import nn

    ms.set_seed(2)
    layer = nn.Conv2d(8, 16, 3, has_bias=True)
    return {
        "std": float(np.std(layer.weight.asnumpy())),
        "bias": bool(layer.bias.asnumpy().any()),
        "by default": nn.Conv2d(1, 1, 1).bias is not None,
    }


def in_torch() -> dict[str, Any]:
    """Whether a layer has a bias by default."""
    from torch import nn

    return {"by default": nn.Conv2d(1, 1, 1).bias is not None}
