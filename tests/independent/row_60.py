"""Row 60: three steps of momentum from [1, 2, 3] with gradients of 1, as the guide prints it and as it is."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

RATE, MOMENTUM = 0.1, 0.9


def closed_form() -> dict[str, Any]:
    """The weights after each step."""
    gradient = np.ones(3)
    printed, weight = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    kept, velocity = np.zeros(3), np.zeros(3)
    figures: dict[str, Any] = {"as printed": [], "as meant": []}
    for _ in range(3):
        # The guide assigns the update to the weight, and never moves what it keeps.
        printed = MOMENTUM * printed + kept + RATE * gradient
        velocity = MOMENTUM * velocity + gradient
        weight = weight - RATE * velocity
        figures["as printed"].append(printed.tolist())
        figures["as meant"].append(weight.tolist())
    return figures


def in_mindspore() -> dict[str, Any]:
    """What the fused class as printed raises, and a training cell with a loss scale."""
    import mindspore as ms
    from mindspore import nn, ops

    class Fused(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self, params: Any, learning_rate: Any, momentum: float = 0.9) -> None:
            super().__init__(learning_rate, params)
            self.moments = self.parameters.clone(prefix="moments", init="zeros")
            self.opt = ops.ApplyMomentum()

        def construct(self, gradients: Any) -> Any:
            rate = self.get_lr()
            done = True
            for weight, moment, gradient in zip(self.parameters, self.moments, gradients):  # noqa: B905
                done = ops.depend(done, self.opt(weight, moment, rate, gradient, self.momentum))
            return done

    def fused() -> Any:
        weight = ms.Parameter(ms.Tensor([1.0, 2.0, 3.0]), name="weight")
        return Fused([weight], RATE)((ms.Tensor([1.0, 1.0, 1.0]),))

    def scaled() -> Any:
        net = nn.Dense(1, 1, has_bias=False)
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        scale = ms.Tensor(4.0, ms.float32)
        return nn.TrainOneStepWithLossScaleCell(net, optimizer, scale)(ms.Tensor([[1.0]]))

    return {"fused": attempt(fused), "scaled": attempt(scaled)}
