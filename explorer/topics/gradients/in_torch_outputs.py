"""What PyTorch does with outputs beside the loss: has_aux of torch.func.grad, and detach."""

from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.gradients.outputs import one_output, tuple_of_one, two_outputs
from explorer.topics.in_torch import numbers


def stopped(x: Any) -> Any:
    """The sum of 9x², and 3x cut off from the gradient."""
    logits = x * 3
    return (logits * logits).sum(), logits.detach()


def stopped_too_early(x: Any) -> Any:
    """The sum of 9x², and 3x, cut off before the sum is made of it."""
    logits = (x * 3).detach()
    return (logits * logits).sum(), logits


def outputs(ask: Ask) -> Found:
    """The gradient of each function by torch.func.grad, and by a backward of all outputs."""
    return Found(
        {
            "has_aux": {
                "one output": attempt_briefly(by_function, one_output),
                "a tuple of one": attempt_briefly(by_function, tuple_of_one),
                "two outputs": attempt_briefly(by_function, two_outputs),
            },
            "without": {
                "two outputs": attempt_briefly(by_tape, two_outputs),
                "stop_gradient": attempt_briefly(by_tape, stopped),
                "stop_gradient too early": attempt_briefly(by_tape, stopped_too_early),
            },
        }
    )


def by_function(function: Any) -> Any:
    """What torch.func.grad returns for a function at x = (1, 2, 3)."""
    return numbers(torch.func.grad(function, has_aux=True)(torch.tensor([1.0, 2.0, 3.0])))


def by_tape(function: Any) -> Any:
    """The gradient of the sum of all outputs, which is what MindSpore differentiates."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    total = sum(output.sum() for output in function(x))
    return numbers(torch.autograd.grad(total, x)[0])
