"""What MindSpore's optimizers are called, take, and tell of themselves."""

from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, attempt_briefly, raised
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.inputs import OWN_MOMENTUM, OWN_RATE, RATE

MODULES: dict[str, Any] = {"nn": nn, "experimental": optim}
RATE_SETTING = {"nn": {"learning_rate": RATE}, "experimental": {"lr": RATE}}
"""The learning rate as each module's optimizers take it."""


def looked_up(ask: Ask) -> Found:
    """What mindspore.nn has under each of the names asked for, or what it says instead."""

    def under(name: str) -> Any:
        """The name of what is found."""
        return getattr(nn, name).__name__

    return Found({name: attempt(under, name) for name in ask.options["names"]})


def thor(ask: Ask) -> Found:
    """Whether a step of thor can be taken here; it is given a net and not parameters."""
    set_style("tape", ask.device)

    def step() -> str:
        """Says that it was taken."""
        net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 1))
        optimizer = nn.thor(net, ms.Tensor([RATE]), ms.Tensor([0.1]), OWN_MOMENTUM)
        optimizer(tuple(ops.ones_like(parameter) for parameter in optimizer.parameters))
        return "taken"

    return Found({"step": attempt_briefly(step)})


def scaling(ask: Ask) -> Found:
    """What takes the call as the guide prints it, and what steps of SGD leave of a weight that is 1.

    With the argument loss_scale, and with the gradient divided by hand; with weight decay too.
    No step where the argument is unknown.
    """
    set_style("tape", ask.device)
    place, options = ask.options["place"], ask.options
    gradient, scale, decay = options["gradient"], options["scale"], options["decay"]

    def weight_left(value: float, **settings: Any) -> Any:
        """The weight after one step with a gradient of ``value``."""
        weight = _weight("weight")
        optimizer = MODULES[place].SGD([weight], **RATE_SETTING[place], **settings)
        optimizer((ms.Tensor([value]),))
        return numbers(weight)[0]

    figures = {
        "as printed": {
            name: attempt(printed_call, getattr(MODULES[place], name), RATE, [_weight("weight")])
            for name in ("Optimizer", "SGD")
        },
        "scaled": attempt(weight_left, gradient, loss_scale=scale),
    }
    if raised(figures["scaled"]):
        return Found(figures)
    divided = gradient / scale
    decayed = {"weight_decay": decay}
    figures["whole"] = weight_left(gradient)
    figures["divided by hand"] = weight_left(divided)
    figures["scaled, decayed"] = weight_left(gradient, loss_scale=scale, **decayed)
    figures["divided by hand, decayed"] = weight_left(divided, **decayed)
    return Found(figures)


def printed_call(optimizer: Any, learning_rate: Any, parameters: Any) -> str:
    """The call of an optimizer, for any class; the name of what is made."""
    made = optimizer(learning_rate, parameters, weight_decay=0.0, loss_scale=1.0)
    return type(made).__name__


def param_groups(ask: Ask) -> Found:
    """The settings that an optimizer tells of its two groups, of which the first has its own rate."""
    set_style("tape", ask.device)
    place = ask.options["place"]

    def settings() -> Any:
        """The settings of each group, and how many parameters it has."""
        first, second = _weight("first"), _weight("second")
        optimizer = MODULES[place].SGD(
            [{"params": [first], "lr": OWN_RATE}, {"params": [second]}],
            **RATE_SETTING[place],
            momentum=OWN_MOMENTUM,
        )
        groups = []
        for group in optimizer.param_groups:
            told = {key: numbers(value) for key, value in group.items()}
            told["params"] = len(group["params"])
            groups.append(told)
        return groups

    return Found({"groups": attempt(settings)})


def _weight(name: str) -> Any:
    return ms.Parameter(ms.Tensor([1.0]), name=name)
