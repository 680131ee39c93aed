"""The figures of the claims on schedules, and of their study."""

import math
from typing import Any

import numpy as np

from tests.independent.attempts import attempt


# Row 54: rates of 0.1, 0.05 and 0.01 up to steps 2, 5 and 10.
def row_54_closed_form() -> dict[str, Any]:
    """As often as each lasts."""
    return {"rates": [0.1] * 2 + [0.05] * 3 + [0.01] * 5}


def row_54_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The type of what the function returns."""
    rates = ms.nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01])
    return {"type": type(rates).__name__}


# Row 55: an exponential schedule from 0.1 by 0.9, as used at each step and as said after it.
def row_55_closed_form() -> dict[str, Any]:
    """The powers of 0.9."""
    return {
        "used": [0.1 * 0.9**step for step in range(5)],
        "said": [0.1 * 0.9 ** (step + 1) for step in range(5)],
        "never stepped": [0.1] * 5,
    }


# Row 56: five kinds of decay over twenty steps, from 0.1 (the cosine to 0.01 within ten).
STEPS = range(20)


def row_56_closed_form() -> dict[str, Any]:
    """By the formulas of MindSpore's documents; PyTorch's cosine goes on where MindSpore's stays."""
    wave = [0.01 + 0.045 * (1 + math.cos(math.pi * step / 10)) for step in STEPS]
    return {
        "exponential": [0.1 * 0.9**step for step in STEPS],
        "natural exponential": [0.1 * math.exp(-0.5 * step) for step in STEPS],
        "inverse": [0.1 / (1 + 0.5 * step) for step in STEPS],
        "cosine": wave[:10] + [0.01] * 10,
        "cosine that turns": wave,
        "polynomial": [0.1 * (1 - min(step, 10) / 10) ** 2 for step in STEPS],
    }


# Row 63: the rates before each of eight steps under eight of PyTorch's schedulers.
RATE = 0.1
EIGHT = np.arange(8)


def row_63_closed_form() -> dict[str, Any]:
    """By the formulas of PyTorch's documents."""
    # Up in five steps and down in five.
    height = 1 - np.abs(EIGHT - 5) / 5
    # One cycle of 21 steps goes up in 30 % of them, counted from 0 to 20, and starts at 1/25.
    top = 0.3 * 21 - 1
    rising = _cosine(RATE / 25, RATE, EIGHT / top)
    falling = _cosine(RATE, RATE / 25 / 1e4, (EIGHT - top) / (20 - top))
    restarts = np.where(EIGHT < 5, _cosine(RATE, 0, EIGHT / 5), _cosine(RATE, 0, (EIGHT - 5) / 10))
    # A loss that stays: the first is the best, and the third after it that is no better counts.
    reductions = np.maximum(EIGHT - 1, 0) // 3
    rates = {
        "StepLR": RATE * 0.5 ** (EIGHT // 5),
        "MultiStepLR": RATE * 0.5 ** (EIGHT // 5),
        "CosineAnnealingWarmRestarts": restarts,
        "CyclicLR": 0.01 + 0.09 * height,
        "OneCycleLR": np.where(top > EIGHT, rising, falling),
        "ReduceLROnPlateau": RATE * 0.1**reductions,
        "LambdaLR": RATE / (1 + 0.5 * EIGHT),
        "MultiplicativeLR": RATE * 0.9**EIGHT,
    }
    # Milestones at 5, 10 and 20 of a list: five rates of 0.1, five of half of that, then ten.
    rates["in lists"] = RATE * np.repeat([1, 0.5, 0.25], [5, 5, 10])
    return {name: values.tolist() for name, values in rates.items()}


def _cosine(start: float, end: float, share: Any) -> Any:
    return end + (start - end) / 2 * (1 + np.cos(np.pi * share))


def row_63_in_torch(torch: Any) -> dict[str, Any]:
    """The schedulers of PyTorch, that of averaged weights among them."""
    return {
        "names": sorted(
            [*_schedulers(torch.optim.lr_scheduler), *_schedulers(torch.optim.swa_utils)]
        )
    }


def row_63_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The schedulers of mindspore.experimental.optim."""
    from mindspore.experimental.optim import lr_scheduler

    return {"names": sorted(_schedulers(lr_scheduler))}


def _schedulers(module: Any) -> list[str]:
    """The classes that a module defines and that can be stepped, but for their common base."""
    names = []
    for name, value in vars(module).items():
        is_its_own = getattr(value, "__module__", "") == module.__name__
        if is_its_own and isinstance(value, type) and hasattr(value, "step"):
            names.append(name)
    return [name for name in names if name != "LRScheduler" and not name.startswith("_")]


# Row 65: the rates of two groups, 0.1 and 0.01, a step after a decay by 0.9 has begun.
def row_65_closed_form() -> dict[str, Any]:
    """Where all groups decay, as in PyTorch; where a rate of one's own stays, as in MindSpore."""
    return {"of all": [0.9 * 0.1, 0.9 * 0.01], "of the first": [0.9 * 0.1, 0.01]}


def row_65_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The kinds that get_lr_parameter gives, and where groups can be read."""
    kinds = {}
    for name, rate in {
        "number": 0.1,
        "list": [0.1, 0.09, 0.081],
        "Cell": ms.nn.ExponentialDecayLR(0.1, 0.9, 1),
    }.items():
        groups, first = _groups(ms, rate)
        (given,) = ms.nn.SGD(groups, 0.01).get_lr_parameter([first])
        kind = "Cell" if isinstance(given, ms.nn.Cell) else type(given).__name__
        kinds[name] = {"kind": kind, "shape": list(getattr(given, "shape", ()))}
    read = attempt(lambda: ms.nn.SGD(_groups(ms, 0.1)[0], 0.01).param_groups)
    rates = [
        float(group["lr"])
        for group in ms.experimental.optim.SGD(_groups(ms, 0.1)[0], 0.01).param_groups
    ]
    return {"kinds": kinds, "param_groups": read, "experimental": rates}


def _groups(ms: Any, rate: Any) -> tuple[list[dict[str, Any]], Any]:
    first = ms.Parameter(ms.Tensor([1.0]), name="first")
    second = ms.Parameter(ms.Tensor([1.0]), name="second")
    return [{"params": [first], "lr": rate}, {"params": [second]}], first
