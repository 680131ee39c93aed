"""Row 63: the rates before each of eight steps under eight of PyTorch's schedulers."""

from typing import Any

import numpy as np

RATE = 0.1
STEPS = np.arange(8)


def closed_form() -> dict[str, Any]:
    """By the formulas of PyTorch's documents."""
    # Up in five steps and down in five.
    height = 1 - np.abs(STEPS - 5) / 5
    # One cycle of 21 steps goes up in 30 % of them, counted from 0 to 20, and starts at 1/25.
    top = 0.3 * 21 - 1
    rising = _cosine(RATE / 25, RATE, STEPS / top)
    falling = _cosine(RATE, RATE / 25 / 1e4, (STEPS - top) / (20 - top))
    restarts = np.where(STEPS < 5, _cosine(RATE, 0, STEPS / 5), _cosine(RATE, 0, (STEPS - 5) / 10))
    # A loss that stays: the first is the best, and the third after it that is no better counts.
    reductions = np.maximum(STEPS - 1, 0) // 3
    rates = {
        "StepLR": RATE * 0.5 ** (STEPS // 5),
        "MultiStepLR": RATE * 0.5 ** (STEPS // 5),
        "CosineAnnealingWarmRestarts": restarts,
        "CyclicLR": 0.01 + 0.09 * height,
        "OneCycleLR": np.where(top > STEPS, rising, falling),
        "ReduceLROnPlateau": RATE * 0.1**reductions,
        "LambdaLR": RATE / (1 + 0.5 * STEPS),
        "MultiplicativeLR": RATE * 0.9**STEPS,
    }
    # Milestones at 5, 10 and 20 of a list: five rates of 0.1, five of half of that, then ten.
    rates["in lists"] = RATE * np.repeat([1, 0.5, 0.25], [5, 5, 10])
    return {name: values.tolist() for name, values in rates.items()}


def _cosine(start: float, end: float, share: Any) -> Any:
    return end + (start - end) / 2 * (1 + np.cos(np.pi * share))


def in_torch() -> dict[str, Any]:
    """The schedulers of PyTorch, that of averaged weights among them."""
    from torch.optim import lr_scheduler, swa_utils

    return {"names": sorted([*_schedulers(lr_scheduler), *_schedulers(swa_utils)])}


def in_mindspore_tape() -> dict[str, Any]:
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
