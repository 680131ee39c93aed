"""Row 69: what a convolution with a kernel of 3 makes of a picture of 64 by 32."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

PICTURE = np.zeros((1, 3, 64, 32), np.float32)


def closed_form() -> dict[str, Any]:
    """The shape with zeros added so that it stays, and the shape without."""
    return {"same": [1, 64, 64, 32], "valid": [1, 64, 64 - 3 + 1, 32 - 3 + 1]}


def in_torch() -> dict[str, Any]:
    """The shape by default, with "same", and what comes of the other framework's label."""
    import torch
    from torch import nn

    picture = torch.tensor(PICTURE)

    def loss_with_the_other_label() -> float:
        label = torch.zeros(1, 64, 64, 32)
        return float(((nn.Conv2d(3, 64, 3)(picture) - label) ** 2).mean())

    return {
        "by default": list(nn.Conv2d(3, 64, 3)(picture).shape),
        "same": list(nn.Conv2d(3, 64, 3, padding="same")(picture).shape),
        "other label": attempt(loss_with_the_other_label),
    }


def in_mindspore_tape() -> dict[str, Any]:
    """The shape by default, with "valid", and what comes of the other framework's label."""
    import mindspore as ms
    from mindspore import nn

    picture = ms.Tensor(PICTURE)

    def loss_with_the_other_label() -> float:
        label = ms.Tensor(np.zeros((1, 64, 62, 30), np.float32))
        return float(nn.MSELoss()(nn.Conv2d(3, 64, 3)(picture), label))

    return {
        "by default": list(nn.Conv2d(3, 64, 3)(picture).shape),
        "valid": list(nn.Conv2d(3, 64, 3, pad_mode="valid")(picture).shape),
        "other label": attempt(loss_with_the_other_label),
    }
