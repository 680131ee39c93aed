"""JAX's conventions: gradient calls as they are and compiled, and what functions give."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorer.model.measurement import Ask, Found
from explorer.topics.conventions import inputs
from explorer.topics.conventions.inputs import COMPLEX, EQUAL, X, Y
from explorer.topics.conventions.shapes import shape_of
from explorer.topics.in_jax import attempt_in_a_sentence, numbers, styled


def calls(ask: Ask) -> Found:
    """What the calls of one style return."""
    style = ask.options["style"]
    return Found({name: attempt_in_a_sentence(call, style) for name, call in CALLS.items()})


def gradient(style: str, function: Callable[..., Any], *values: Any, **settings: Any) -> Any:
    """What jax.grad of a function returns, as arrays."""
    return styled(jax.grad(function, **settings), style)(*map(jnp.array, values))


def of_one_array(style: str) -> Any:
    """By the first argument, with one array as both."""
    x = jnp.array(X)
    return numbers(styled(jax.grad(inputs.product_of_two), style)(x, x))


def of_entries(style: str) -> Any:
    """The gradient by a dict, as pairs of its entries."""
    entries = {"a": jnp.array(X), "b": jnp.array(Y)}
    found = styled(jax.grad(inputs.of_entries), style)(entries)
    return numbers([found["a"], found["b"]])


def of_complex(style: str) -> Any:
    """By a complex number, of the square of its magnitude."""
    found = gradient(style, lambda z: (jnp.abs(z) ** 2).sum(), COMPLEX)
    return [found.real.item(), found.imag.item()]


def pulled_back_twice(style: str) -> Any:
    """A function that jax.vjp returns, called twice."""
    _, pull_back = jax.vjp(styled(inputs.sum_of_squares, style), jnp.array(X))
    pull_back(jnp.array(1.0))
    return numbers(pull_back(jnp.array(1.0))[0])


def second_order(style: str) -> Any:
    """The gradient of the sum of a gradient."""
    first = jax.grad(inputs.sum_of_cubes)
    return numbers(gradient(style, lambda x: first(x).sum(), X))


CALLS: dict[str, Callable[[str], Any]] = {
    "vector_output": lambda style: numbers(gradient(style, inputs.squares, X)),
    "integer_output": lambda style: numbers(gradient(style, jnp.argmax, EQUAL)),
    "unused_input": lambda style: numbers(gradient(style, inputs.first_alone, X, Y, argnums=1)),
    "integer_input": lambda style: numbers(gradient(style, inputs.sum_of_squares, [1, 2])),
    "number_input": lambda style: numbers(styled(jax.grad(inputs.squares), style)(3.0)),
    "numpy_input": lambda style: numbers(
        styled(jax.grad(inputs.sum_of_squares), style)(np.array(X, np.float32))
    ),
    "dict_input": of_entries,
    "complex_input": of_complex,
    "aliased_input": of_one_array,
    "default_position": lambda style: numbers(gradient(style, inputs.product, X, Y)),
    "tuple_of_one": lambda style: shape_of(gradient(style, inputs.product, X, Y, argnums=(0,))),
    "reversed_positions": lambda style: numbers(
        gradient(style, inputs.product, X, Y, argnums=(1, 0))
    ),
    "negative_position": lambda style: numbers(gradient(style, inputs.product, X, Y, argnums=-1)),
    "repeated_position": lambda style: numbers(
        gradient(style, inputs.product, X, Y, argnums=(0, 0))
    ),
    "two_outputs": lambda style: numbers(gradient(style, inputs.loss_and_logits, X)),
    "has_aux": lambda style: shape_of(gradient(style, inputs.loss_and_logits, X, has_aux=True)),
    "has_aux_of_one_output": lambda style: numbers(
        gradient(style, inputs.sum_of_squares, X, has_aux=True)
    ),
    "value_and_gradient": lambda style: numbers(
        styled(jax.value_and_grad(inputs.sum_of_squares), style)(jnp.array(X))
    ),
    "pulled_back_twice": pulled_back_twice,
    "branch_on_value": lambda style: numbers(gradient(style, inputs.branching, X)),
    "written_in_place": lambda style: numbers(gradient(style, inputs.written_in_place, X)),
    "stopped": lambda style: numbers(
        gradient(style, lambda x: (x * jax.lax.stop_gradient(x)).sum(), X)
    ),
    "second_order": second_order,
}


def values(ask: Ask) -> Found:
    """What functions give."""
    return Found({name: attempt_in_a_sentence(value) for name, value in VALUES.items()})


INTEGERS = jnp.array([1, 2])
HALVES = jnp.array(X, jnp.float16)
SMALL = jnp.array([1, 2], jnp.int32)
FOUR = jnp.array([1.0, 2.0, 3.0, 4.0])
CUBE = jnp.arange(8.0).reshape(2, 2, 2)

VALUES: dict[str, Callable[[], Any]] = {
    "integers": lambda: jnp.array([1, 2]).dtype.name,
    "float64_array": lambda: jnp.array(np.array(X)).dtype.name,
    "quotient_of_integers": lambda: (INTEGERS / INTEGERS).dtype.name,
    "integer_and_float": lambda: (INTEGERS + 1.5).dtype.name,
    "integer_and_half": lambda: (INTEGERS + HALVES).dtype.name,
    "sum_of_integers": lambda: SMALL.sum().dtype.name,
    "sum_of_bools": lambda: (SMALL > 1).sum().dtype.name,
    "mean_of_integers": lambda: numbers(SMALL.mean()),
    "divided_by_zero": lambda: numbers(SMALL // 0),
    "remainder_of_negative": lambda: numbers(jnp.array([-7.0]) % 3),
    "half_rounded": lambda: numbers(jnp.round(jnp.array([0.5, 1.5, 2.5]))),
    "index_out_of_bounds": lambda: numbers(FOUR[jnp.array([4])]),
    "negative_index_out_of_bounds": lambda: numbers(FOUR[jnp.array([-5])]),
    "argmax_of_ties": lambda: numbers(jnp.argmax(jnp.array(EQUAL))),
    "argsort_of_ties": lambda: numbers(jnp.argsort(jnp.array(EQUAL))),
    "median_of_four": lambda: numbers(jnp.median(FOUR)),
    "std_of_four": lambda: numbers(jnp.std(FOUR)),
    "clipped_to_crossed_bounds": lambda: numbers(jnp.clip(FOUR, 3.0, 2.0)),
    "gelu": lambda: numbers(jax.nn.gelu(jnp.array([1.0]))),
    "leaky_relu": lambda: numbers(jax.nn.leaky_relu(jnp.array([-1.0]))),
    "softmax_axis": lambda: numbers(jax.nn.softmax(CUBE)[0, 0]),
}
"""A cross entropy is left out: JAX itself has none."""
