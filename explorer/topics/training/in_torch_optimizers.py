"""What PyTorch's optimizers are called, take, and tell of themselves."""

from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.training.in_torch_updates import exported
from explorer.topics.training.inputs import OWN_MOMENTUM, OWN_RATE, RATE, WEIGHT, gradients


def looked_up(ask: Ask) -> Found:
    """What torch.optim has under each of the names asked for, or what it says instead."""

    def under(name: str) -> Any:
        """The name of what is found."""
        return getattr(torch.optim, name).__name__

    return Found({name: attempt(under, name) for name in ask.options["names"]})


def every_update(ask: Ask) -> Found:
    """The weight after each of five given gradients, by every optimizer that torch.optim exports.

    Each has the common rate, and its own defaults beside.
    """

    def path(name: str) -> Any:
        """The weight after each gradient, under one optimizer."""
        weight = torch.tensor(WEIGHT, device=ask.device, requires_grad=True)
        optimizer = getattr(torch.optim, name)([weight], lr=RATE)
        weights = []
        for gradient in gradients():
            weight.grad = torch.from_numpy(gradient).to(ask.device)
            optimizer.step()
            weights.append(numbers(weight))
        return weights

    names = exported(ask).figures["torch"]
    return Found({name: attempt(path, name) for name in names})


def scaling(ask: Ask) -> Found:
    """What takes the call as the guide prints it, and a step of SGD with the argument loss_scale."""
    gradient, scale = ask.options["gradient"], ask.options["scale"]

    def weight_left() -> Any:
        """The weight, which starts at 1, after one step."""
        weight = torch.ones(1, device=ask.device, requires_grad=True)
        weight.grad = torch.full_like(weight, gradient)
        torch.optim.SGD([weight], lr=RATE, loss_scale=scale).step()
        return weight.item()

    figures: dict[str, Any] = {"as printed": {}, "scaled": attempt(weight_left)}
    for name in ("Optimizer", "SGD"):
        weight = torch.ones(1, device=ask.device, requires_grad=True)
        optimizer = getattr(torch.optim, name)
        figures["as printed"][name] = attempt(printed_call, optimizer, [weight], {})
    return Found(figures)


def printed_call(optimizer: Any, params: Any, defaults: Any) -> str:
    """The call of an optimizer, for any class; the name of what is made."""
    return type(optimizer(params, defaults)).__name__


def param_groups(ask: Ask) -> Found:
    """The settings that an optimizer tells of its two groups, of which the first has its own rate."""

    def settings() -> Any:
        """The settings of each group, and how many parameters it has."""
        first, second = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD(
            [{"params": [first], "lr": OWN_RATE}, {"params": [second]}],
            lr=RATE,
            momentum=OWN_MOMENTUM,
        )
        return [{**group, "params": len(group["params"])} for group in optimizer.param_groups]

    return Found({"groups": attempt(settings)})
