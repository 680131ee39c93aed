"""MindSpore's side of the schedules: what there is, what each gives, and what an optimizer makes of
it.
"""

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
from explorer.topics.schedules.factors import FACTORS, RATE
from explorer.topics.schedules.families import STEPS

LOSS = 1.0
"""What a schedule that watches the loss is told: it gets no better."""


def names(ask: Ask) -> Found:
    """Every schedule that the modules export, with its parameters and defaults, and what its
    documentation says of its end.
    """
    lists = {name: getattr(nn, name) for name in nn.dynamic_lr.__all__}
    cells = _below(nn.learning_rate_schedule.LearningRateSchedule, nn)
    hand = {
        name: getattr(lr_scheduler, name) for name in lr_scheduler.__all__ if name != "LRScheduler"
    }
    callbacks = {
        name: each
        for name, each in vars(ms.train.callback).items()
        if name in ("LearningRateScheduler", "ReduceLROnPlateau")
    }
    tables = {"list": lists, "cell": cells, "hand": hand, "callback": callbacks}
    return Found(
        {
            form: {name: _described(each) for name, each in sorted(table.items())}
            for form, table in tables.items()
        }
    )


def _below(base: type, module: Any) -> dict[str, type]:
    """What the module exports that is derived from ``base``."""
    return {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, base) and each != base
    }


def _described(each: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(each).parameters.values()
    lines = (line.strip() for line in (inspect.getdoc(each) or "").splitlines())
    return {
        "defaults": {one.name: one.default for one in parameters if one.default is not one.empty},
        "needs": [
            one.name for one in parameters if one.default is one.empty and one.name != "optimizer"
        ],
        "deprecated": next((line for line in lines if "deprecated" in line), ""),
    }


def lists(ask: Ask) -> Found:
    """The rates of every function that returns them as a list."""
    return Found(
        {
            family: attempt(getattr(nn, name), **settings)
            for family, (name, settings) in ask.options["forms"].items()
        }
    )


def cells(ask: Ask) -> Found:
    """The rates of every LearningRateSchedule, called with the steps one after another."""
    set_style("tape", ask.device)

    def rates(name: str, settings: dict[str, Any]) -> Any:
        schedule = getattr(nn, name)(**settings)
        return [numbers(schedule(ms.Tensor(step, ms.int32))) for step in range(STEPS)]

    return Found({family: attempt(rates, *form) for family, form in ask.options["forms"].items()})


def by_hand(ask: Ask) -> Found:
    """The rate before each step, by every scheduler of mindspore.experimental.optim, stepped by
    hand.
    """
    set_style("tape", ask.device)

    def rates(name: str, settings: dict[str, Any]) -> Any:
        optimizer = _optimizer()
        scheduler = _scheduler(optimizer, name, settings)
        watched = (LOSS,) if name == "ReduceLROnPlateau" else ()
        found = []
        for _ in range(STEPS):
            found.append(numbers(optimizer.param_groups[0]["lr"]))
            scheduler.step(*watched)
        return found

    return Found({family: attempt(rates, *form) for family, form in ask.options["forms"].items()})


def _optimizer() -> Any:
    return optim.SGD([ms.Parameter(ms.Tensor([0.0]), name="weight")], lr=RATE, momentum=0.9)


def _scheduler(optimizer: Any, name: str, settings: dict[str, Any]) -> Any:
    ready = dict(settings)
    if "lr_lambda" in ready:
        ready["lr_lambda"] = FACTORS[ready["lr_lambda"]]
    if "schedulers" in ready:
        ready["schedulers"] = [_scheduler(optimizer, *inner) for inner in ready["schedulers"]]
    return getattr(lr_scheduler, name)(optimizer, **ready)


def piecewise(ask: Ask) -> Found:
    """What piecewise_constant_lr returns for the milestones and rates asked for, and what its
    documentation says of its end.
    """

    def rates() -> Any:
        return nn.piecewise_constant_lr(ask.options["milestone"], ask.options["learning_rates"])

    there = hasattr(nn, "piecewise_constant_lr")
    ending = _described(nn.piecewise_constant_lr)["deprecated"] if there else ""
    return Found({"rates": attempt(rates), "deprecated": ending})


def used(ask: Ask) -> Found:
    """Updates with gradient 1: how far the weight moves is the rate used; a scheduler is stepped
    only where it says so.
    """
    set_style("graph", ask.device)
    steps, gamma = ask.options["steps"], ask.options["gamma"]

    def moved(make: Callable[[Any], Any], schedule: Callable[[Any], Any] | None = None) -> Any:
        weight = ms.Parameter(ms.Tensor([0.0]), name="weight")
        optimizer = make([weight])
        scheduler = schedule(optimizer) if schedule else None
        places = [0.0]
        for _ in range(steps):
            optimizer((ms.Tensor([1.0]),))
            places += numbers(weight)
            if scheduler:
                scheduler.step()
        return [before - after for before, after in pairwise(places)]

    def short(weights: Any) -> Any:
        return nn.SGD(weights, nn.exponential_decay_lr(RATE, gamma, steps - 2, 1, 1))

    def listed_rates(weights: Any) -> Any:
        return nn.SGD(weights, nn.exponential_decay_lr(RATE, gamma, steps, 1, 1))

    def cell(weights: Any) -> Any:
        return nn.SGD(weights, nn.ExponentialDecayLR(RATE, gamma, 1))

    def experimental(weights: Any) -> Any:
        return optim.SGD(weights, lr=RATE)

    def exponential(optimizer: Any) -> Any:
        return lr_scheduler.ExponentialLR(optimizer, gamma)

    return Found(
        {
            "nn.SGD with a list": attempt(moved, listed_rates),
            "nn.SGD with a Cell": attempt(moved, cell),
            "nn.SGD with a list that is too short": attempt(moved, short),
            "experimental SGD, never stepped": attempt(moved, experimental),
            "experimental SGD, stepped by hand": attempt(moved, experimental, exponential),
        }
    )
