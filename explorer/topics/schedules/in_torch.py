"""PyTorch's side of the schedules: what there is, what each gives, and what an optimizer makes of
it.
"""

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch.optim import lr_scheduler, swa_utils

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.schedules.factors import FACTORS, RATE
from explorer.topics.schedules.families import STEPS

LOSS = 1.0
"""What a schedule that watches the loss is told: it gets no better."""


def names(ask: Ask) -> Found:
    """Every schedule that torch.optim exports, with its parameters and defaults."""
    found = {
        name: getattr(lr_scheduler, name) for name in lr_scheduler.__all__ if name != "LRScheduler"
    }
    found |= {
        name: each
        for name, each in vars(swa_utils).items()
        if name in swa_utils.__all__ and _schedules(each)
    }
    return Found({"torch": {name: _described(each) for name, each in sorted(found.items())}})


def _schedules(each: Any) -> bool:
    return isinstance(each, type) and issubclass(each, lr_scheduler.LRScheduler)


def _described(each: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(each).parameters.values()
    return {
        "defaults": {one.name: one.default for one in parameters if one.default is not one.empty},
        "needs": [
            one.name for one in parameters if one.default is one.empty and one.name != "optimizer"
        ],
    }


def by_hand(ask: Ask) -> Found:
    """The rate before each step, by every scheduler of torch.optim, stepped by hand after the
    optimizer.
    """

    def rates(name: str, settings: dict[str, Any]) -> Any:
        optimizer = _optimizer()
        scheduler = _scheduler(optimizer, name, settings)
        watched = (LOSS,) if name == "ReduceLROnPlateau" else ()
        found = []
        for _ in range(STEPS):
            found.append(float(optimizer.param_groups[0]["lr"]))
            optimizer.step()
            scheduler.step(*watched)
        return found

    return Found({family: attempt(rates, *form) for family, form in ask.options["forms"].items()})


def _optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE, momentum=0.9)


def _scheduler(optimizer: Any, name: str, settings: dict[str, Any]) -> Any:
    ready = dict(settings)
    if "lr_lambda" in ready:
        ready["lr_lambda"] = FACTORS[ready["lr_lambda"]]
    if "schedulers" in ready:
        ready["schedulers"] = [_scheduler(optimizer, *inner) for inner in ready["schedulers"]]
    make = getattr(swa_utils if name == "SWALR" else lr_scheduler, name)
    return make(**ready) if name == "ChainedScheduler" else make(optimizer, **ready)


def used(ask: Ask) -> Found:
    """Updates with gradient 1: how far the weight moves is the rate used, with and without
    ``scheduler.step()``.
    """

    def moved(stepped: bool) -> dict[str, list[float]]:
        weight = torch.zeros(1, device=ask.device, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=RATE)
        scheduler = lr_scheduler.ExponentialLR(optimizer, ask.options["gamma"])
        places, said = [0.0], []
        for _ in range(ask.options["steps"]):
            weight.grad = torch.ones_like(weight)
            optimizer.step()
            if stepped:
                scheduler.step()
            places.append(weight.item())
            said += scheduler.get_last_lr()
        return {"used": [before - after for before, after in pairwise(places)], "said": said}

    return Found(
        {
            "SGD, never stepped": attempt(moved, False),
            "SGD, stepped by hand": attempt(moved, True),
        }
    )
