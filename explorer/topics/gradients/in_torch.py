"""What PyTorch takes, what it does with outputs beside the loss, and a gradient written by hand."""

from typing import Any

import numpy as np
import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.gradients.inputs import (
    POSITIONS,
    one_output,
    squares,
    tuple_of_one,
    two_outputs,
)
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


def drawn_by_numpy(x: Any, count: int) -> tuple[Any, Any]:
    """Some of the numbers above 0.5 of each row and their places."""
    values, places = [], []
    for row in x.detach().numpy():
        drawn = np.random.choice(np.where(row > 0.5)[0], count)
        values.append(torch.from_numpy(row[drawn]))
        places.append(torch.from_numpy(drawn))
    return torch.stack(values), torch.stack(places)


class Sampler(torch.autograd.Function):  # type: ignore[misc]  # checked without following torch
    """The numbers drawn and their places, with a rule for the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, count: int) -> Any:
        """The numbers drawn, and their places."""
        values, places = drawn_by_numpy(x, count)
        ctx.save_for_backward(x, places)
        ctx.mark_non_differentiable(places)
        return values, places

    @staticmethod
    def backward(ctx: Any, values_gradient: Any, _: Any) -> Any:
        """The gradient of each number, added up at the place that it was drawn from."""
        x, places = ctx.saved_tensors
        return torch.zeros_like(x).scatter_add(1, places, values_gradient), None


def function(ask: Ask) -> Found:
    """The places drawn, and the gradient, without a rule and with one."""
    style = ask.options["style"]
    return Found(
        {
            "without": attempt_briefly(places_and_gradient, style, drawn_by_numpy),
            "as meant": attempt_briefly(places_and_gradient, style, Sampler.apply),
        }
    )


def places_and_gradient(style: str, sampler: Any) -> dict[str, Any]:
    """What a call of the sampler drew, and the gradient of its numbers' sum."""
    np.random.seed(1)
    x = torch.tensor(np.random.uniform(0, 3, (2, 5)), dtype=torch.float32, requires_grad=True)
    if style == "graph":
        sampler = torch.compile(sampler, backend="aot_eager", fullgraph=True)
    values, places = sampler(x, 3)
    torch.compiler.reset()  # each function is compiled as if it were the first
    (gradient,) = torch.autograd.grad(values.sum(), x)
    return {"places": numbers(places), "gradient": numbers(gradient)}


def arguments(ask: Ask) -> Found:
    """The gradient that each position and each form of weights gives, or what it raises."""
    weight = torch.nn.Parameter(torch.tensor([[2.0, 3.0]]))
    forms: dict[str, Any] = {
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "fc.weight",
        "Tensor": torch.tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [torch.nn.Parameter(torch.tensor([1.0]))],
    }
    positions: dict[str, Any] = {}
    for name, position in POSITIONS.items():
        positions[name] = attempt_briefly(by_position, weight, position)
    weights: dict[str, Any] = {}
    for name, form in forms.items():
        weights[name] = attempt_briefly(by_weights, weight, form)
    return Found({"positions": positions, "weights": weights})


def value(weight: Any, x: Any, y: Any) -> Any:
    """The weight row times the first input, times the second."""
    return (torch.nn.functional.linear(x, weight) * y).sum()


def by_position(weight: Any, position: Any) -> Any:
    """What torch.func.grad gives with respect to the inputs at a position."""

    def of_inputs(x: Any, y: Any) -> Any:
        """The value for two inputs."""
        return value(weight, x, y)

    function = torch.func.grad(of_inputs, argnums=position)
    return numbers(function(torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0]])))


def by_weights(weight: Any, form: Any) -> Any:
    """What autograd.grad gives with respect to a form of weights."""
    total = value(weight, torch.tensor([[1.0, 2.0]]), torch.tensor([[4.0]]))
    return numbers(torch.autograd.grad(total, form))


def functional(ask: Ask) -> Found:
    """The value and the gradient of the sum of squares."""
    gradient, value = torch.func.grad_and_value(squares)(torch.tensor([1.0, 2.0, 3.0]))
    return Found({"value": numbers(value), "gradient": numbers(gradient)})
