"""What PyTorch takes as positions (torch.func.grad) and as weights (autograd.grad)."""

from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.gradients.arguments import POSITIONS
from explorer.topics.in_torch import numbers


def arguments(ask: Ask) -> Found:
    """The gradient that each position and each form of weights gives, or what it raises."""
    weight = torch.nn.Parameter(torch.tensor([[2.0, 3.0]]))
    forms: dict[str, Any] = {
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "fc.weight",
        "Tensor": torch.tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [torch.nn.Parameter(torch.tensor([1.0]))],
    }
    positions: dict[str, Any] = {}
    for name, position in POSITIONS.items():
        positions[name] = attempt_briefly(by_position, weight, position)
    weights: dict[str, Any] = {}
    for name, form in forms.items():
        weights[name] = attempt_briefly(by_weights, weight, form)
    return Found({"positions": positions, "weights": weights})


def value(weight: Any, x: Any, y: Any) -> Any:
    """The weight row times the first input, times the second."""
    return (torch.nn.functional.linear(x, weight) * y).sum()


def by_position(weight: Any, position: Any) -> Any:
    """What torch.func.grad gives with respect to the inputs at a position."""

    def of_inputs(x: Any, y: Any) -> Any:
        """The value for two inputs."""
        return value(weight, x, y)

    function = torch.func.grad(of_inputs, argnums=position)
    return numbers(function(torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0]])))


def by_weights(weight: Any, form: Any) -> Any:
    """What autograd.grad gives with respect to a form of weights."""
    total = value(weight, torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0]]))
    return numbers(torch.autograd.grad(total, form))
