"""Value and gradient of each kink in MindSpore, graph and tape."""

import inspect
from typing import Any

import mindspore as ms
import numpy as np

from explorer.measuring import Ask, Found
from explorer.studies.in_mindspore import listed, style
from explorer.studies.operators import in_mindspore_kink_functions as functions
from explorer.studies.operators.kinks import KINKS, Kink
from explorer.studies.operators.trying import tried, written


def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group of kinks asked for."""
    style(ask.options["style"], ask.device)
    return Found({kink.name: _at(kink) for kink in KINKS if kink.group == ask.options["group"]})


def _at(kink: Kink) -> dict[str, Any]:
    function = getattr(functions, kink.name)
    inputs = [ms.Tensor(np.array(values, np.float32)) for values in kink.inputs]
    return {"written": written(inspect.getsource(function)), "found": tried(value_and_gradient, function, inputs)}


def value_and_gradient(function: Any, inputs: list[Any]) -> dict[str, Any]:
    """The function's value, and the derivative of its sum by every input."""
    value, gradients = ms.value_and_grad(function, tuple(range(len(inputs))))(*inputs)
    return {"value": listed(value), "gradient": listed(gradients if len(inputs) > 1 else [gradients])}
