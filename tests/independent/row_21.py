"""Row 21: the operators of a training step on a small convolutional net, under ms.jit and without it."""

from typing import Any

import numpy as np

from tests.independent import mindspore_ir

UPDATES = {"SGD", "ApplyMomentum", "Assign", "AssignAdd"}


def in_mindspore_tape() -> dict[str, Any]:
    """How many graphs a step compiles by itself and under ms.jit, and the operators of each."""
    import mindspore as ms

    plain = _compiled(_step())
    jitted = _compiled(ms.jit(_step()))
    return {
        "graphs": len(plain),
        "graphs of ms.jit": len(jitted),
        "by itself": plain,
        "under ms.jit": jitted,
        "updates in it": jitted[0]["update"],
        "updates by itself": plain[0]["update"],
    }


def in_mindspore_graph() -> dict[str, Any]:
    """The operators of the graphs of a step that is not decorated."""
    return {"by itself": _compiled(_step())}


def _compiled(step: Any) -> list[dict[str, int]]:
    import mindspore as ms

    x = ms.Tensor(np.ones((4, 1, 4, 4), np.float32))
    y = ms.Tensor(np.ones((4, 1), np.float32))
    before = len(mindspore_ir.graphs())
    step(x, y)
    counts = []
    for operators in mindspore_ir.graphs()[before:]:
        backward = sum(operator.backward for operator in operators)
        update = sum(operator.name in UPDATES for operator in operators)
        forward = len(operators) - backward - update
        counts.append({"forward": forward, "backward": backward, "update": update})
    return counts


def _step() -> Any:
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

    return step
