"""Gradients of first and second order through each operator in PyTorch, every setting said, none
left to a default.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.data import LABELS, MEAN, OPERANDS, VARIANCE
from explorer.topics.operators.in_torch_styles import placed, styled


def batch_norm(training: bool) -> Callable[..., Tensor]:
    running = torch.tensor(MEAN), torch.tensor(VARIANCE)

    def normalised(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return functional.batch_norm(
            x, running[0].clone(), running[1].clone(), weight, bias, training, 0.1, 1e-5
        )

    return normalised


def transpose(x: Tensor) -> Tensor:
    return x.permute(3, 2, 1, 0)


def max_pool_same(x: Tensor) -> Tensor:
    return functional.max_pool2d(x, 2, 2, ceil_mode=True)


def max_pool_valid(x: Tensor) -> Tensor:
    return functional.max_pool2d(x, 2, 2)


def average_pool_valid(x: Tensor) -> Tensor:
    return functional.avg_pool2d(x, 2, 2)


def convolution_same(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.conv2d(x, weight, bias, padding="same")


def convolution_valid(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.conv2d(x, weight, bias, stride=2)


def cross_entropy(one_hot: bool) -> Callable[[Tensor], Tensor]:
    targets = torch.tensor(LABELS, dtype=torch.long)
    labels = functional.one_hot(targets, 3).float() if one_hot else targets

    def loss(logits: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels)

    return loss


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.layer_norm(x, (4,), weight, bias, 1e-5)


def gelu_tanh(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def dropout_of_nothing(x: Tensor) -> Tensor:
    return functional.dropout(x, 0.0, training=True)


def dropout_inference(x: Tensor) -> Tensor:
    return functional.dropout(x, 0.3, training=False)


def operators() -> dict[str, Callable[..., Tensor]]:
    """Each operator by the name of its operands."""
    return {
        "batch norm, training": batch_norm(training=True),
        "batch norm, inference": batch_norm(training=False),
        "transpose": transpose,
        "max pool, same": max_pool_same,
        "max pool, valid": max_pool_valid,
        "average pool, valid": average_pool_valid,
        "convolution, same": convolution_same,
        "convolution, valid": convolution_valid,
        "dense": functional.linear,
        "cross entropy, classes": cross_entropy(one_hot=False),
        "cross entropy, one-hot": cross_entropy(one_hot=True),
        "layer norm": layer_norm,
        "gelu, exact": functional.gelu,
        "gelu, tanh": gelu_tanh,
        "dropout, p = 0": dropout_of_nothing,
        "dropout, inference": dropout_inference,
    }


@placed
def operator_gradients(ask: Ask) -> Found:
    """For each operator the gradient of the sum of its squared output by all operands, and the
    gradient by its input of the sum of the gradient by its input; in the style asked for.
    """
    return Found(
        {
            name: {
                order: attempt_briefly(solve, operator, name, ask.options["style"])
                for order, solve in (("first", _first), ("second", _second))
            }
            for name, operator in operators().items()
        }
    )


def _squared(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def loss(*operands: Tensor) -> Tensor:
        return operator(*operands).square().sum()

    return loss


def _first(operator: Callable[..., Tensor], name: str, style: str) -> Any:
    operands = [torch.tensor(each, requires_grad=True) for each in OPERANDS[name]]
    return numbers(torch.autograd.grad(styled(_squared(operator), style)(*operands), operands))


def _second(operator: Callable[..., Tensor], name: str, style: str) -> Any:
    """Twice over the tape, or the gradient as a function that is compiled whole and differentiated
    as one.
    """
    operands = [torch.tensor(each, requires_grad=True) for each in OPERANDS[name]]
    loss = _squared(operator)
    if style == "graph":
        return numbers(
            styled(_gradient_of_gradient(loss), style)(*(each.detach() for each in operands))
        )
    (slope,) = torch.autograd.grad(loss(*operands), operands[:1], create_graph=True)
    return numbers(torch.autograd.grad(slope.sum(), operands[0])[0])


def _gradient_of_gradient(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    slope = torch.func.grad(loss)

    def total(*operands: Tensor) -> Tensor:
        summed: Tensor = slope(*operands).sum()
        return summed

    made: Callable[..., Tensor] = torch.func.grad(total)
    return made
