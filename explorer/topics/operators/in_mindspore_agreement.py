"""Gradients of first and second order through each operator in MindSpore, every setting said, none
left to a default.
"""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.data import LABELS, MEAN, OPERANDS, VARIANCE


class Squared(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """The sum of the squares of an operator's output, so that linear operators have a second
    derivative too.
    """

    def __init__(self, operator: Any) -> None:
        super().__init__()
        self.operator = operator

    def construct(self, *operands: Any) -> Any:
        return ops.square(self.operator(*operands)).sum()


class Normalised(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Batch norm with its scale and shift as arguments."""

    def __init__(self, training: bool) -> None:
        super().__init__()
        self.mean = ms.Parameter(ms.Tensor(MEAN), name="mean", requires_grad=False)
        self.variance = ms.Parameter(ms.Tensor(VARIANCE), name="variance", requires_grad=False)
        self.norm = ops.BatchNorm(is_training=training, epsilon=1e-5, momentum=0.1)

    def construct(self, x: Any, weight: Any, bias: Any) -> Any:
        return self.norm(x, weight, bias, self.mean, self.variance)[0]


def transpose(x: Tensor) -> Tensor:
    return ops.transpose(x, (3, 2, 1, 0))


def convolution_same(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return ops.conv2d(x, weight, bias, pad_mode="same")


def convolution_valid(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return ops.conv2d(x, weight, bias, stride=2, pad_mode="valid")


def dense(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return ops.matmul(x, weight.T) + bias


class Labelled(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A loss with its labels fixed."""

    def __init__(self, loss: Any, labels: Any) -> None:
        super().__init__()
        self.loss, self.labels = loss, ms.Tensor(labels)

    def construct(self, logits: Any) -> Any:
        return self.loss(logits, self.labels)


class LayerNorm(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Layer norm with its scale and shift as arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = ops.LayerNorm(begin_norm_axis=1, begin_params_axis=1, epsilon=1e-5)

    def construct(self, x: Any, weight: Any, bias: Any) -> Any:
        return self.norm(x, weight, bias)[0]


def operators() -> dict[str, Any]:
    """Each operator by the name of its operands."""
    return {
        "batch norm, training": Normalised(True),
        "batch norm, inference": Normalised(False),
        "transpose": transpose,
        "max pool, same": nn.MaxPool2d(2, 2, pad_mode="same"),
        "max pool, valid": nn.MaxPool2d(2, 2, pad_mode="valid"),
        "average pool, valid": nn.AvgPool2d(2, 2, pad_mode="valid"),
        "convolution, same": convolution_same,
        "convolution, valid": convolution_valid,
        "dense": dense,
        "cross entropy, classes": Labelled(nn.CrossEntropyLoss(), LABELS),
        "cross entropy, one-hot": Labelled(
            nn.SoftmaxCrossEntropyWithLogits(reduction="mean"), np.eye(3, dtype=np.float32)[LABELS]
        ),
        "layer norm": LayerNorm(),
        "gelu, exact": nn.GELU(approximate=False),
        "gelu, tanh": nn.GELU(approximate=True),
        "dropout, p = 0": nn.Dropout(p=0.0).set_train(),
        "dropout, inference": nn.Dropout(p=0.3).set_train(False),
    }


def operator_gradients(ask: Ask) -> Found:
    """For each operator the gradient of the sum of its squared output by all operands, and the
    gradient by its input of the sum of the gradient by its input; in the style asked for.
    """
    set_style(ask.options["style"], ask.device)
    return Found(
        {
            name: {
                "first": attempt_briefly(_first, Squared(operator), OPERANDS[name]),
                "second": attempt_briefly(_second, Squared(operator), OPERANDS[name]),
            }
            for name, operator in operators().items()
        }
    )


def _first(function: Any, operands: Any) -> Any:
    gradients = ms.grad(function, tuple(range(len(operands))))(
        *(ms.Tensor(each) for each in operands)
    )
    return numbers(gradients if len(operands) > 1 else [gradients])


def _second(function: Any, operands: Any) -> Any:
    return numbers(ms.grad(ms.grad(function))(*(ms.Tensor(each) for each in operands)))
