"""Row 83: five steps of momentum on Σ(w·x − 1)² at x = (0.5, 1.5), from w = (1, 2)."""

from typing import Any

import numpy as np

X, START = (0.5, 1.5), (1.0, 2.0)
STEPS, RATE, MOMENTUM = 5, 0.1, 0.9


def closed_form() -> dict[str, Any]:
    """The losses before each step, and weight, velocity and count after the last."""
    x, weight, velocity = np.array(X), np.array(START), np.zeros(2)
    losses = []
    for _ in range(STEPS):
        errors = weight * x - 1
        losses.append(float((errors**2).sum()))
        velocity = MOMENTUM * velocity + 2 * errors * x
        weight = weight - RATE * velocity
    return {
        "losses": losses,
        "weight": weight.tolist(),
        "velocity": [velocity.tolist()],
        "steps": [STEPS],
    }


def in_mindspore() -> dict[str, Any]:
    """The same, with the whole step compiled by ms.jit."""
    import mindspore as ms
    from mindspore import nn

    weight = ms.Parameter(ms.Tensor(START, ms.float32), name="weight")
    optimizer = nn.Momentum([weight], RATE, MOMENTUM)

    def loss(x: Any) -> Any:
        return ((weight * x - 1) ** 2).sum()

    with_gradients = ms.value_and_grad(loss, None, [weight])

    def step(x: Any) -> Any:
        value, gradients = with_gradients(x)
        optimizer(gradients)
        return value

    compiled, x = ms.jit(step), ms.Tensor(X, ms.float32)
    losses = [float(compiled(x).asnumpy()) for _ in range(STEPS)]
    return {
        "losses": losses,
        "weight": weight.asnumpy().tolist(),
        "velocity": [optimizer.moments[0].asnumpy().tolist()],
        "steps": optimizer.global_step.asnumpy().tolist(),
    }
