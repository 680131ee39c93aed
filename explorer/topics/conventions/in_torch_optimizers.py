"""What PyTorch's optimizers begin with, and their first steps on one weight."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import optim

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions.inputs import RATE, STEPS


def optimizers(ask: Ask) -> Found:
    """The defaults of optimizers, and the weight after some of their steps."""
    return Found({name: attempt_briefly(ask_one) for name, ask_one in OPTIMIZERS.items()})


def default(optimizer: Any, argument: str) -> Any:
    """The default of an optimizer's argument; None where it has none."""
    value = inspect.signature(optimizer).parameters[argument].default
    return None if value is inspect.Parameter.empty else value


def moved(optimizer: Any, **settings: Any) -> float:
    """How far a weight with the gradient 1 has been moved by the last of some steps."""
    weight = torch.zeros(1, requires_grad=True)
    steps = settings.pop("steps", 1)
    update = optimizer([weight], lr=RATE, **settings)
    before = 0.0
    for _ in range(steps):
        before = float(weight.item())
        weight.grad = torch.ones(1)
        update.step()
    return round(before - float(weight.item()), 4)


def in_place() -> bool:
    """Whether a step writes into the weight itself."""
    weight = torch.zeros(1, requires_grad=True)
    weight.grad = torch.ones(1)
    optim.SGD([weight], lr=RATE).step()
    return bool(weight.item() != 0)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "rate": lambda: default(optim.Adam, "lr"),
    "adam_epsilon": lambda: default(optim.Adam, "eps"),
    "adamw_decay": lambda: default(optim.AdamW, "weight_decay"),
    "rmsprop_decay": lambda: default(optim.RMSprop, "alpha"),
    "rmsprop_first_step": lambda: moved(optim.RMSprop),
    "adagrad_start": lambda: default(optim.Adagrad, "initial_accumulator_value"),
    "adagrad_first_step": lambda: moved(optim.Adagrad),
    "momentum_second_step": lambda: moved(optim.SGD, momentum=0.9, steps=STEPS),
    "in_place": in_place,
}
