"""JAX's gradients at kinks: each kink's function as it is written in JAX, at the kink's inputs."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy.special import xlogy

from explorer.model.measurement import Ask, Figures, Found
from explorer.topics.in_jax import attempt_in_a_sentence, numbers, styled
from explorer.topics.operators.kink_functions import KINKS
from explorer.topics.operators.kinks import Kink, kinks_of_group


def max_pool(x: Any) -> Any:
    """The greatest of each window of two by two."""
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def branch(x: Any) -> Any:
    """log(x) where the sum of x is above zero, else zeros."""
    if x.sum() > 0:
        return jnp.log(x)
    return jnp.zeros_like(x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "relu": lambda x: nn.relu(x),
    "relu_by_maximum": lambda x: jnp.maximum(x, jnp.zeros_like(x)),
    "relu_by_clamp": lambda x: jnp.clip(x, min=0.0),
    "relu_by_where": lambda x: jnp.where(x > 0, x, 0.0),
    "relu6": lambda x: nn.relu6(x),
    "leaky_relu": lambda x: nn.leaky_relu(x, 0.1),
    "absolute": lambda x: jnp.abs(x),
    "clamp": lambda x: jnp.clip(x, 0.0, 1.0),
    "hardtanh": lambda x: nn.hard_tanh(x),
    "hardsigmoid": lambda x: nn.hard_sigmoid(x),
    "hardswish": lambda x: nn.hard_swish(x),
    "sign": lambda x: jnp.sign(x),
    "floor": lambda x: jnp.floor(x),
    "l1_loss": lambda x, y: jnp.abs(x - y).mean(),
    "norm_one": lambda x: jnp.linalg.norm(x, 1),
    "maximum": lambda a, b: jnp.maximum(a, b),
    "minimum": lambda a, b: jnp.minimum(a, b),
    "max_of_all": lambda x: x.max(),
    "max_along_axis": lambda x: jnp.max(x, 0),
    "amax": lambda x: jnp.amax(x, 0),
    "max_pool": max_pool,
    "median": lambda x: jnp.median(x, 0),
    "topk": lambda x: lax.top_k(x, 1)[0],
    "cummax": lambda x: lax.cummax(x, 0),
    "norm_inf": lambda x: jnp.linalg.norm(x, jnp.inf),
    "sqrt": lambda x: jnp.sqrt(x),
    "power_half": lambda x: x**0.5,
    "power_zero": lambda x: x**0.0,
    "power_of_zero": lambda x, y: jnp.power(x, y),
    "log": lambda x: jnp.log(x),
    "arccos": lambda x: jnp.arccos(x),
    "norm": lambda x: jnp.linalg.norm(x),
    "norm_by_hand": lambda x: jnp.sqrt((x * x).sum()),
    "std": lambda x: jnp.std(x, ddof=1),
    "atan2": lambda y, x: jnp.arctan2(y, x),
    "xlogy": lambda x, y: xlogy(x, y),
    "product": lambda x: jnp.prod(x),
    "self_division": lambda x: x / x,
    "where_log": lambda x: jnp.where(x > 0, jnp.log(x), 0.0),
    "where_sqrt": lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0),
    "where_divide": lambda x: jnp.where(x != 0, 1 / x, 0.0),
    "where_twice": lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0),
    "masked_fill": lambda x: jnp.where(x <= 0, 0.0, jnp.log(x)),
    "times_zero": lambda x: jnp.sqrt(x) * 0.0,
    "nan_to_num": lambda x: jnp.nan_to_num(jnp.log(x) * x),
    "branch": branch,
    "clamp_then_log": lambda x: jnp.log(jnp.clip(x, min=1e-6)),
    "relu_of_nan": lambda x: nn.relu(x),
    "clamp_of_nan": lambda x: jnp.clip(x, 0.0, 1.0),
    "max_with_nan": lambda a, b: jnp.maximum(a, b),
}
"""The functions by the names of their kinks; JAX (0.6.2) has no shrinkage and no cosine similarity."""


def gradients_at_kinks(ask: Ask) -> Found:
    """What each kink's function and its gradient are, in the style and for the group asked for."""
    figures: Figures = {}
    for kink in kinks_of_group(KINKS, ask.options["group"]):
        if kink.name in FUNCTIONS:
            found = attempt_in_a_sentence(value_and_gradient, kink, ask.options["style"])
            figures[kink.name] = {"found": found}
    return Found(figures)


def value_and_gradient(kink: Kink, style: str) -> Figures:
    """The function's value, and the derivative of its sum with respect to every input."""
    function = FUNCTIONS[kink.name]
    inputs = [jnp.array(values, jnp.float32) for values in kink.inputs]
    value = styled(function, style)(*inputs)
    total = styled(lambda *arrays: function(*arrays).sum(), style)
    gradients = jax.grad(total, tuple(range(len(inputs))))(*inputs)
    return {"value": numbers(value), "gradient": numbers(gradients)}
