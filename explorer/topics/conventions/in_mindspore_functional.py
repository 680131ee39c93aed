"""What guide 003 states of functional gradients, tried in MindSpore: ms.grad and ms.jit."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions import inputs
from explorer.topics.conventions.inputs import NEAR, RATE, SHAPES, STEPS, TRAINED, WEIGHT, X
from explorer.topics.in_mindspore import numbers, set_style


def functional(ask: Ask) -> Found:
    """Whether each statement is so, or what was raised where it was tried."""
    set_style("tape", ask.device)
    return Found({name: attempt_briefly(statement) for name, statement in FUNCTIONAL.items()})


def tensor(values: Any) -> Tensor:
    """A tensor of float32 numbers."""
    return Tensor(np.array(values, np.float32))


def reused() -> bool:
    """One gradient function is right for several inputs."""
    gradient = ms.grad(inputs.sum_of_squares)
    arrays = [tensor(values) for values in SHAPES]
    return all(bool((gradient(x) == 2 * x).all()) for x in arrays)


def value_and_gradient() -> bool:
    """One call makes a function of value and gradient."""
    value, gradient = ms.value_and_grad(inputs.sum_of_squares)(tensor(X))
    return bool(numbers(value) == 5.0 and numbers(gradient) == [2.0, 4.0])


def extra_output() -> bool:
    """An extra output shifts the gradient."""
    with_aux, _ = ms.grad(inputs.loss_and_logits, has_aux=True)(tensor(X))
    without = ms.grad(inputs.loss_and_logits)(tensor(X))
    return not bool((with_aux == without).all())


def trained(decorate: Callable[..., Any]) -> bool:
    """Steps of a decorated function give the weight that they should."""
    weight = ms.Parameter(tensor([WEIGHT]), name="weight")
    optimizer = nn.SGD([weight], learning_rate=RATE)

    def loss() -> Any:
        return (weight * weight).sum()

    value_and_grad = ms.value_and_grad(loss, None, optimizer.parameters)

    def step() -> Any:
        value, gradients = value_and_grad()
        optimizer(gradients)
        return value

    decorated = decorate(step)
    for _ in range(STEPS):
        decorated()
    return bool(abs(float(weight.asnumpy()[0]) - TRAINED) < NEAR)


class Counting(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Counts its calls in a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.count = ms.Parameter(tensor([0.0]), name="count", requires_grad=False)

    @ms.jit  # type: ignore[untyped-decorator]  # mindspore ships no types
    def construct(self, x: Any) -> Any:
        """Twice the input."""
        ops.assign_add(self.count, ops.ones_like(self.count))
        return x * 2


def compiled_state() -> bool:
    """A compiled function that writes into a parameter counts its calls."""
    cell = Counting()
    for _ in range(STEPS):
        cell(tensor(X))
    return bool(cell.count.asnumpy()[0] == STEPS)


FUNCTIONAL: dict[str, Callable[[], Any]] = {
    "reused": reused,
    "value_and_gradient": value_and_gradient,
    "extra_output": extra_output,
    "training_step": lambda: trained(lambda step: step),
    "compiled_step": lambda: trained(ms.jit),
    "compiled_state": compiled_state,
}
