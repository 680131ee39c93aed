"""MindSpore's gradients and outputs with equal settings, and its gradients at kinks."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.inputs import LABELS, MEAN, NET, OPERANDS, PICTURES, VARIANCE
from explorer.topics.operators.kinks import Kink, kinks_of_group, load_kinks, written

# In graph style these are compiled from their source, and a lambda in an expression has none
# (2.10.0): hence functions and cells.


class BatchNorm(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Batch norm with its scale and shift as arguments."""

    def __init__(self, training: bool) -> None:
        super().__init__()
        self.mean = ms.Parameter(ms.Tensor(MEAN), name="mean", requires_grad=False)
        self.variance = ms.Parameter(ms.Tensor(VARIANCE), name="variance", requires_grad=False)
        self.norm = ops.BatchNorm(is_training=training, epsilon=1e-5, momentum=0.1)

    def construct(self, x: Any, weight: Any, bias: Any) -> Any:
        """The normalised input."""
        return self.norm(x, weight, bias, self.mean, self.variance)[0]


class LayerNorm(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Layer norm with its scale and shift as arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = ops.LayerNorm(begin_norm_axis=1, begin_params_axis=1, epsilon=1e-5)

    def construct(self, x: Any, weight: Any, bias: Any) -> Any:
        """The normalised input."""
        return self.norm(x, weight, bias)[0]


class LossOfLabels(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A loss with its labels fixed."""

    def __init__(self, loss: Any, labels: Any) -> None:
        super().__init__()
        self.loss = loss
        self.labels = ms.Tensor(labels)

    def construct(self, logits: Any) -> Any:
        """The loss of some logits."""
        return self.loss(logits, self.labels)


def transpose(x: Tensor) -> Tensor:
    """All axes in reverse."""
    return ops.transpose(x, (3, 2, 1, 0))


def convolution_same(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Convolution whose output has the size of its input."""
    return ops.conv2d(x, weight, bias, pad_mode="same")


def convolution_valid(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Convolution without padding, in steps of two."""
    return ops.conv2d(x, weight, bias, stride=2, pad_mode="valid")


def dense(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Dense layer with weights of shape (out, in)."""
    return ops.matmul(x, weight.T) + bias


def operators() -> dict[str, Callable[..., Any]]:
    """Each operator by the name of its operands."""
    one_hot = np.eye(3, dtype=np.float32)[LABELS]
    softmax_cross_entropy = nn.SoftmaxCrossEntropyWithLogits(reduction="mean")
    return {
        "batch norm, training": BatchNorm(training=True),
        "batch norm, inference": BatchNorm(training=False),
        "transpose": transpose,
        "max pool, same": nn.MaxPool2d(2, 2, pad_mode="same"),
        "max pool, valid": nn.MaxPool2d(2, 2, pad_mode="valid"),
        "average pool, valid": nn.AvgPool2d(2, 2, pad_mode="valid"),
        "convolution, same": convolution_same,
        "convolution, valid": convolution_valid,
        "dense": dense,
        "cross entropy, classes": LossOfLabels(nn.CrossEntropyLoss(), LABELS),
        "cross entropy, one-hot": LossOfLabels(softmax_cross_entropy, one_hot),
        "layer norm": LayerNorm(),
        "gelu, exact": nn.GELU(approximate=False),
        "gelu, tanh": nn.GELU(approximate=True),
        "dropout, p = 0": nn.Dropout(p=0.0).set_train(),
        "dropout, inference": nn.Dropout(p=0.3).set_train(False),
    }


class SumOfSquares(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The sum of the squares of an operator's output.

    The square gives linear operators a second derivative too.
    """

    def __init__(self, operator: Any) -> None:
        super().__init__()
        self.operator = operator

    def construct(self, *operands: Any) -> Any:
        """The sum at some operands."""
        return ops.square(self.operator(*operands)).sum()


def operator_gradients(ask: Ask) -> Found:
    """The gradients of first and second order of each operator, in the style asked for.

    With f the sum of the squared output, "first" is the gradient of f with respect to all operands,
    and "second" the gradient of the sum of df/dx with respect to the input x.
    """
    set_style(ask.options["style"], ask.device)
    figures: Figures = {}
    for name, operator in operators().items():
        operands = [ms.Tensor(operand) for operand in OPERANDS[name]]
        figures[name] = {
            "first": attempt_briefly(_first, SumOfSquares(operator), operands),
            "second": attempt_briefly(_second, SumOfSquares(operator), operands),
        }
    return Found(figures)


def _first(loss: SumOfSquares, operands: list[Tensor]) -> Any:
    gradients = ms.grad(loss, tuple(range(len(operands))))(*operands)
    return numbers(gradients if len(operands) > 1 else [gradients])


def _second(loss: SumOfSquares, operands: list[Tensor]) -> Any:
    return numbers(ms.grad(ms.grad(loss))(*operands))


MINDSPORE_NAMES = {
    "norm.weight": "norm.gamma",
    "norm.bias": "norm.beta",
    "norm.running_mean": "norm.moving_mean",
    "norm.running_var": "norm.moving_variance",
}
"""What MindSpore calls the parameters of NET that have another name there."""


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Convolution, batch norm, relu, max pool, dropout, dense."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.dropout = nn.Dropout(p=0.5)
        self.dense = nn.Dense(16, 3)

    def construct(self, x: Any) -> Any:
        """Three numbers a picture."""
        hidden = self.pool(ms.ops.relu(self.norm(self.conv(x))))
        return self.dense(self.dropout(hidden).reshape(x.shape[0], -1))


def inference(ask: Ask) -> Found:
    """Outputs of three calls in inference mode, then of two in training mode, in one style."""
    set_style(ask.options["style"], ask.device)
    net, pictures = Net(), ms.Tensor(PICTURES)
    parameters = dict(net.parameters_and_names())
    for name, start in NET.items():
        parameters[MINDSPORE_NAMES.get(name, name)].set_data(ms.Tensor(start))
    net.set_train(False)
    in_inference = [numbers(net(pictures)) for _ in range(3)]
    net.set_train(True)
    in_training = [numbers(net(pictures)) for _ in range(2)]
    return Found({"inference": in_inference, "training": in_training})


KINKS = load_kinks("mindspore", ops=ms.ops, functional=ms.ops)


def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group asked for."""
    set_style(ask.options["style"], ask.device)
    kinks = kinks_of_group(KINKS, ask.options["group"])
    return Found({kink.name: _figures(kink) for kink in kinks})


def _figures(kink: Kink) -> Figures:
    inputs = [ms.Tensor(np.array(values, np.float32)) for values in kink.inputs]
    return {
        "written": written(kink.function),
        "found": attempt_briefly(value_and_gradient, kink.function, inputs),
    }


def value_and_gradient(function: Callable[..., Any], inputs: list[Any]) -> Figures:
    """The function's value, and the derivative of its sum with respect to every input."""
    value, gradients = ms.value_and_grad(function, tuple(range(len(inputs))))(*inputs)
    if len(inputs) == 1:
        gradients = [gradients]  # a tuple of one position gives a bare tensor (2.10.0)
    return {"value": numbers(value), "gradient": numbers(gradients)}
