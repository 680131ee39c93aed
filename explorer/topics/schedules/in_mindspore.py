"""MindSpore's schedules: the exported ones, the rates of each, and the rates that updates use."""

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.schedules.counterparts import (
    END_RATE,
    GAMMA,
    RATE,
    STEPS,
    parameters,
    ready,
    watched,
)

BASE_SCHEDULER = "LRScheduler"
"""The one export of lr_scheduler that is no schedule."""

CALLBACKS = ("LearningRateScheduler", "ReduceLROnPlateau")
"""The callbacks of Model.train that change the rate."""


def exported(ask: Ask) -> Found:
    """Every schedule that the modules export, with its defaults and its notice of deprecation."""
    schedules = {
        "list": {name: getattr(nn, name) for name in nn.dynamic_lr.__all__},
        "cell": {name: getattr(nn, name) for name in nn.learning_rate_schedule.__all__},
        "hand": {name: getattr(lr_scheduler, name) for name in lr_scheduler.__all__},
        "callback": {name: getattr(ms.train.callback, name) for name in CALLBACKS},
    }
    del schedules["hand"][BASE_SCHEDULER]
    figures = {}
    for form, by_name in schedules.items():
        figures[form] = {name: _described(by_name[name]) for name in sorted(by_name)}
    return Found(figures)


def _described(schedule: Callable[..., Any]) -> dict[str, Any]:
    return {**parameters(schedule), "deprecated": _ending(schedule)}


def _ending(schedule: Callable[..., Any]) -> str:
    """The line of the documentation that says that a schedule is deprecated, or ""."""
    for line in (inspect.getdoc(schedule) or "").splitlines():
        if "deprecated" in line:
            return line.strip()
    return ""


def lists(ask: Ask) -> Found:
    """The rates of every function that returns them as a list."""

    def rates(name: str, settings: dict[str, Any]) -> Any:
        return getattr(nn, name)(**settings)

    return _of_families(ask, rates)


def cells(ask: Ask) -> Found:
    """The rates of every LearningRateSchedule, called with the steps one after another."""
    set_style("tape", ask.device)

    def rates(name: str, settings: dict[str, Any]) -> Any:
        schedule = getattr(nn, name)(**settings)
        return [numbers(schedule(ms.Tensor(step, ms.int32))) for step in range(STEPS)]

    return _of_families(ask, rates)


def by_hand(ask: Ask) -> Found:
    """The rate before each step, by every scheduler of mindspore.experimental.optim.

    The schedulers are stepped by hand.
    """
    set_style("tape", ask.device)

    def rates(name: str, settings: dict[str, Any]) -> Any:
        weight = ms.Parameter(ms.Tensor([0.0]), name="weight")
        optimizer = optim.SGD([weight], lr=RATE, momentum=0.9)
        scheduler = _scheduler(optimizer, name, settings)
        rates_before = []
        for _ in range(ask.options["steps"]):
            rates_before.append(numbers(optimizer.param_groups[0]["lr"]))
            scheduler.step(*watched(name))
        return rates_before

    return _of_families(ask, rates)


def _of_families(ask: Ask, rates: Callable[[str, dict[str, Any]], Any]) -> Found:
    """What ``rates`` gives, or raises, for the schedule of each family asked for."""
    figures = {}
    for family, (name, settings) in ask.options["schedules"].items():
        figures[family] = attempt(rates, name, settings)
    return Found(figures)


def _scheduler(optimizer: Any, name: str, settings: dict[str, Any]) -> Any:
    def build(inner_name: str, inner_settings: dict[str, Any]) -> Any:
        return _scheduler(optimizer, inner_name, inner_settings)

    return getattr(lr_scheduler, name)(optimizer, **ready(settings, build))


def piecewise(ask: Ask) -> Found:
    """What piecewise_constant_lr returns for given milestones, and its notice of deprecation."""

    def rates() -> Any:
        return nn.piecewise_constant_lr(ask.options["milestone"], ask.options["learning_rates"])

    # It may be gone in a version to come, which the attempt then says.
    is_there = hasattr(nn, "piecewise_constant_lr")
    ending = _ending(nn.piecewise_constant_lr) if is_there else ""
    found = attempt(rates)
    return Found({"rates": found, "type": type(found).__name__, "deprecated": ending})


