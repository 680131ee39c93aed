"""From gradients to new weights in PyTorch: clipping, accumulation, and optimizers."""

import inspect
from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.training.in_torch import ConvNet, fresh_net, state, tensors
from explorer.topics.training.inputs import (
    BATCH,
    DECAYED,
    MICRO_BATCHES,
    OPTIMIZER_METHODS,
    OWN_MOMENTUM,
    OWN_RATE,
    RATE,
    WEIGHT,
    batches,
    gradients,
    loads_own_state,
)
from explorer.topics.training.update_rules import moved_weights

# Between the backward pass and the update


def clipping(ask: Ask) -> Found:
    """Gradients clipped by their global norm, and by value.

    The clipping changes ``.grad`` in place; by norm, it returns the norm.
    """

    def by_norm(norm: float) -> Any:
        """The gradients clipped to a global norm, and what the call returns."""
        weights = _weights_with_gradients(ask)
        returned = nn.utils.clip_grad_norm_(weights, norm)
        return {
            "gradients": [numbers(weight.grad) for weight in weights],
            "returned": returned.item(),
        }

    def by_value(value: float) -> Any:
        """The gradients clipped to ±``value``."""
        weights = _weights_with_gradients(ask)
        nn.utils.clip_grad_value_(weights, value)
        return [numbers(weight.grad) for weight in weights]

    # max_norm has no default in PyTorch 2.13.0; a later version may give it one.
    default = inspect.signature(nn.utils.clip_grad_norm_).parameters["max_norm"].default
    return Found(
        {
            "default": None if default is inspect.Parameter.empty else default,
            "by norm": {str(norm): attempt(by_norm, norm) for norm in ask.options["norms"]},
            "by value": by_value(ask.options["value"]),
        }
    )


def _weights_with_gradients(ask: Ask) -> list[Any]:
    weights = []
    for gradient in ask.options["gradients"]:
        weight = torch.zeros(len(gradient), device=ask.device, requires_grad=True)
        weight.grad = torch.tensor(gradient, dtype=torch.float32, device=ask.device)
        weights.append(weight)
    return weights


def accumulation(ask: Ask) -> Found:
    """The gradient of a batch of eight, and what ``backward`` adds up over its four micro-batches.

    Both with a mean as the loss, and with a sum.
    """
    return Found({reduction: _accumulated(ask, reduction) for reduction in ("mean", "sum")})


def _accumulated(ask: Ask, reduction: str) -> dict[str, Any]:
    net = fresh_net(ask.device)
    net.norm.train(ask.options["norm_in_training"])
    ((pictures, targets),) = batches(1, BATCH)
    x, y = torch.from_numpy(pictures).to(ask.device), torch.from_numpy(targets).to(ask.device)
    nn.functional.mse_loss(net(x), y, reduction=reduction).backward()
    whole = _gradients(net)

    # backward adds to .grad, so that nothing needs to be kept between the parts.
    net.zero_grad()
    parts = zip(x.chunk(MICRO_BATCHES), y.chunk(MICRO_BATCHES), strict=True)
    for part, target in parts:
        nn.functional.mse_loss(net(part), target, reduction=reduction).backward()
    added = _gradients(net)
    for weight in net.parameters():
        weight.grad /= MICRO_BATCHES
    return {"whole": whole, "added": added, "divided": _gradients(net)}


def _gradients(net: ConvNet) -> dict[str, Any]:
    return {name: numbers(weight.grad) for name, weight in net.named_parameters()}


# Optimizers


def updates(ask: Ask) -> Found:
    """The weight after each of five given gradients, by every optimizer asked for."""

    def path(name: str, settings: dict[str, Any]) -> Any:
        """The weight after each gradient, under one optimizer."""
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
    """What weight decay leaves of weights that are 1, after one step with gradient 0.

    The decay is that by default, and 0.1.
    """

    def weights_left(name: str, settings: dict[str, Any]) -> Any:
        """What the step leaves of each weight, by name."""
        weights = {key: _ones(ask, gradient=0.0) for key in DECAYED}
        # Named parameters, in case an optimizer goes by names as MindSpore's do.
        getattr(torch.optim, name)(weights.items(), lr=RATE, **settings).step()
        return {key: weight.item() for key, weight in weights.items()}

    figures = {}
    for name in ask.options["optimizers"]:
        figures[f"torch {name}"] = {
            "default": attempt(weights_left, name, {}),
            "0.1": attempt(weights_left, name, {"weight_decay": 0.1}),
        }
    return Found(figures)


