"""Row 58: two steps along a gradient of [1, 3] from that weight, in a group with a setting and without."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

RATE = 0.1


def closed_form() -> dict[str, Any]:
    """With a rate of 0.5, a decay of 0.5, a momentum of 0.9; and in the group without."""
    return {
        "lr": {"first": _stepped(rate=0.5), "second": _stepped()},
        "weight_decay": {"first": _stepped(decay=0.5), "second": _stepped()},
        "momentum": {"first": _stepped(momentum=0.9), "second": _stepped()},
    }


def _stepped(rate: float = RATE, decay: float = 0.0, momentum: float = 0.0) -> Any:
    weight, velocity = np.array([1.0, 3.0]), np.zeros(2)
    gradient = weight
    for _ in range(2):
        velocity = momentum * velocity + gradient + decay * weight
        weight = weight - rate * velocity
    return weight.tolist()


def in_mindspore_tape() -> dict[str, Any]:
    """What a step raises of a group with grad_centralization, of weights in rows of 16."""
    import mindspore as ms
    from mindspore import nn

    def centralized() -> Any:
        weight = ms.Parameter(ms.ops.ones((2, 16), ms.float32), name="weight")
        groups = [{"params": [weight], "grad_centralization": True}]
        return nn.SGD(groups, RATE)((ms.ops.ones((2, 16), ms.float32),))

    return {"centralized": attempt(centralized)}