def used(ask: Ask) -> Found:
    """The rates of a few updates with an exponential schedule in several forms.

    The gradient is 1, so that the weight moves by the rate.
    """
    set_style("graph", ask.device)
    steps, gamma = ask.options["steps"], ask.options["gamma"]

    # With gradient 1 and no momentum, plain SGD moves the weight by the rate.
    def moved(
        make_optimizer: Callable[[Any], Any], make_scheduler: Callable[[Any], Any] | None = None
    ) -> Any:
        weight = ms.Parameter(ms.Tensor([0.0]), name="weight")
        optimizer = make_optimizer([weight])
        scheduler = make_scheduler(optimizer) if make_scheduler else None
        weights = [0.0]
        for _ in range(steps):
            optimizer((ms.Tensor([1.0]),))
            weights += numbers(weight)
            if scheduler:
                scheduler.step()
        return [before - after for before, after in pairwise(weights)]

    def with_list(weights: Any) -> Any:
        return nn.SGD(weights, nn.exponential_decay_lr(RATE, gamma, steps, 1, 1))

    # What happens when there are more updates than rates?
    def with_short_list(weights: Any) -> Any:
        return nn.SGD(weights, nn.exponential_decay_lr(RATE, gamma, steps - 2, 1, 1))

    def with_cell(weights: Any) -> Any:
        return nn.SGD(weights, nn.ExponentialDecayLR(RATE, gamma, 1))

    def experimental(weights: Any) -> Any:
        return optim.SGD(weights, lr=RATE)

    def exponential(optimizer: Any) -> Any:
        return lr_scheduler.ExponentialLR(optimizer, gamma)

    return Found(
        {
            "nn.SGD with a list": attempt(moved, with_list),
            "nn.SGD with a Cell": attempt(moved, with_cell),
            "nn.SGD with a list that is too short": attempt(moved, with_short_list),
            "experimental SGD, never stepped": attempt(moved, experimental),
            "experimental SGD, stepped by hand": attempt(moved, experimental, exponential),
        }
    )


def group_rates(ask: Ask) -> Found:
    """What can be asked about two groups, of which the first has its own rate.

    By the kind of that rate: ``get_lr_parameter`` of mindspore.nn, and ``get_lr`` after a step.
    ``param_groups`` of both modules.
    """
    set_style("tape", ask.device)
    dynamic = {
        "list": nn.exponential_decay_lr(RATE, GAMMA, 3, 1, 1),
        "Cell": nn.ExponentialDecayLR(RATE, GAMMA, 1),
    }
    kinds = {"number": RATE, **dynamic}
    return Found(
        {
            "get_lr_parameter": {
                kind: attempt(_rates_of_the_first_group, rate) for kind, rate in kinds.items()
            },
            "get_lr": {kind: attempt(_current_rates, rate) for kind, rate in dynamic.items()},
            "param_groups": {
                "nn": attempt(_told_by_group, nn.SGD),
                "experimental": attempt(_told_by_group, optim.SGD),
            },
        }
    )


def _groups(rate: Any) -> list[dict[str, Any]]:
    """Two groups of a weight each: the first with a rate of its own."""
    first = ms.Parameter(ms.Tensor([1.0]), name="first")
    second = ms.Parameter(ms.Tensor([1.0]), name="second")
    return [{"params": [first], "lr": rate}, {"params": [second]}]


def _rates_of_the_first_group(rate: Any) -> list[dict[str, Any]]:
    """What get_lr_parameter returns for the parameters of the first group, as kinds and shapes."""
    groups = _groups(rate)
    optimizer = nn.SGD(groups, END_RATE)
    described = []
    for told in optimizer.get_lr_parameter(groups[0]["params"]):
        if isinstance(told, ms.Parameter):
            described.append(
                {"kind": "Parameter", "shape": list(told.shape), "rates": numbers(told)}
            )
        else:
            described.append({"kind": "Cell" if isinstance(told, nn.Cell) else type(told).__name__})
    return described


def _current_rates(rate: Any) -> Any:
    """What get_lr returns after one step."""
    optimizer = nn.SGD(_groups(rate), END_RATE)
    optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
    return numbers(optimizer.get_lr())


def _told_by_group(optimizer_class: Any) -> Any:
    """The rate of each group, as param_groups has it."""
    optimizer = optimizer_class(_groups(RATE), END_RATE)
    return [numbers(group["lr"]) for group in optimizer.param_groups]
