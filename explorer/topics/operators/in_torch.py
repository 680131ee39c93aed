"""PyTorch's gradients and outputs with equal settings, its gradients at kinks, and the slopes there."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.in_torch_styles import placed, styled
from explorer.topics.operators.inputs import LABELS, MEAN, NET, OPERANDS, PICTURES, VARIANCE
from explorer.topics.operators.kinks import Kink, kinks_of_group, load_kinks, written


def batch_norm(training: bool) -> Callable[..., Tensor]:
    """Batch norm with its scale and shift as arguments.

    The running statistics are the same at every call.
    """
    mean, variance = torch.tensor(MEAN), torch.tensor(VARIANCE)

    def normalised(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return functional.batch_norm(
            # Training moves the statistics in place.
            x,
            mean.clone(),
            variance.clone(),
            weight,
            bias,
            training,
            momentum=0.1,
            eps=1e-5,
        )

    return normalised


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Layer norm over the four elements of a row."""
    return functional.layer_norm(x, (4,), weight, bias, 1e-5)


def cross_entropy(labels: Tensor) -> Callable[[Tensor], Tensor]:
    """Cross entropy with its labels fixed."""

    def loss(logits: Tensor) -> Tensor:
        return functional.cross_entropy(logits, labels)

    return loss


def operators() -> dict[str, Callable[..., Tensor]]:
    """Each operator by the name of its operands."""
    labels = torch.tensor(LABELS, dtype=torch.long)
    one_hot = functional.one_hot(labels, 3).float()
    return {
        "batch norm, training": batch_norm(training=True),
        "batch norm, inference": batch_norm(training=False),
        "transpose": lambda x: x.permute(3, 2, 1, 0),
        # An odd axis' last window is padded with what is never the greatest.
        "max pool, same": lambda x: functional.max_pool2d(x, 2, 2, ceil_mode=True),
        "max pool, valid": lambda x: functional.max_pool2d(x, 2, 2),
        "average pool, valid": lambda x: functional.avg_pool2d(x, 2, 2),
        "convolution, same": lambda x, weight, bias: functional.conv2d(
            x, weight, bias, padding="same"
        ),
        "convolution, valid": lambda x, weight, bias: functional.conv2d(x, weight, bias, stride=2),
        "dense": functional.linear,
        "cross entropy, classes": cross_entropy(labels),
        "cross entropy, one-hot": cross_entropy(one_hot),
        "layer norm": layer_norm,
        "gelu, exact": functional.gelu,
        "gelu, tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "dropout, p = 0": lambda x: functional.dropout(x, 0.0, training=True),
        "dropout, inference": lambda x: functional.dropout(x, 0.3, training=False),
    }


@placed
def operator_gradients(ask: Ask) -> Found:
    """The gradients of first and second order of each operator, in the style asked for.

    With f the sum of the squared output, "first" is the gradient of f with respect to all operands,
    and "second" the gradient of the sum of df/dx with respect to the input x.
    """
    style = ask.options["style"]
    figures: Figures = {}
    for name, operator in operators().items():
        loss = _sum_of_squares(operator)
        figures[name] = {
            "first": attempt_briefly(_first, loss, name, style),
            "second": attempt_briefly(_second, loss, name, style),
        }
    return Found(figures)


