"""Row 81: the gradient of Σ(3x)² and 3x at (1, 2, 3), with the latter stopped, and not."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

X = np.array([1, 2, 3], np.float32)


def closed_form() -> dict[str, Any]:
    """Of the loss alone, of the loss and of 3x together, and of nothing."""
    return {
        "loss": (18 * X).tolist(),
        "both": (18 * X + 3).tolist(),
        "nothing": [0.0] * len(X),
    }


def in_torch() -> dict[str, Any]:
    """Of both outputs, one of them detached, by the tape."""
    import torch

    figures: dict[str, Any] = {}
    for name in ("both", "stopped"):
        x = torch.tensor(X, requires_grad=True)
        beside = 3 * x.detach() if name == "stopped" else 3 * x
        (((3 * x) ** 2).sum() + beside.sum()).backward()
        figures[name] = x.grad.tolist()
    x = torch.tensor(X, requires_grad=True)
    figures["stopped before"] = attempt((3 * x.detach()).sum().backward)
    return figures


def in_mindspore() -> dict[str, Any]:
    """Of both outputs, one of them stopped, and of a loss made of what was stopped."""
    import mindspore as ms
    from mindspore import ops

    def both(x: Any) -> Any:
        return ((3 * x) ** 2).sum(), 3 * x

    def stopped(x: Any) -> Any:
        return ((3 * x) ** 2).sum(), ops.stop_gradient(3 * x)

    def stopped_before(x: Any) -> Any:
        beside = ops.stop_gradient(3 * x)
        return (beside**2).sum(), beside

    functions = {"both": both, "stopped": stopped, "stopped before": stopped_before}
    return {
        name: ms.grad(function)(ms.Tensor(X)).asnumpy().tolist()
        for name, function in functions.items()
    }
