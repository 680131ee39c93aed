"""PyTorch's optimizers by themselves: five given gradients, weight decay, groups, and what they
tell of their state.
"""

from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.training.given import RATE, WEIGHT, gradients


def updates(ask: Ask) -> Found:
    """The weight after each of five given gradients, by every optimizer asked for."""

    def path(name: str, settings: dict[str, Any]) -> Any:
        weight = torch.tensor(WEIGHT, device=ask.device, requires_grad=True)
        optimizer = getattr(torch.optim, name)([weight], **settings)
        found = []
        for gradient in gradients():
            weight.grad = torch.from_numpy(gradient).to(ask.device)
            optimizer.step()
            found.append(numbers(weight))
        return found

    return Found({update: attempt(path, *form) for update, form in ask.options["forms"].items()})


def names(ask: Ask) -> Found:
    """The optimizers that torch.optim exports."""
    found = {
        name
        for name, each in vars(torch.optim).items()
        if isinstance(each, type) and issubclass(each, torch.optim.Optimizer)
    }
    return Found({"torch": sorted(found)})


def weight_decay(ask: Ask) -> Found:
    """One step with gradient 0 on weights that are 1: what is gone is the decay; by default, and
    with 0.1.
    """

    def left(name: str, settings: dict[str, Any]) -> Any:
        names = ("fc.weight", "fc.bias", "norm.gamma", "norm.beta")
        weights = {name: torch.ones(1, device=ask.device, requires_grad=True) for name in names}
        for weight in weights.values():
            weight.grad = torch.zeros_like(weight)
        getattr(torch.optim, name)(weights.items(), lr=RATE, **settings).step()
        return {name: weight.item() for name, weight in weights.items()}

    return Found(
        {
            f"torch {name}": {
                "default": attempt(left, name, {}),
                "0.1": attempt(left, name, {"weight_decay": 0.1}),
            }
            for name in ask.options["optimizers"]
        }
    )


def groups(ask: Ask) -> Found:
    """Two steps with a setting of its own for the first of two weights: whether a group takes it,
    and what it does.
    """

    def taken(setting: dict[str, Any], width: int) -> Any:
        row = torch.tensor([[1.0, 3.0] * (width // 2)], device=ask.device)
        first, second = (row.clone().requires_grad_() for _ in range(2))
        optimizer = torch.optim.SGD([{"params": [first], **setting}, {"params": [second]}], lr=RATE)
        for _ in range(2):
            first.grad = second.grad = row.clone()
            optimizer.step()
        return {"first": numbers(first)[0][:2], "second": numbers(second)[0][:2]}

    return Found(
        {"torch": {name: attempt(taken, *each) for name, each in ask.options["settings"].items()}}
    )


def add_param_group(ask: Ask) -> Found:
    """A group added to an optimizer that exists, and one step after it, by every optimizer asked
    for.
    """

    def grown(name: str) -> Any:
        first, second = (torch.ones(1, device=ask.device, requires_grad=True) for _ in range(2))
        optimizer = getattr(torch.optim, name)([first], lr=RATE)
        optimizer.add_param_group({"params": [second], "lr": 0.5})
        first.grad, second.grad = torch.ones_like(first), torch.ones_like(second)
        optimizer.step()
        return {"first": numbers(first), "second": numbers(second)}

    return Found({"torch": {name: attempt(grown, name) for name in ask.options["optimizers"]}})


def told(ask: Ask) -> Found:
    """What an optimizer tells of itself after one step: its methods, the names in its state_dict,
    the rate it says it has.
    """
    weight = torch.ones(1, device=ask.device, requires_grad=True)
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.SGD([weight], lr=RATE, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    optimizer.step()
    scheduler.step()
    methods = (
        "state_dict",
        "load_state_dict",
        "get_lr",
        "get_last_lr",
        "param_groups",
        "add_param_group",
    )
    held = optimizer.state_dict()
    return Found(
        {
            "torch": {
                "has": {name: hasattr(optimizer, name) for name in methods},
                "state_dict": sorted(
                    [*held, *(f"state.{name}" for each in held["state"].values() for name in each)]
                ),
            },
            "scheduler.get_last_lr": scheduler.get_last_lr(),
        }
    )
