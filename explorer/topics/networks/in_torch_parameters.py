"""Which of the Parameters that a Module keeps in a list, a tuple or a ParameterList it registers."""

from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.in_torch import numbers


class Holding(nn.Module):  # type: ignore[misc]  # checked without following torch
    """Two Parameters in a container of some kind: a factor, and what is added."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        factor = nn.Parameter(torch.tensor([2.0]))
        addend = nn.Parameter(torch.tensor([1.0]))
        self.weights = container([factor, addend])

    def forward(self, x: torch.Tensor) -> Any:
        """One number."""
        return (x * self.weights[0] + self.weights[1]).sum()


def parameters_in(ask: Ask) -> Found:
    """What each container registers, what the net gives, and the gradients that a step would use."""
    figures: dict[str, Any] = {}
    for container in (list, tuple, nn.ParameterList):
        net = Holding(container)
        value = net(torch.tensor([3.0]))
        value.backward()
        figures[container.__name__] = {
            "registered": [name for name, _ in net.named_parameters()],
            "value": numbers(value),
            "gradients": [numbers(parameter.grad) for parameter in net.parameters()],
        }
    return Found(figures)
