"""What MindSpore's optimizers begin with, and their first steps on one weight."""

import inspect
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions.inputs import RATE, STEPS
from explorer.topics.in_mindspore import set_style


def optimizers(ask: Ask) -> Found:
    """The defaults of optimizers, and the weight after some of their steps."""
    set_style("tape", ask.device)
    return Found({name: attempt_briefly(ask_one) for name, ask_one in OPTIMIZERS.items()})


def default(optimizer: Any, argument: str) -> Any:
    """The default of an optimizer's argument; None where it has none."""
    # Most constructors are wrapped, and show (*args, **kwargs) (2.10.0).
    constructor = optimizer.__init__
    for cell in constructor.__closure__ or ():
        if inspect.isfunction(cell.cell_contents):
            constructor = cell.cell_contents
    value = inspect.signature(constructor).parameters[argument].default
    return None if value is inspect.Parameter.empty else value


def one_weight() -> ms.Parameter:
    """A weight that is 0."""
    return ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="weight")


ONE = np.ones(1, np.float32)


def moved(optimizer: Any, **settings: Any) -> float:
    """How far a weight with the gradient 1 has been moved by the last of some steps."""
    weight = one_weight()
    steps = settings.pop("steps", 1)
    update = optimizer([weight], learning_rate=RATE, **settings)
    before = 0.0
    for _ in range(steps):
        before = float(weight.asnumpy()[0])
        update((ms.Tensor(ONE),))
    return round(before - float(weight.asnumpy()[0]), 4)


def in_place() -> bool:
    """Whether a step writes into the weight itself."""
    weight = one_weight()
    nn.SGD([weight], learning_rate=RATE)((ms.Tensor(ONE),))
    return bool(weight.asnumpy()[0] != 0)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "rate": lambda: default(nn.Adam, "learning_rate"),
    "adam_epsilon": lambda: default(nn.Adam, "eps"),
    "adamw_decay": lambda: default(nn.AdamWeightDecay, "weight_decay"),
    "rmsprop_decay": lambda: default(nn.RMSProp, "decay"),
    "rmsprop_first_step": lambda: moved(nn.RMSProp),
    "adagrad_start": lambda: default(nn.Adagrad, "accum"),
    "adagrad_first_step": lambda: moved(nn.Adagrad),
    "momentum_second_step": lambda: moved(nn.SGD, momentum=0.9, steps=STEPS),
    "in_place": in_place,
}
