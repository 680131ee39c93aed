"""Row 66: one step of SGD at a rate of 0.1 from a weight of 1 with a gradient of 4 and a loss scale of 4."""

from typing import Any

from tests.independent.attempts import attempt


def closed_form() -> dict[str, Any]:
    """The gradient divided by the scale, the gradient itself, and the former with a decay of 0.1."""
    divided = 4 / 4
    return {
        "scaled": 1 - 0.1 * divided,
        "whole": 1 - 0.1 * 4,
        "divided by hand": 1 - 0.1 * divided,
        "scaled, decayed": 1 - 0.1 * (divided + 0.1 * 1),
    }


def in_torch() -> dict[str, Any]:
    """What becomes of the argument in PyTorch."""
    import torch

    weight = torch.ones(1, requires_grad=True)
    return {"named": attempt(lambda: torch.optim.SGD([weight], 0.1, loss_scale=4.0))}


def in_mindspore_tape() -> dict[str, Any]:
    """What becomes of it in the experimental module."""
    import mindspore as ms
    from mindspore.experimental import optim

    weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
    return {"named": attempt(lambda: optim.SGD([weight], 0.1, loss_scale=4.0))}
