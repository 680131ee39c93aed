"""Row 21: the operators of a training step on a small convolutional net, under ms.jit and without it."""

from typing import Any

import numpy as np

from tests.independent import mindspore_ir

UPDATES = {"SGD", "ApplyMomentum", "Assign", "AssignAdd"}


def in_mindspore_tape() -> dict[str, Any]:
    """How many graphs one step compiles, and what the one under ms.jit has."""
    import mindspore as ms
    from mindspore import nn

    net = nn.SequentialCell(
        nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True),
        nn.BatchNorm2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(8, 1),
    )
    net.set_train()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    loss_of = nn.MSELoss()

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradient_of = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        loss, gradients = gradient_of(x, y)
        optimizer(gradients)
        return loss

    x = ms.Tensor(np.ones((4, 1, 4, 4), np.float32))
    y = ms.Tensor(np.ones((4, 1), np.float32))
    before = len(mindspore_ir.graphs())
    step(x, y)
    plain = mindspore_ir.graphs()[before:]
    ms.jit(step)(x, y)
    jitted = mindspore_ir.graphs()[before + len(plain) :]
    return {
        "graphs": len(plain),
        "graphs of ms.jit": len(jitted),
        "updates in it": sum(name in UPDATES for name in mindspore_ir.names(jitted[0])),
        "updates by itself": sum(name in UPDATES for name in mindspore_ir.names(plain[0])),
    }
