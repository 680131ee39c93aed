"""PyTorch's optimizers by themselves: five given gradients, weight decay, groups, chosen
parameters, and what they tell of their state.
"""

from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.training.differences import moved_weights
from explorer.topics.training.in_torch_nets import fresh_net, state, tensors
from explorer.topics.training.inputs import (
    DECAYED,
    OPTIMIZER_METHODS,
    RATE,
    WEIGHT,
    gradients,
)


def updates(ask: Ask) -> Found:
    """The weight after each of five given gradients, by every optimizer asked for."""

    def path(name: str, settings: dict[str, Any]) -> Any:
        weight = torch.tensor(WEIGHT, device=ask.device, requires_grad=True)
        optimizer = getattr(torch.optim, name)([weight], **settings)
        weights = []
        for gradient in gradients():
            weight.grad = torch.from_numpy(gradient).to(ask.device)
            optimizer.step()
            weights.append(numbers(weight))
        return weights

    figures = {}
    for rule, (name, settings) in ask.options["optimizers"].items():
        figures[rule] = attempt(path, name, settings)
    return Found(figures)


def exported(ask: Ask) -> Found:
    """The optimizers that torch.optim exports."""
    names = []
    for name, value in vars(torch.optim).items():
        if isinstance(value, type) and issubclass(value, torch.optim.Optimizer):
            names.append(name)
    return Found({"torch": sorted(names)})


def weight_decay(ask: Ask) -> Found:
    """One step with gradient 0 on weights that are 1: what is gone is the decay; by default, and
    with 0.1.
    """

    def left(name: str, settings: dict[str, Any]) -> Any:
        weights = {key: _ones(ask, gradient=0.0) for key in DECAYED}
        # Named parameters, in case an optimizer goes by names as MindSpore's do.
        getattr(torch.optim, name)(weights.items(), lr=RATE, **settings).step()
        return {key: weight.item() for key, weight in weights.items()}

    figures = {}
    for name in ask.options["optimizers"]:
        figures[f"torch {name}"] = {
            "default": attempt(left, name, {}),
            "0.1": attempt(left, name, {"weight_decay": 0.1}),
        }
    return Found(figures)


def _ones(ask: Ask, gradient: float) -> torch.Tensor:
    """A weight of one element, which is 1, with its gradient."""
    weight = torch.ones(1, device=ask.device, requires_grad=True)
    weight.grad = torch.full_like(weight, gradient)
    return weight


def groups(ask: Ask) -> Found:
    """Two steps with a setting of its own for the first of two weights: whether a group takes it,
    and what it does.
    """

    def moved(setting: dict[str, Any], width: int) -> Any:
        row = torch.tensor([[1.0, 3.0] * (width // 2)], device=ask.device)
        first, second = row.clone().requires_grad_(), row.clone().requires_grad_()
        optimizer = torch.optim.SGD([{"params": [first], **setting}, {"params": [second]}], lr=RATE)
        for _ in range(2):
            first.grad = second.grad = row.clone()
            optimizer.step()
        return {"first": numbers(first)[0][:2], "second": numbers(second)[0][:2]}

    figures = {}
    for name, (setting, width) in ask.options["settings"].items():
        figures[name] = attempt(moved, setting, width)
    return Found({"torch": figures})


def add_param_group(ask: Ask) -> Found:
    """A group added to an optimizer that exists, and one step after it, by every optimizer asked
    for.
    """

    def grown(name: str) -> Any:
        first, second = _ones(ask, gradient=1.0), _ones(ask, gradient=1.0)
        optimizer = getattr(torch.optim, name)([first], lr=RATE)
        optimizer.add_param_group({"params": [second], "lr": 0.5})
        optimizer.step()
        return {"first": numbers(first), "second": numbers(second)}

    return Found({"torch": {name: attempt(grown, name) for name in ask.options["optimizers"]}})


def filtered(ask: Ask) -> Found:
    """What parameters() is, and one step of an optimizer that was given only the parameters with
    "fc" in their names.
    """
    net = fresh_net(ask.device)
    parameters = net.parameters()
    count = len(list(parameters))
    chosen = {name: weight for name, weight in net.named_parameters() if "fc" in name}
    before = state(net)
    optimizer = torch.optim.SGD(chosen.values(), RATE)
    x, y = tensors(ask.device)[0]
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    return Found(
        {
            "type": type(parameters).__name__,
            "again": len(list(parameters)) == count,  # a generator is used up
            "count": count,
            "chosen": list(chosen),
            "moved": moved_weights(before, state(net)),
        }
    )


def optimizer_state(ask: Ask) -> Found:
    """What an optimizer tells of itself after one step: its methods, the names in its state_dict,
    the rate it says it has.
    """
    optimizer = torch.optim.SGD([_ones(ask, gradient=1.0)], lr=RATE, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    optimizer.step()
    scheduler.step()

    # What belongs to one parameter is below "state", by the parameter's number.
    state_dict = optimizer.state_dict()
    names = list(state_dict)
    for parameter_state in state_dict["state"].values():
        names += [f"state.{name}" for name in parameter_state]
    return Found(
        {
            "torch": {
                "has": {name: hasattr(optimizer, name) for name in OPTIMIZER_METHODS},
                "state_dict": sorted(names),
            },
            "scheduler.get_last_lr": scheduler.get_last_lr(),
        }
    )
