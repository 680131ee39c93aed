"""How MindSpore's nets hand out their parameters, and what the step with a loss scale inside says
on this device.
"""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, raised
from explorer.topics.in_mindspore import numbers
from explorer.topics.training.given import RATE
from explorer.topics.training.in_mindspore_nets import fresh, state, tensors


def filtered(ask: Ask) -> Found:
    """What trainable_params() is, and one step of an optimizer that was given only the parameters
    with "fc" in their names.
    """
    net = fresh("tape", ask.device)
    handed = net.trainable_params()
    chosen = list(filter(is_linear, net.trainable_params()))
    before = state(net)
    loss_of, optimizer = nn.MSELoss(), nn.SGD(chosen, RATE)

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    optimizer(ms.grad(forward, None, chosen)(*tensors()[0]))
    after = state(net)
    return Found(
        {
            "type": type(handed).__name__,
            "again": len(list(handed)) == len(list(handed)),
            "count": len(list(handed)),
            "get_parameters": type(net.get_parameters()).__name__,
            "chosen": [parameter.name for parameter in chosen],
            "moved": sorted(
                name for name in before if before[name] != after[name] and "running" not in name
            ),
        }
    )


def is_linear(parameter: Any) -> bool:
    """Whether a parameter is named as one of the linear layer."""
    return "fc" in parameter.name


def scaled_step(ask: Ask) -> Found:
    """nn.TrainOneStepWithLossScaleCell, once in each style: the loss, or what MindSpore says."""

    def step(mode: str) -> Any:
        net = fresh(mode, ask.device)
        network, optimizer = (
            nn.WithLossCell(net, nn.MSELoss()),
            nn.SGD(net.trainable_params(), RATE),
        )
        cell = nn.TrainOneStepWithLossScaleCell(
            network, optimizer, nn.FixedLossScaleUpdateCell(1024.0)
        )
        cell.set_train()
        return numbers(cell(*tensors()[0]))

    return Found({mode: _settled(attempt(step, mode)) for mode in ("graph", "tape")})


def _settled(figure: Any) -> Any:
    """An attempt without the node that it failed at: that has the number of the graph, which counts
    the whole process.
    """
    return (
        {**figure, "message": figure["message"].partition(" node:")[0]}
        if raised(figure)
        else figure
    )
