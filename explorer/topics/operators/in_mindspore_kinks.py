"""Value and gradient of each kink in MindSpore, graph and tape."""

import inspect
from typing import Any

import mindspore as ms
import numpy as np

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators import in_mindspore_kink_functions as functions
from explorer.topics.operators.kinks import KINKS, Kink
from explorer.topics.operators.trying import written


def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group of kinks asked
    for.
    """
    set_style(ask.options["style"], ask.device)
    return Found({kink.name: _at(kink) for kink in KINKS if kink.group == ask.options["group"]})


def _at(kink: Kink) -> dict[str, Any]:
    function = getattr(functions, kink.name)
    inputs = [ms.Tensor(np.array(values, np.float32)) for values in kink.inputs]
    return {
        "written": written(inspect.getsource(function)),
        "found": attempt_briefly(value_and_gradient, function, inputs),
    }


def value_and_gradient(function: Any, inputs: list[Any]) -> dict[str, Any]:
    """The function's value, and the derivative of its sum by every input."""
    value, gradients = ms.value_and_grad(function, tuple(range(len(inputs))))(*inputs)
    return {
        "value": numbers(value),
        "gradient": numbers(gradients if len(inputs) > 1 else [gradients]),
    }