def _sum_of_squares(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The sum of the squares of an operator's output.

    The square gives linear operators a second derivative too.
    """

    def loss(*operands: Tensor) -> Tensor:
        return operator(*operands).square().sum()

    return loss


def _first(loss: Callable[..., Tensor], name: str, style: str) -> Any:
    operands = [torch.tensor(operand, requires_grad=True) for operand in OPERANDS[name]]
    return numbers(torch.autograd.grad(styled(loss, style)(*operands), operands))


def _second(loss: Callable[..., Tensor], name: str, style: str) -> Any:
    """The gradient of the gradient: twice over the tape, or one compiled function of both."""
    operands = [torch.tensor(operand) for operand in OPERANDS[name]]
    # AOTAutograd's graph of a function has no second backward (2.13.0).
    if style == "graph":
        return numbers(styled(_gradient_of_gradient(loss), style)(*operands))
    for operand in operands:
        operand.requires_grad_()
    (slope,) = torch.autograd.grad(loss(*operands), operands[:1], create_graph=True)
    return numbers(torch.autograd.grad(slope.sum(), operands[0])[0])


def _gradient_of_gradient(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    slope = torch.func.grad(loss)

    def total(*operands: Tensor) -> Tensor:
        summed: Tensor = slope(*operands).sum()
        return summed

    gradient: Callable[..., Tensor] = torch.func.grad(total)
    return gradient


class Net(nn.Module):  # type: ignore[misc]  # torch's own types are skipped
    """Convolution, batch norm, relu, max pool, dropout, dense."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.dropout = nn.Dropout(p=0.5)
        self.dense = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Three numbers a picture."""
        hidden = self.pool(torch.relu(self.norm(self.conv(x))))
        output: Tensor = self.dense(self.dropout(hidden).reshape(x.shape[0], -1))
        return output


@placed
def inference(ask: Ask) -> Found:
    """Outputs of three calls in inference mode, then of two in training mode, in one style."""
    torch.manual_seed(0)
    net, pictures = Net(), torch.tensor(PICTURES)
    state = {name: torch.tensor(start) for name, start in NET.items()}
    net.load_state_dict(state, strict=False)  # all but the count of batches
    run = styled(net, ask.options["style"])
    net.eval()
    in_inference = [numbers(run(pictures)) for _ in range(3)]
    net.train()
    in_training = [numbers(run(pictures)) for _ in range(2)]
    return Found({"inference": in_inference, "training": in_training})


KINKS = load_kinks("torch", ops=torch, functional=torch.nn.functional)

STEPS = (2.0**-12, 2.0**-20)
"""The two steps of the difference quotients, 256 apart.

Where the slope is infinite as a square root's is, the quotient of the smaller step is sixteen times
that of the other.
"""

GROWTH = 8.0
"""A slope whose quotient grows by more than this is taken to be infinite."""


@placed
def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group asked for."""
    kinks = kinks_of_group(KINKS, ask.options["group"])
    return Found({kink.name: _figures(kink, ask.options["style"]) for kink in kinks})


def _figures(kink: Kink, style: str) -> Figures:
    inputs = _inputs(kink, torch.float32)
    for tensor in inputs:
        tensor.requires_grad_()
    return {
        "written": written(kink.function),
        "found": attempt_briefly(value_and_gradient, styled(kink.function, style), inputs),
    }


def _inputs(kink: Kink, dtype: torch.dtype) -> list[torch.Tensor]:
    return [torch.tensor(values, dtype=dtype) for values in kink.inputs]


def value_and_gradient(function: Callable[..., Any], inputs: list[torch.Tensor]) -> Figures:
    """The function's value, and the derivative of its sum with respect to every input."""
    value = function(*inputs)
    return {"value": numbers(value), "gradient": numbers(torch.autograd.grad(value.sum(), inputs))}


@placed
def slopes_at_kinks(ask: Ask) -> Found:
    """The one-sided difference quotients of each kink's function, in float64.

    They are taken with respect to each element of each input; no gradient is involved.
    """
    kinks = kinks_of_group(KINKS, ask.options["group"])
    return Found({kink.name: [_slopes(kink, -1.0), _slopes(kink, 1.0)] for kink in kinks})


def _slopes(kink: Kink, side: float) -> list[Any]:
    """The slopes on one side, -1 or 1, in the shape of each input."""
    inputs = _inputs(kink, torch.float64)
    slopes = [torch.empty_like(tensor) for tensor in inputs]
    for place, tensor in enumerate(inputs):
        for index in range(tensor.numel()):
            slopes[place].view(-1)[index] = _slope(kink, place, index, side)
    return [numbers(slope) for slope in slopes]


def _slope(kink: Kink, place: int, index: int, side: float) -> float:
    """The slope with respect to one element of the input at ``place``.

    It is infinite where the quotient grows as the step shrinks.
    """
    coarse, fine = (_quotient(kink, place, index, side * step) for step in STEPS)
    # A slope of 0 from the coarse step is no ground to call the other one infinite.
    if abs(fine) > GROWTH * abs(coarse) > 0:
        return math.copysign(math.inf, fine)
    return round(fine, 3)


def _quotient(kink: Kink, place: int, index: int, step: float) -> float:
    inputs, moved = _inputs(kink, torch.float64), _inputs(kink, torch.float64)
    moved[place].view(-1)[index] += step
    return float((kink.function(*moved).sum() - kink.function(*inputs).sum()) / step)
