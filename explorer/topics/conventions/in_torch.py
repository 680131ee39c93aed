"""PyTorch's conventions: gradient calls on the tape and of torch.func, and what functions give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions import inputs
from explorer.topics.conventions.inputs import COMPLEX, EQUAL, X, Y
from explorer.topics.conventions.shapes import shape_of
from explorer.topics.in_torch import numbers


def calls(ask: Ask) -> Found:
    """What the calls of one style return."""
    of_style = BY_FUNCTION if ask.options["style"] == "func" else ON_TAPE
    return Found({name: attempt_briefly(call) for name, call in of_style.items()})


def leaf(values: Any) -> torch.Tensor:
    """A tensor that a gradient is computed with respect to."""
    return torch.tensor(values, requires_grad=True)


def by_tape(function: Callable[..., Any], *values: Any, position: int = 0) -> Any:
    """The gradient of a function's output with respect to one of its inputs."""
    inputs = [leaf(each) for each in values]
    (gradient,) = torch.autograd.grad(function(*inputs), inputs[position], allow_unused=True)
    return numbers(gradient)


def two_outputs() -> Any:
    """A backward of both outputs."""
    x = leaf(X)
    loss, logits = inputs.loss_and_logits(x)
    return numbers(torch.autograd.grad((loss, logits), x))


def of_aliased() -> Any:
    """By the first argument, with one tensor as both."""
    x = leaf(X)
    return numbers(torch.autograd.grad(inputs.product_of_two(x, x), x)[0])


def of_complex() -> Any:
    """By a complex number, of the square of its magnitude."""
    z = leaf(COMPLEX)
    (gradient,) = torch.autograd.grad((z.abs() ** 2).sum(), z)
    return [gradient.real.item(), gradient.imag.item()]


def twice_on_tape() -> Any:
    """Two gradients of one output."""
    x = leaf(X)
    y = inputs.sum_of_squares(x)
    torch.autograd.grad(y, x)
    return numbers(torch.autograd.grad(y, x)[0])


def stopped(x: Any) -> Any:
    """The sum of x times x that is cut off."""
    return (x * x.detach()).sum()


def second_on_tape() -> Any:
    """The gradient of a gradient that was computed as by default."""
    x = leaf(X)
    (gradient,) = torch.autograd.grad(inputs.sum_of_cubes(x), x)
    return numbers(torch.autograd.grad(gradient.sum(), x)[0])


def argmax(x: Any) -> Any:
    """The place of the greatest element."""
    return torch.argmax(x)


def numpy_on_tape() -> Any:
    """The gradient by an array of numpy's."""
    x: Any = np.array(X, np.float32)
    return numbers(torch.autograd.grad(inputs.sum_of_squares(x), x)[0])


ON_TAPE: dict[str, Callable[[], Any]] = {
    "vector_output": lambda: by_tape(inputs.squares, X),
    "integer_output": lambda: by_tape(argmax, EQUAL),
    "unused_input": lambda: by_tape(inputs.first_alone, X, Y, position=1),
    "integer_input": lambda: by_tape(inputs.sum_of_squares, [1, 2]),
    "numpy_input": numpy_on_tape,
    "complex_input": of_complex,
    "aliased_input": of_aliased,
    "two_outputs": two_outputs,
    "pulled_back_twice": twice_on_tape,
    "branch_on_value": lambda: by_tape(inputs.branching, X),
    "written_in_place": lambda: by_tape(inputs.written_in_place, X),
    "stopped": lambda: by_tape(stopped, X),
    "second_order": second_on_tape,
}
"""The tape knows no positions and no auxiliary outputs: what is left out has no call there."""


def gradient(function: Callable[..., Any], *values: Any, **settings: Any) -> Any:
    """What torch.func.grad of a function returns, as tensors."""
    return torch.func.grad(function, **settings)(*map(torch.tensor, values))


def of_one_tensor(function: Callable[..., Any]) -> Any:
    """By the first argument, with one tensor as both."""
    x = torch.tensor(X)
    return numbers(torch.func.grad(function)(x, x))


def of_complex_by_function() -> Any:
    """By a complex number, of the square of its magnitude."""
    found = gradient(lambda z: (z.abs() ** 2).sum(), COMPLEX)
    return [found.real.item(), found.imag.item()]


def twice_by_function() -> Any:
    """A function that torch.func.vjp returns, called twice."""
    _, pull_back = torch.func.vjp(inputs.sum_of_squares, torch.tensor(X))
    pull_back(torch.tensor(1.0))
    return numbers(pull_back(torch.tensor(1.0))[0])


def of_entries() -> Any:
    """The gradient by a dict, as pairs of its entries."""
    entries = {"a": torch.tensor(X), "b": torch.tensor(Y)}
    found = torch.func.grad(inputs.of_entries)(entries)
    return numbers([found["a"], found["b"]])


