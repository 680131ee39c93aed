"""Value and gradient of each kink in PyTorch, tape and graph, and the slopes to its left and right
in float64.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators import in_torch_kink_functions as functions
from explorer.topics.operators.in_torch_styles import placed, styled
from explorer.topics.operators.kinks import KINKS, Kink
from explorer.topics.operators.trying import written

STEPS = (2.0**-12, 2.0**-20)
"""Two steps, 256 apart: a slope that grows sixteenfold from one to the other (a square root does)
is taken to be infinite.
"""
GROWTH = 8.0


@placed
def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group of kinks asked
    for.
    """
    return Found(
        {
            kink.name: _at(kink, ask.options["style"])
            for kink in KINKS
            if kink.group == ask.options["group"]
        }
    )


def _at(kink: Kink, style: str) -> dict[str, Any]:
    function = getattr(functions, kink.name)
    inputs = [
        torch.tensor(values, dtype=torch.float32, requires_grad=True) for values in kink.inputs
    ]
    return {
        "written": written(inspect.getsource(function)),
        "found": attempt_briefly(value_and_gradient, styled(function, style), inputs),
    }


def value_and_gradient(function: Any, inputs: list[torch.Tensor]) -> dict[str, Any]:
    """The function's value, and the derivative of its sum by every input."""
    value = function(*inputs)
    return {"value": numbers(value), "gradient": numbers(torch.autograd.grad(value.sum(), inputs))}


@placed
def slopes_at_kinks(ask: Ask) -> Found:
    """The one-sided difference quotients in float64 of each kink's function, by each element of
    each input; no gradient.
    """
    return Found(
        {
            kink.name: [_sided(kink, sign) for sign in (-1.0, 1.0)]
            for kink in KINKS
            if kink.group == ask.options["group"]
        }
    )


def _sided(kink: Kink, sign: float) -> list[Any]:
    """The slope on one side, in the shape of each input."""
    function = getattr(functions, kink.name)
    inputs = [torch.tensor(values, dtype=torch.float64) for values in kink.inputs]
    made = [torch.empty_like(given) for given in inputs]
    for place, given in enumerate(inputs):
        for index in range(given.numel()):
            coarse, fine = (
                _quotient(function, inputs, place, index, sign * step) for step in STEPS
            )
            steep = abs(fine) > GROWTH * abs(coarse) > 0
            made[place].view(-1)[index] = math.copysign(math.inf, fine) if steep else round(fine, 3)
    return [numbers(each) for each in made]


def _quotient(
    function: Callable[..., Any], inputs: list[torch.Tensor], place: int, index: int, step: float
) -> float:
    moved = [given.clone() for given in inputs]
    moved[place].view(-1)[index] += step
    return float((function(*moved).sum() - function(*inputs).sum()) / step)
