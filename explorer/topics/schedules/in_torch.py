"""PyTorch's schedules: the exported ones, the rates of each, and the rates that updates use."""

from itertools import pairwise
from typing import Any

import torch
from torch.optim import lr_scheduler, swa_utils

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.schedules.counterparts import END_RATE, GAMMA, RATE, parameters, ready, watched


def exported(ask: Ask) -> Found:
    """Every schedule that torch.optim exports, with its parameters and defaults."""
    schedules = {name: getattr(lr_scheduler, name) for name in lr_scheduler.__all__}
    del schedules["LRScheduler"]  # the base of all others
    # SWALR is exported beside the averaged models, which are no schedules (2.13.0).
    for name in swa_utils.__all__:
        value = getattr(swa_utils, name)
        if isinstance(value, type) and issubclass(value, lr_scheduler.LRScheduler):
            schedules[name] = value
    return Found({"torch": {name: parameters(schedules[name]) for name in sorted(schedules)}})


def by_hand(ask: Ask) -> Found:
    """The rate before each step, by every scheduler of torch.optim.

    The schedulers are stepped by hand, after the optimizer.
    """

    def rates(name: str, settings: dict[str, Any]) -> Any:
        weight = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=RATE, momentum=0.9)
        scheduler = _scheduler(optimizer, name, settings)
        rates_before = []
        for _ in range(ask.options["steps"]):
            rates_before.append(float(optimizer.param_groups[0]["lr"]))
            optimizer.step()  # a scheduler that is stepped before its optimizer warns (2.13.0)
            scheduler.step(*watched(name))
        return rates_before

    figures = {}
    for family, (name, settings) in ask.options["schedules"].items():
        figures[family] = attempt(rates, name, settings)
    return Found(figures)


def _scheduler(optimizer: Any, name: str, settings: dict[str, Any]) -> Any:
    def build(inner_name: str, inner_settings: dict[str, Any]) -> Any:
        return _scheduler(optimizer, inner_name, inner_settings)

    arguments = ready(settings, build)
    # Of all schedulers, this one alone takes no optimizer: those that it chains have it.
    if name == "ChainedScheduler":
        return lr_scheduler.ChainedScheduler(**arguments)
    module = swa_utils if name == "SWALR" else lr_scheduler
    return getattr(module, name)(optimizer, **arguments)


def used(ask: Ask) -> Found:
    """The rates of a few updates with and without ``scheduler.step()``.

    The gradient is 1, so that the weight moves by the rate.
    """

    def moved(is_stepped: bool) -> dict[str, list[float]]:
        weight = torch.zeros(1, device=ask.device, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=RATE)
        scheduler = lr_scheduler.ExponentialLR(optimizer, ask.options["gamma"])
        weights, last_rates = [0.0], []
        for _ in range(ask.options["steps"]):
            # With gradient 1 and no momentum, plain SGD moves the weight by the rate.
            weight.grad = torch.ones_like(weight)
            optimizer.step()
            if is_stepped:
                scheduler.step()
            weights.append(weight.item())
            last_rates += scheduler.get_last_lr()
        rates = [before - after for before, after in pairwise(weights)]
        return {"used": rates, "said": last_rates}

    return Found(
        {
            "SGD, never stepped": attempt(moved, is_stepped=False),
            "SGD, stepped by hand": attempt(moved, is_stepped=True),
        }
    )


def group_rates(ask: Ask) -> Found:
    """The rates of two groups, of which the first has its own, after one step of a schedule."""
    first = torch.ones(1, device=ask.device, requires_grad=True)
    second = torch.ones(1, device=ask.device, requires_grad=True)
    groups = [{"params": [first], "lr": RATE}, {"params": [second]}]
    optimizer = torch.optim.SGD(groups, END_RATE)
    scheduler = lr_scheduler.ExponentialLR(optimizer, GAMMA)
    optimizer.step()
    scheduler.step()
    return Found(
        {
            "get_last_lr": scheduler.get_last_lr(),
            "param_groups": [group["lr"] for group in optimizer.param_groups],
        }
    )
