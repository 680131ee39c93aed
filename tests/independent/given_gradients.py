"""The weight on which update rules are compared, and the five gradients that it is given."""

from collections.abc import Callable
from typing import Any

import numpy as np

RATE = 0.1
START = (1.0, -2.0, 0.5)

Rule = Callable[[int, Any, Any, dict[str, Any]], Any]
"""The direction of a step, by its number from 1 on, the weight, the gradient and the rule's state."""


def gradients() -> list[Any]:
    """The gradients, drawn from N(0, 1) as float32."""
    generator = np.random.default_rng(2)
    return [generator.normal(size=3).astype(np.float32) for _ in range(5)]


def weights_after(rule: Rule) -> list[Any]:
    """The weight after each gradient, in float64."""
    weight, state = np.array(START), {}  # type: Any, dict[str, Any]
    weights = []
    for step, gradient in enumerate(gradients(), start=1):
        weight = weight - RATE * rule(step, weight, gradient.astype(float), state)
        weights.append(weight.tolist())
    return weights


def adam(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    """Adam by its paper, with epsilon outside the root."""
    mean, square = moments(gradient, state)
    return (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)


def moments(gradient: Any, state: dict[str, Any]) -> tuple[Any, Any]:
    """The running means of gradients and of their squares."""
    state["mean"] = 0.9 * state.get("mean", 0) + 0.1 * gradient
    state["square"] = 0.999 * state.get("square", 0) + 0.001 * gradient**2
    return state["mean"], state["square"]
