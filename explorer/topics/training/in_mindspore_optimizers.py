"""MindSpore's optimizers by themselves: five given gradients, weight decay, groups, and what they
tell of their state.
"""

from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.given import RATE, WEIGHT, gradients

PLACES: dict[str, Any] = {"nn": nn, "experimental": optim}
PLAIN: dict[str, dict[str, Any]] = {"nn": {"learning_rate": RATE}, "experimental": {"lr": RATE}}


def updates(ask: Ask) -> Found:
    """The weight after each of five given gradients, by every optimizer asked for."""
    set_style("tape", ask.device)

    def path(name: str, settings: dict[str, Any]) -> Any:
        weight = ms.Parameter(ms.Tensor(WEIGHT), name="weight")
        ready = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in settings.items()
        }
        optimizer = getattr(PLACES[ask.options["place"]], name)([weight], **ready)
        found = []
        for gradient in gradients():
            optimizer((ms.Tensor(gradient),))
            found.append(numbers(weight))
        return found

    return Found({update: attempt(path, *form) for update, form in ask.options["forms"].items()})


def names(ask: Ask) -> Found:
    """The optimizers that each module exports."""
    return Found({"nn": sorted(nn.optim.__all__), "experimental": sorted(optim.__all__)})


class SmallMomentum(nn.Optimizer):  # type: ignore[misc]  # mindspore ships no types
    """Momentum written from small operators, as the guide does."""

    def __init__(self, params: Any, learning_rate: float, momentum: float) -> None:
        super().__init__(learning_rate, params)
        self.momentum = momentum
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.assign = ops.Assign()

    def construct(self, gradients: Any) -> Any:
        rate = self.get_lr()
        for index in range(len(self.moments)):
            moved = self.moments[index] * self.momentum + gradients[index]
            self.assign(self.moments[index], moved)
            self.assign(self.parameters[index], self.parameters[index] - rate * moved)
        return gradients


def momentum(ask: Ask) -> Found:
    """The weight after each of five given gradients: small operators, and nn.Momentum with its
    fused ApplyMomentum.
    """
    found = {}
    for mode in ("graph", "tape"):
        for name, make in (
            ("small operators", SmallMomentum),
            ("fused ApplyMomentum", nn.Momentum),
        ):
            set_style(mode, ask.device)
            weight = ms.Parameter(ms.Tensor(WEIGHT), name="weight")
            optimizer = make([weight], RATE, 0.9)
            path = []
            for gradient in gradients():
                optimizer((ms.Tensor(gradient),))
                path.append(numbers(weight))
            found[f"{name}, {mode}"] = path
    return Found(found)


def weight_decay(ask: Ask) -> Found:
    """One step with gradient 0 on weights that are 1: what is gone is the decay; by default, and
    with 0.1.
    """
    set_style("tape", ask.device)

    def left(place: str, name: str, settings: dict[str, Any]) -> Any:
        weights = [
            ms.Parameter(ms.Tensor([1.0]), name=name)
            for name in ("fc.weight", "fc.bias", "norm.gamma", "norm.beta")
        ]
        getattr(PLACES[place], name)(weights, **PLAIN[place], **settings)(
            tuple(ms.Tensor([0.0]) for _ in weights)
        )
        return {weight.name: numbers(weight)[0] for weight in weights}

    found = {}
    for place, name, more in ask.options["optimizers"]:
        found[f"{place} {name}"] = {
            "default": attempt(left, place, name, more),
            "0.1": attempt(left, place, name, {**more, "weight_decay": 0.1}),
        }
    return Found(found)


def groups(ask: Ask) -> Found:
    """Two steps with a setting of its own for the first of two weights: whether a group takes it,
    and what it does.
    """
    set_style("tape", ask.device)

    def taken(place: str, setting: dict[str, Any], width: int) -> Any:
        row = ms.Tensor([[1.0, 3.0] * (width // 2)])
        first, second = (ms.Parameter(row.copy(), name=name) for name in ("first", "second"))
        optimizer = PLACES[place].SGD(
            [{"params": [first], **setting}, {"params": [second]}], **PLAIN[place]
        )
        for _ in range(2):
            optimizer((row, row))
        return {"first": numbers(first)[0][:2], "second": numbers(second)[0][:2]}

    return Found(
        {
            place: {
                name: attempt(taken, place, *each) for name, each in ask.options["settings"].items()
            }
            for place in PLACES
        }
    )


def add_param_group(ask: Ask) -> Found:
    """A group added to an optimizer that exists, and one step after it, by every optimizer asked
    for.
    """
    set_style("tape", ask.device)

    def grown(place: str, name: str) -> Any:
        first, second = (ms.Parameter(ms.Tensor([1.0]), name=name) for name in ("first", "second"))
        optimizer = getattr(PLACES[place], name)([first], **PLAIN[place])
        optimizer.add_param_group({"params": [second], "lr": 0.5})
        optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
        return {"first": numbers(first), "second": numbers(second)}

    return Found(
        {
            place: {name: attempt(grown, place, name) for name in ask.options["optimizers"]}
            for place in PLACES
        }
    )


def told(ask: Ask) -> Found:
    """What an optimizer tells of itself after one step: its methods, the names in its state_dict,
    the rate it says it has.
    """
    set_style("tape", ask.device)

    def asked(place: str) -> Any:
        weight = ms.Parameter(ms.Tensor([1.0]), name="weight")
        optimizer = PLACES[place].SGD([weight], **PLAIN[place], momentum=0.9)
        optimizer((ms.Tensor([1.0]),))
        methods = (
            "state_dict",
            "load_state_dict",
            "get_lr",
            "get_last_lr",
            "param_groups",
            "add_param_group",
        )
        return {
            "has": {name: hasattr(optimizer, name) for name in methods},
            "state_dict": attempt(_names_of, optimizer),
            "get_lr": attempt(_rate_of, optimizer),
        }

    scheduler = optim.lr_scheduler.ExponentialLR(
        optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="weight")], lr=RATE), gamma=0.9
    )
    scheduler.step()
    return Found(
        {
            **{place: asked(place) for place in PLACES},
            "scheduler.get_last_lr": numbers(scheduler.get_last_lr()),
        }
    )


def _names_of(optimizer: Any) -> list[str]:
    return sorted(optimizer.state_dict())


def _rate_of(optimizer: Any) -> Any:
    return numbers(optimizer.get_lr())
