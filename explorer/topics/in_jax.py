"""What JAX's measuring functions share: numbers of arrays, and a function in one of the styles."""

from collections.abc import Callable
from typing import Any

import jax

from explorer.text.messages import first_sentence
from explorer.topics.attempts import attempt, raised


def numbers(value: Any) -> Any:
    """Nested lists of the numbers of arrays, in the nesting of ``value``."""
    if isinstance(value, (tuple, list)):
        return [numbers(item) for item in value]
    if isinstance(value, jax.Array):
        return value.tolist()
    return value


def styled(function: Callable[..., Any], style: str) -> Callable[..., Any]:
    """``function`` itself for the tape, or compiled."""
    return jax.jit(function) if style == "graph" else function


def attempt_in_a_sentence(function: Callable[..., Any], *arguments: Any) -> Any:
    """What ``function`` returns, or what it raised, with the first sentence of the message alone.

    The others say where a function was traced, which is another place in every environment.
    """
    figure = attempt(function, *arguments)
    if raised(figure):
        return {**figure, "message": first_sentence(figure["message"])}
    return figure