def _ones(ask: Ask, gradient: float) -> torch.Tensor:
    """A weight of one element, which is 1, with its gradient."""
    weight = torch.ones(1, device=ask.device, requires_grad=True)
    weight.grad = torch.full_like(weight, gradient)
    return weight


def groups(ask: Ask) -> Found:
    """Two steps with a setting of its own for the first of two weights.

    They show whether a group takes the setting, and what it does.
    """

    def weights_moved(setting: dict[str, Any], width: int) -> Any:
        """The beginning of both weights' rows of length ``width``, after the steps."""
        row = torch.tensor([[1.0, 3.0] * (width // 2)], device=ask.device)
        first, second = row.clone().requires_grad_(), row.clone().requires_grad_()
        optimizer = torch.optim.SGD([{"params": [first], **setting}, {"params": [second]}], lr=RATE)
        for _ in range(2):
            first.grad = second.grad = row.clone()
            optimizer.step()
        return {"first": numbers(first)[0][:2], "second": numbers(second)[0][:2]}

    figures = {}
    for name, (setting, width) in ask.options["settings"].items():
        figures[name] = attempt(weights_moved, setting, width)
    return Found({"torch": figures})


def takes_groups(ask: Ask) -> Found:
    """How many rates each optimizer of torch.optim has for two groups, or what it raises."""
    figures = {}
    for name in sorted(dir(torch.optim)):
        optimizer = getattr(torch.optim, name)
        if not isinstance(optimizer, type) or optimizer is torch.optim.Optimizer:
            continue
        if issubclass(optimizer, torch.optim.Optimizer):
            figures[name] = attempt_briefly(_rates_of_groups, optimizer)
    return Found(figures)


def _rates_of_groups(optimizer: Any) -> int:
    first, second = (torch.ones(1, 1, requires_grad=True) for _ in range(2))
    made = optimizer([{"params": [first], "lr": 0.1}, {"params": [second], "lr": 0.2}])
    return len({group["lr"] for group in made.param_groups})


def add_param_group(ask: Ask) -> Found:
    """A group added to an optimizer that exists, and one step after it.

    Of every optimizer asked for.
    """

    def step_with_new_group(name: str) -> Any:
        """Both weights after the step, of which the second came with the new group."""
        first, second = _ones(ask, gradient=1.0), _ones(ask, gradient=1.0)
        optimizer = getattr(torch.optim, name)([first], lr=RATE)
        optimizer.add_param_group({"params": [second], "lr": 0.5})
        optimizer.step()
        return {"first": numbers(first), "second": numbers(second)}

    figures = {name: attempt(step_with_new_group, name) for name in ask.options["optimizers"]}
    return Found({"torch": figures})


def filtered(ask: Ask) -> Found:
    """What parameters() is, and one step of an optimizer of some parameters.

    It is given only those with "fc" in their names.
    """
    net = fresh_net(ask.device)
    parameters = net.parameters()
    count = len(list(parameters))  # which uses the generator up
    chosen = {name: weight for name, weight in net.named_parameters() if "fc" in name}
    before = state(net)
    optimizer = torch.optim.SGD(chosen.values(), RATE)
    x, y = tensors(ask.device)[0]
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    return Found(
        {
            "type": type(parameters).__name__,
            "again": len(list(parameters)) == count,
            "count": count,
            "chosen": list(chosen),
            "moved": moved_weights(before, state(net)),
        }
    )


def optimizer_state(ask: Ask) -> Found:
    """What an optimizer reports of itself after one step.

    Its methods, the names in its state_dict, and the rate it says it has.
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
                "load_state_dict": attempt_briefly(loads_own_state, optimizer),
            },
            "scheduler.get_last_lr": scheduler.get_last_lr(),
        }
    )


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
