"""The figures of the claims on what the compilers make of a program."""

from typing import Any

import numpy as np

from tests.independent import mindspore_ir
from tests.independent.guide_net import mindspore_arguments, mindspore_net
from tests.independent.tapes import mindspore_nodes, torch_nodes

# Row 27: Σ w·x³ where x sums to more than 0, else Σ w·eˣ, and what of it depends on the values.
X = np.array([1.0, -0.5, 2.0])
W = np.array([0.5, 1.5, -1.0])


def row_27_closed_form() -> dict[str, Any]:
    """The value, and the gradients with respect to x and w, on either side of the branch."""
    cubes = [float((W * X**3).sum()), (3 * W * X**2).tolist(), (X**3).tolist()]
    powers = np.exp(-X)
    exponentials = [float((W * powers).sum()), (W * powers).tolist(), powers.tolist()]
    return {"positive": cubes, "negative": exponentials}


def row_27_in_torch(torch: Any) -> dict[str, Any]:
    """The nodes of the tape for either sign."""
    figures = {}
    w = torch.tensor(W, requires_grad=True)
    for name, sign in {"positive": 1, "negative": -1}.items():
        x = torch.tensor(sign * X, requires_grad=True)
        out = (w * x * x * x if x.sum() > 0 else w * torch.exp(x)).sum()
        figures[name] = torch_nodes(out)
    return figures


def row_27_in_mindspore_graph(ms: Any) -> dict[str, Any]:
    """Whether other values are compiled anew once either sign was."""
    w = ms.Tensor(W.astype(np.float32))

    def branching(x: Any) -> Any:
        if x.sum() > 0:
            cube = x * x * x
            out = w * cube
        else:
            out = w * ms.ops.exp(x)
        return out.sum()

    gradient_of = ms.grad(branching)
    for sign in (1, -1):
        gradient_of(ms.Tensor((sign * X).astype(np.float32)))
    again = len(mindspore_ir.graphs())
    for sign in (1, -1):
        gradient_of(ms.Tensor((2 * sign * X).astype(np.float32)))
    return {"compiled again": len(mindspore_ir.graphs()) > again}


def row_27_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The operators on the tape for either sign."""
    w = ms.Parameter(ms.Tensor(W.astype(np.float32)), name="w")
    seen: list[list[str]] = []

    def branching(x: Any) -> Any:
        out = (w * x * x * x if x.sum() > 0 else w * ms.ops.exp(x)).sum()
        seen.append(mindspore_nodes(out))
        return out

    for sign in (1, -1):
        ms.grad(branching, 0, [w])(ms.Tensor((sign * X).astype(np.float32)))
    return {"positive": seen[0], "negative": seen[1]}


# Row 28: the operators in the final graph of the gradient of the guide's net.
def row_28_in_mindspore_graph(ms: Any) -> dict[str, Any]:
    """Those that compute the outputs and the gradients with respect to the input and the weight."""
    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    ms.value_and_grad(net, 0, weights, has_aux=True)(*mindspore_arguments())
    return {**mindspore_ir.counted(mindspore_ir.graphs()[-1]), "step": _of_a_step(ms)}


def _of_a_step(ms: Any) -> dict[str, int]:
    """Those of the loss, its gradient by the weight, and the update by momentum, in one graph."""
    net = mindspore_net()
    optimizer = ms.nn.Momentum(net.trainable_params(), 0.1, 0.9)

    def step(x: Any, y: Any) -> Any:
        gradient_of = ms.value_and_grad(net, None, optimizer.parameters, has_aux=True)
        outputs, gradients = gradient_of(x, y)
        optimizer(gradients)
        return outputs

    ms.jit(step)(*mindspore_arguments())
    operators = mindspore_ir.graphs()[-1]
    return {**mindspore_ir.counted(operators), "all": len(operators)}


# Row 21: the operators of a training step on a small convolutional net, under ms.jit and without it.
def row_21_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The operators of each graph of a step by itself and under ms.jit."""
    return {
        "by itself": _compiled(ms, _step(ms)),
        "under ms.jit": _compiled(ms, ms.jit(_step(ms))),
    }


def row_21_in_mindspore_graph(ms: Any) -> dict[str, Any]:
    """The operators of the graphs of a step that is not decorated."""
    return {"by itself": _compiled(ms, _step(ms))}


def _compiled(ms: Any, step: Any) -> list[dict[str, int]]:
    x = ms.Tensor(np.ones((4, 1, 4, 4), np.float32))
    y = ms.Tensor(np.ones((4, 1), np.float32))
    before = len(mindspore_ir.graphs())
    step(x, y)
    return [mindspore_ir.counted(operators) for operators in mindspore_ir.graphs()[before:]]


def _step(ms: Any) -> Any:
    net = ms.nn.SequentialCell(
        ms.nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True),
        ms.nn.BatchNorm2d(2),
        ms.nn.ReLU(),
        ms.nn.Flatten(),
        ms.nn.Dense(8, 1),
    )
    net.set_train()
    optimizer = ms.nn.SGD(net.trainable_params(), learning_rate=0.1)
    loss_of = ms.nn.MSELoss()

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradient_of = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x: Any, y: Any) -> Any:
        loss, gradients = gradient_of(x, y)
        optimizer(gradients)
        return loss

    return step
