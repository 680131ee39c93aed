"""MindSpore's conventions: gradient calls in both styles, and what functions give."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.conventions import inputs
from explorer.topics.conventions.inputs import COMPLEX, EQUAL, X, Y
from explorer.topics.conventions.shapes import shape_of
from explorer.topics.in_mindspore import numbers, set_style

# In graph style these are compiled from their source, and a lambda in an expression has none
# (2.10.0): hence functions.


def calls(ask: Ask) -> Found:
    """What the calls of one style return."""
    figures = {}
    for name, call in CALLS.items():
        set_style(ask.options["style"], ask.device)  # a call that raised leaves its tape on
        figures[name] = attempt_briefly(call)
    return Found(figures)


def tensor(values: Any) -> Tensor:
    """A tensor of float32 or int32 numbers, as PyTorch's and JAX's are."""
    array = np.array(values)
    return Tensor(array.astype({"f": "float32", "i": "int32", "c": "complex64"}[array.dtype.kind]))


def gradient(function: Callable[..., Any], *values: Any, **settings: Any) -> Any:
    """What ms.grad of a function returns, as tensors."""
    return ms.grad(function, **settings)(*map(tensor, values))


def argmax(x: Any) -> Any:
    """The place of the greatest element."""
    return ops.argmax(x)


def of_one_tensor() -> Any:
    """By the first argument, with one tensor as both."""
    x = tensor(X)
    return numbers(ms.grad(inputs.product_of_two)(x, x))


def of_entries() -> Any:
    """The gradient by a dict, as pairs of its entries."""
    found = ms.grad(inputs.of_entries)({"a": tensor(X), "b": tensor(Y)})
    return numbers([found["a"], found["b"]])


def square_of_magnitude(z: Any) -> Any:
    """The sum of the square of the magnitude."""
    return (ops.abs(z) * ops.abs(z)).sum()


def of_complex() -> Any:
    """By a complex number, of the square of its magnitude."""
    found = gradient(square_of_magnitude, COMPLEX).asnumpy()[0]
    return [float(found.real), float(found.imag)]


def pulled_back_twice() -> Any:
    """A function that ms.vjp returns, called twice."""
    _, pull_back = ms.vjp(inputs.sum_of_squares, tensor(X))
    pull_back(tensor(1.0))
    found = pull_back(tensor(1.0))
    return numbers(found[0] if isinstance(found, tuple) else found)


def stopped(x: Any) -> Any:
    """The sum of x times x that is cut off."""
    return (x * ops.stop_gradient(x)).sum()


def sum_of_slopes(x: Any) -> Any:
    """The sum of the gradient of the sum of x³."""
    return ms.grad(inputs.sum_of_cubes)(x).sum()


CALLS: dict[str, Callable[[], Any]] = {
    "vector_output": lambda: numbers(gradient(inputs.squares, X)),
    "integer_output": lambda: numbers(gradient(argmax, EQUAL)),
    "unused_input": lambda: numbers(gradient(inputs.first_alone, X, Y, grad_position=1)),
    "integer_input": lambda: numbers(gradient(inputs.sum_of_squares, [1, 2])),
    "number_input": lambda: numbers(ms.grad(inputs.squares)(3.0)),
    "numpy_input": lambda: numbers(ms.grad(inputs.sum_of_squares)(np.array(X, np.float32))),
    "dict_input": of_entries,
    "complex_input": of_complex,
    "aliased_input": of_one_tensor,
    "default_position": lambda: numbers(gradient(inputs.product, X, Y)),
    "tuple_of_one": lambda: shape_of(gradient(inputs.product, X, Y, grad_position=(0,))),
    "reversed_positions": lambda: numbers(gradient(inputs.product, X, Y, grad_position=(1, 0))),
    "negative_position": lambda: numbers(gradient(inputs.product, X, Y, grad_position=-1)),
    "repeated_position": lambda: numbers(gradient(inputs.product, X, Y, grad_position=(0, 0))),
    "two_outputs": lambda: numbers(gradient(inputs.loss_and_logits, X)),
    "has_aux": lambda: shape_of(gradient(inputs.loss_and_logits, X, has_aux=True)),
    "has_aux_of_one_output": lambda: numbers(gradient(inputs.sum_of_squares, X, has_aux=True)),
    "value_and_gradient": lambda: numbers(ms.value_and_grad(inputs.sum_of_squares)(tensor(X))),
    "pulled_back_twice": pulled_back_twice,
    "branch_on_value": lambda: numbers(gradient(inputs.branching, X)),
    "written_in_place": lambda: numbers(gradient(inputs.written_in_place, X)),
    "stopped": lambda: numbers(gradient(stopped, X)),
    "second_order": lambda: numbers(gradient(sum_of_slopes, X)),
}


def values(ask: Ask) -> Found:
    """What functions give."""
    set_style("tape", ask.device)
    return Found({name: attempt_briefly(value) for name, value in VALUES.items()})


def dtype(found: Tensor) -> str:
    """The name of a tensor's dtype: "int64"."""
    return str(found.dtype).lower()


INTEGERS = Tensor([1, 2])
HALVES = Tensor(X, ms.float16)
SMALL = Tensor([1, 2], ms.int32)
FOUR = tensor([1.0, 2.0, 3.0, 4.0])
CUBE = tensor(np.arange(8.0).reshape(2, 2, 2))

VALUES: dict[str, Callable[[], Any]] = {
    "integers": lambda: dtype(Tensor([1, 2])),
    "float64_array": lambda: dtype(Tensor(np.array(X))),
    "quotient_of_integers": lambda: dtype(INTEGERS / INTEGERS),
    "integer_and_float": lambda: dtype(INTEGERS + 1.5),
    "integer_and_half": lambda: dtype(INTEGERS + HALVES),
    "sum_of_integers": lambda: dtype(SMALL.sum()),
    "sum_of_bools": lambda: dtype((SMALL > 1).sum()),
    "mean_of_integers": lambda: numbers(SMALL.mean()),
    "divided_by_zero": lambda: numbers(SMALL // 0),
    "remainder_of_negative": lambda: numbers(tensor([-7.0]) % 3),
    "half_rounded": lambda: numbers(ops.round(tensor([0.5, 1.5, 2.5]))),
    "index_out_of_bounds": lambda: numbers(FOUR[tensor([4])]),
    "negative_index_out_of_bounds": lambda: numbers(FOUR[tensor([-5])]),
    "argmax_of_ties": lambda: numbers(ops.argmax(tensor(EQUAL))),
    "argsort_of_ties": lambda: numbers(ops.argsort(tensor(EQUAL))),
    "median_of_four": lambda: numbers(ops.median(FOUR)[0]),
    "std_of_four": lambda: numbers(ops.std(FOUR)),
    "clipped_to_crossed_bounds": lambda: numbers(ops.clamp(FOUR, 3.0, 2.0)),
    "gelu": lambda: numbers(ops.gelu(tensor([1.0]))),
    "leaky_relu": lambda: numbers(ops.leaky_relu(tensor([-1.0]))),
    "softmax_axis": lambda: numbers(ops.softmax(CUBE)[0, 0]),
    "cross_entropy_reduced": lambda: list(ops.cross_entropy(tensor([X, Y]), tensor([0, 1])).shape),
}
