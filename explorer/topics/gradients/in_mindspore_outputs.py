"""What MindSpore's grad does with outputs beside the loss: has_aux, stop_gradient, neither."""

from typing import Any

import mindspore as ms
from mindspore import ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.gradients.outputs import one_output, tuple_of_one, two_outputs
from explorer.topics.in_mindspore import numbers, set_style


def stopped(x: Any) -> Any:
    """The sum of 9x², and 3x cut off from the gradient."""
    logits = x * 3
    return (logits * logits).sum(), ops.stop_gradient(logits)


def stopped_too_early(x: Any) -> Any:
    """The sum of 9x², and 3x, cut off before the sum is made of it."""
    logits = ops.stop_gradient(x * 3)
    return (logits * logits).sum(), logits


def outputs(ask: Ask) -> Found:
    """The gradient of each function, with has_aux and without, or what is raised."""
    style = ask.options["style"]
    return Found(
        {
            "has_aux": {
                "one output": attempt_briefly(gradient, style, one_output, True),
                "a tuple of one": attempt_briefly(gradient, style, tuple_of_one, True),
                "two outputs": attempt_briefly(gradient, style, two_outputs, True),
            },
            "without": {
                "two outputs": attempt_briefly(gradient, style, two_outputs, False),
                "stop_gradient": attempt_briefly(gradient, style, stopped, False),
                "stop_gradient too early": attempt_briefly(
                    gradient, style, stopped_too_early, False
                ),
            },
        }
    )


def gradient(style: str, function: Any, has_aux: bool) -> Any:
    """What grad returns for a function at x = (1, 2, 3)."""
    set_style(style)  # before each call: one that raised would spoil the next (2.10.0)
    return numbers(ms.grad(function, 0, None, has_aux)(ms.Tensor([1.0, 2.0, 3.0])))
