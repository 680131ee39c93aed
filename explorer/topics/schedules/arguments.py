"""The arguments of schedules: what they take, and settings of the table made ready for a call."""

import inspect
from collections.abc import Callable
from typing import Any

from explorer.topics.schedules.lr_lambdas import LR_LAMBDAS

LOSS = 1.0
"""What a schedule that watches the loss is told: it gets no better."""


def parameters(schedule: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of a schedule's parameters, and the names of those that it needs, the optimizer
    aside.
    """
    defaults, needs = {}, []
    for parameter in inspect.signature(schedule).parameters.values():
        if parameter.default is not parameter.empty:
            defaults[parameter.name] = parameter.default
        elif parameter.name != "optimizer":
            needs.append(parameter.name)
    return {"defaults": defaults, "needs": needs}


def ready(settings: dict[str, Any], build: Callable[[str, dict[str, Any]], Any]) -> dict[str, Any]:
    """Keyword arguments of a table's settings: functions for their names, and schedules inside the
    schedule built by ``build`` from name and settings.
    """
    # Only plain data reaches the worker: functions and schedules arrive as their names.
    arguments = dict(settings)
    if "lr_lambda" in arguments:
        arguments["lr_lambda"] = LR_LAMBDAS[arguments["lr_lambda"]]
    if "schedulers" in arguments:
        arguments["schedulers"] = [build(*inner) for inner in arguments["schedulers"]]
    return arguments


def watched(name: str) -> tuple[float, ...]:
    """What the ``step()`` of the scheduler called ``name`` is told."""
    return (LOSS,) if name == "ReduceLROnPlateau" else ()
