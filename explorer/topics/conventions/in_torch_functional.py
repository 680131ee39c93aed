"""What guide 003 states of functional gradients, tried in PyTorch: torch.func and torch.compile."""

from collections.abc import Callable
from typing import Any

import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions import inputs
from explorer.topics.conventions.inputs import NEAR, RATE, SHAPES, STEPS, TRAINED, WEIGHT, X
from explorer.topics.in_torch import numbers


def functional(ask: Ask) -> Found:
    """Whether each statement is so, or what was raised where it was tried."""
    return Found({name: attempt_briefly(statement) for name, statement in FUNCTIONAL.items()})


def reused() -> bool:
    """One gradient function is right for several inputs."""
    gradient = torch.func.grad(inputs.sum_of_squares)
    arrays = [torch.tensor(values) for values in SHAPES]
    return all(bool(torch.equal(gradient(x), 2 * x)) for x in arrays)


def value_and_gradient() -> bool:
    """One call makes a function of value and gradient."""
    gradient, value = torch.func.grad_and_value(inputs.sum_of_squares)(torch.tensor(X))
    return bool(numbers(value) == 5.0 and numbers(gradient) == [2.0, 4.0])


def extra_output() -> bool:
    """An extra output shifts the gradient."""
    with_aux, _ = torch.func.grad(inputs.loss_and_logits, has_aux=True)(torch.tensor(X))
    without = torch.func.grad(inputs.loss_and_logits)(torch.tensor(X))
    return not torch.equal(with_aux, without)


def trained(function: Callable[..., Any]) -> bool:
    """Steps with the gradients of a function give the weight that they should."""
    weight = torch.tensor([WEIGHT], requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=RATE)
    for _ in range(STEPS):
        weight.grad, _ = function(weight.detach())
        optimizer.step()
    return bool(abs(weight.item() - TRAINED) < NEAR)


def training_step() -> bool:
    """Value and gradient followed by the optimizer are one training step."""
    return trained(torch.func.grad_and_value(inputs.sum_of_squares))


def compiled_step() -> bool:
    """The same, compiled."""
    step = torch.func.grad_and_value(inputs.sum_of_squares)
    return trained(torch.compile(step, backend="aot_eager", fullgraph=True))


def compiled_state() -> bool:
    """A compiled function that writes into a tensor of its own counts its calls."""
    count = torch.zeros(1)

    def counting(x: Any) -> Any:
        count.add_(1)
        return x * 2

    compiled = torch.compile(counting, backend="aot_eager", fullgraph=True)
    for _ in range(STEPS):
        compiled(torch.tensor(X))
    return bool(count.item() == STEPS)


FUNCTIONAL: dict[str, Callable[[], Any]] = {
    "reused": reused,
    "value_and_gradient": value_and_gradient,
    "extra_output": extra_output,
    "training_step": training_step,
    "compiled_step": compiled_step,
    "compiled_state": compiled_state,
}
