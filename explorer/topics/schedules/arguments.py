"""The arguments of schedules: the numbers of the table, its functions of the step, its settings."""

import inspect
import math
from collections.abc import Callable
from typing import Any

RATE = 0.1
"""The rate that schedules start from."""

END_RATE = 0.01
GAMMA = 0.9
DECAY = 0.5
DECAY_STEPS = 10
WARM_UP_STEPS = 5

# The steps of these functions may be tensors: MindSpore's and PyTorch's LambdaLR call them alike.


def inverse(step: Any) -> float:
    """1 / (1 + DECAY · step)."""
    return 1 / (1 + DECAY * float(step))


def inverse_stairs(step: Any) -> float:
    """The inverse decay, once every WARM_UP_STEPS steps."""
    return 1 / (1 + DECAY * (float(step) // WARM_UP_STEPS))


def cosine_then_flat(step: Any) -> float:
    """Half a cosine from RATE to END_RATE in DECAY_STEPS steps, and END_RATE from there on."""
    done = min(float(step), DECAY_STEPS) / DECAY_STEPS
    return (END_RATE + 0.5 * (RATE - END_RATE) * (1 + math.cos(math.pi * done))) / RATE


def polynomial_to_an_end(step: Any) -> float:
    """A parabola from RATE to END_RATE in DECAY_STEPS steps, and END_RATE from there on."""
    done = min(float(step), DECAY_STEPS) / DECAY_STEPS
    return ((RATE - END_RATE) * (1 - done) ** 2 + END_RATE) / RATE


def polynomial_over_longer_spans(step: Any) -> float:
    """A parabola whose span is as many times DECAY_STEPS as the step needs."""
    spans = max(math.ceil(float(step) / DECAY_STEPS), 1)  # step 0 is on the first span
    span = DECAY_STEPS * spans
    return ((RATE - END_RATE) * (1 - float(step) / span) ** 2 + END_RATE) / RATE


def warm_up(step: Any) -> float:
    """From nothing to the whole in WARM_UP_STEPS steps."""
    return min(float(step), WARM_UP_STEPS) / WARM_UP_STEPS


def nine_tenths(step: Any) -> float:
    """0.9 at every step."""
    return 0.9


_FUNCTIONS = (
    inverse,
    inverse_stairs,
    cosine_then_flat,
    polynomial_to_an_end,
    polynomial_over_longer_spans,
    warm_up,
    nine_tenths,
)
LR_LAMBDAS = {function.__name__: function for function in _FUNCTIONS}
"""The functions by name, since a measurement's options are plain data."""

LOSS = 1.0
"""The loss for a schedule that watches it, the same at every step: it gets no better."""


def parameters(schedule: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of a schedule's parameters, and the names of those that have none.

    The optimizer, which most schedulers need, is not listed.
    """
    defaults, needs = {}, []
    for parameter in inspect.signature(schedule).parameters.values():
        if parameter.default is not parameter.empty:
            defaults[parameter.name] = parameter.default
        elif parameter.name != "optimizer":
            needs.append(parameter.name)
    return {"defaults": defaults, "needs": needs}


def ready(settings: dict[str, Any], build: Callable[[str, dict[str, Any]], Any]) -> dict[str, Any]:
    """Keyword arguments for a call, made of the settings in the table of schedules.

    The name of a function becomes the function, and ``build`` makes a schedule inside the schedule
    of its name and settings.
    """
    # Only plain data reaches the worker: functions and schedules arrive as their names.
    arguments = dict(settings)
    if "lr_lambda" in arguments:
        arguments["lr_lambda"] = LR_LAMBDAS[arguments["lr_lambda"]]
    if "schedulers" in arguments:
        arguments["schedulers"] = [build(*inner) for inner in arguments["schedulers"]]
    return arguments


def watched(name: str) -> tuple[float, ...]:
    """The arguments for ``step()`` of the scheduler called ``name``."""
    return (LOSS,) if name == "ReduceLROnPlateau" else ()
