"""Factors of the starting rate by step, for schedules whose argument ``lr_lambda`` is a function; plain
Python on a number that may be a tensor.
"""

import math
from collections.abc import Callable
from typing import Any

RATE = 0.1
"""The rate that schedules start from."""

END_RATE = 0.01
DECAY = 0.5
DECAY_STEPS = 10
WARM_UP_STEPS = 5


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
    span = DECAY_STEPS * max(math.ceil(float(step) / DECAY_STEPS), 1)
    return ((RATE - END_RATE) * (1 - float(step) / span) ** 2 + END_RATE) / RATE


def warm_up(step: Any) -> float:
    """From nothing to the whole in WARM_UP_STEPS steps."""
    return min(float(step), WARM_UP_STEPS) / WARM_UP_STEPS


def nine_tenths(step: Any) -> float:
    """0.9 at every step."""
    return 0.9


LR_LAMBDAS: dict[str, Callable[[Any], float]] = {
    function.__name__: function
    for function in (
        inverse,
        inverse_stairs,
        cosine_then_flat,
        polynomial_to_an_end,
        polynomial_over_longer_spans,
        warm_up,
        nine_tenths,
    )
}
"""By name, since what a measurement is asked for is plain data."""
