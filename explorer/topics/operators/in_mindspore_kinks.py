"""Value and gradient of each kink in MindSpore, graph and tape."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.kinks import Kink, kinks_of_group, load_kinks, written

KINKS = load_kinks("mindspore", ops=ms.ops, functional=ms.ops)


def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group asked for."""
    set_style(ask.options["style"], ask.device)
    kinks = kinks_of_group(KINKS, ask.options["group"])
    return Found({kink.name: _figures(kink) for kink in kinks})


def _figures(kink: Kink) -> Figures:
    inputs = [ms.Tensor(np.array(values, np.float32)) for values in kink.inputs]
    return {
        "written": written(kink.function),
        "found": attempt_briefly(value_and_gradient, kink.function, inputs),
    }


def value_and_gradient(function: Callable[..., Any], inputs: list[Any]) -> Figures:
    """The function's value, and the derivative of its sum with respect to every input."""
    value, gradients = ms.value_and_grad(function, tuple(range(len(inputs))))(*inputs)
    if len(inputs) == 1:
        gradients = [gradients]  # a tuple of one position gives a bare tensor (2.10.0)
    return {"value": numbers(value), "gradient": numbers(gradients)}
