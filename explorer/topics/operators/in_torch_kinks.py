"""Value and gradient of each kink in PyTorch, tape and graph, and its slopes in float64."""

import math
from collections.abc import Callable
from typing import Any

import torch

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.in_torch_styles import placed, styled
from explorer.topics.operators.kinks import Kink, kinks_of_group, load_kinks, written

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