def second_by_function() -> Any:
    """The gradient of the sum of a gradient."""
    first = torch.func.grad(inputs.sum_of_cubes)
    return numbers(gradient(lambda x: first(x).sum(), X))


BY_FUNCTION: dict[str, Callable[[], Any]] = {
    "vector_output": lambda: numbers(gradient(inputs.squares, X)),
    "integer_output": lambda: numbers(gradient(argmax, EQUAL)),
    "unused_input": lambda: numbers(gradient(inputs.first_alone, X, Y, argnums=1)),
    "integer_input": lambda: numbers(gradient(inputs.sum_of_squares, [1, 2])),
    "number_input": lambda: numbers(torch.func.grad(inputs.squares)(3.0)),
    "numpy_input": lambda: numbers(torch.func.grad(inputs.sum_of_squares)(np.array(X, np.float32))),
    "dict_input": of_entries,
    "complex_input": of_complex_by_function,
    "aliased_input": lambda: of_one_tensor(inputs.product_of_two),
    "default_position": lambda: numbers(gradient(inputs.product, X, Y)),
    "tuple_of_one": lambda: shape_of(gradient(inputs.product, X, Y, argnums=(0,))),
    "reversed_positions": lambda: numbers(gradient(inputs.product, X, Y, argnums=(1, 0))),
    "negative_position": lambda: numbers(gradient(inputs.product, X, Y, argnums=-1)),
    "repeated_position": lambda: numbers(gradient(inputs.product, X, Y, argnums=(0, 0))),
    "two_outputs": lambda: numbers(gradient(inputs.loss_and_logits, X)),
    "has_aux": lambda: shape_of(gradient(inputs.loss_and_logits, X, has_aux=True)),
    "has_aux_of_one_output": lambda: numbers(gradient(inputs.sum_of_squares, X, has_aux=True)),
    "value_and_gradient": lambda: numbers(
        torch.func.grad_and_value(inputs.sum_of_squares)(torch.tensor(X))
    ),
    "pulled_back_twice": twice_by_function,
    "branch_on_value": lambda: numbers(gradient(inputs.branching, X)),
    "written_in_place": lambda: numbers(gradient(inputs.written_in_place, X)),
    "stopped": lambda: numbers(gradient(stopped, X)),
    "second_order": second_by_function,
}


def values(ask: Ask) -> Found:
    """What functions give."""
    return Found({name: attempt_briefly(value) for name, value in VALUES.items()})


def dtype(tensor: torch.Tensor) -> str:
    """The name of a tensor's dtype: "int64"."""
    return str(tensor.dtype).partition(".")[2]


INTEGERS = torch.tensor([1, 2])
HALVES = torch.tensor(X, dtype=torch.float16)
SMALL = torch.tensor([1, 2], dtype=torch.int32)
FOUR = torch.tensor([1.0, 2.0, 3.0, 4.0])
CUBE = torch.arange(8.0).reshape(2, 2, 2)

VALUES: dict[str, Callable[[], Any]] = {
    "integers": lambda: dtype(torch.tensor([1, 2])),
    "float64_array": lambda: dtype(torch.tensor(np.array(X))),
    "quotient_of_integers": lambda: dtype(INTEGERS / INTEGERS),
    "integer_and_float": lambda: dtype(INTEGERS + 1.5),
    "integer_and_half": lambda: dtype(INTEGERS + HALVES),
    "sum_of_integers": lambda: dtype(SMALL.sum()),
    "sum_of_bools": lambda: dtype((SMALL > 1).sum()),
    "mean_of_integers": lambda: numbers(SMALL.mean()),
    "divided_by_zero": lambda: numbers(SMALL // 0),
    "remainder_of_negative": lambda: numbers(torch.tensor([-7.0]) % 3),
    "half_rounded": lambda: numbers(torch.round(torch.tensor([0.5, 1.5, 2.5]))),
    "index_out_of_bounds": lambda: numbers(FOUR[torch.tensor([4])]),
    "negative_index_out_of_bounds": lambda: numbers(FOUR[torch.tensor([-5])]),
    "argmax_of_ties": lambda: numbers(torch.argmax(torch.tensor(EQUAL))),
    "argsort_of_ties": lambda: numbers(torch.argsort(torch.tensor(EQUAL))),
    "median_of_four": lambda: numbers(torch.median(FOUR)),
    "std_of_four": lambda: numbers(torch.std(FOUR)),
    "clipped_to_crossed_bounds": lambda: numbers(torch.clamp(FOUR, 3.0, 2.0)),
    "gelu": lambda: numbers(functional.gelu(torch.tensor([1.0]))),
    "leaky_relu": lambda: numbers(functional.leaky_relu(torch.tensor([-1.0]))),
    "softmax_axis": lambda: numbers(functional.softmax(CUBE)[0, 0]),
    "cross_entropy_reduced": lambda: list(
        functional.cross_entropy(torch.tensor([X, Y]), torch.tensor([0, 1])).shape
    ),
}
