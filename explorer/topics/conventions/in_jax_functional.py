"""What guide 003 states of functional gradients, tried in JAX: jax.grad, jax.jit and plain descent."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from explorer.model.measurement import Ask, Found
from explorer.topics.conventions import inputs
from explorer.topics.conventions.inputs import NEAR, RATE, SHAPES, STEPS, TRAINED, WEIGHT, X
from explorer.topics.in_jax import attempt_in_a_sentence, numbers


def functional(ask: Ask) -> Found:
    """Whether each statement is so, or what was raised where it was tried."""
    return Found({name: attempt_in_a_sentence(each) for name, each in FUNCTIONAL.items()})


def reused() -> bool:
    """One gradient function is right for several inputs."""
    gradient = jax.grad(inputs.sum_of_squares)
    arrays = [jnp.array(values) for values in SHAPES]
    return all(bool((gradient(x) == 2 * x).all()) for x in arrays)


def value_and_gradient() -> bool:
    """One call makes a function of value and gradient."""
    value, gradient = jax.value_and_grad(inputs.sum_of_squares)(jnp.array(X))
    return bool(numbers(value) == 5.0 and numbers(gradient) == [2.0, 4.0])


def extra_output() -> bool:
    """An extra output shifts the gradient."""
    with_aux, _ = jax.grad(inputs.loss_and_logits, has_aux=True)(jnp.array(X))
    without = jax.grad(inputs.loss_and_logits)(jnp.array(X))
    return not bool((with_aux == without).all())


def descended(weight: Any) -> Any:
    """The weight after one step; the update returns a new weight, as an optimizer of JAX's does."""
    _, gradient = jax.value_and_grad(inputs.sum_of_squares)(weight)
    return weight - RATE * gradient


def trained(step: Callable[[Any], Any]) -> bool:
    """Steps give the weight that they should."""
    weight = jnp.array([WEIGHT])
    for _ in range(STEPS):
        weight = step(weight)
    return bool(abs(weight.item() - TRAINED) < NEAR)


class Counter:
    """A state outside of the function."""

    count: Any = 0


def compiled_state() -> bool:
    """A compiled function that writes into an attribute counts its calls."""
    counter = Counter()

    def counting(x: Any) -> Any:
        counter.count = counter.count + x[0] * 0 + 1
        return x * 2

    compiled = jax.jit(counting)
    for _ in range(STEPS):
        compiled(jnp.array(X))
    return float(counter.count) == STEPS


FUNCTIONAL: dict[str, Callable[[], Any]] = {
    "reused": reused,
    "value_and_gradient": value_and_gradient,
    "extra_output": extra_output,
    "training_step": lambda: trained(descended),
    "compiled_step": lambda: trained(jax.jit(descended)),
    "compiled_state": compiled_state,
}
