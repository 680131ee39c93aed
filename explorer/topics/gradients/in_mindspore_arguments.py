"""What MindSpore's grad takes as positions and as weights, and what it refuses."""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.gradients.arguments import POSITIONS
from explorer.topics.in_mindspore import numbers, set_style


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """One weight row, w = (2, 3), times the first input, times the second."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 1, ms.Tensor([[2.0, 3.0]]), has_bias=False)

    def construct(self, x: Any, y: Any) -> Any:
        """One number."""
        return (self.fc(x) * y).sum()


def arguments(ask: Ask) -> Found:
    """The gradient that each position and each form of weights gives, or what it raises."""
    style = ask.options["style"]
    net = Net()
    weight = net.fc.weight
    forms: dict[str, Any] = {
        "ParameterTuple": ms.ParameterTuple([weight]),
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "fc.weight",
        "Tensor": ms.Tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [ms.Parameter(ms.Tensor([1.0]), name="other")],
    }
    positions: dict[str, Any] = {}
    for name, position in POSITIONS.items():
        positions[name] = attempt_briefly(gradient, style, net, position, None)
    weights: dict[str, Any] = {}
    for name, form in forms.items():
        weights[name] = attempt_briefly(gradient, style, net, None, form)
    return Found({"positions": positions, "weights": weights})


def gradient(style: str, net: nn.Cell, position: Any, weights: Any) -> Any:
    """What grad gives of the net."""
    set_style(style)  # before each call: one that raised would spoil the next (2.10.0)
    return numbers(ms.grad(net, position, weights)(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[4.0]])))
