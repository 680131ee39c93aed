"""The study of training: update rules, five steps from one weight at a rate of 0.1, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

RATE = 0.1


def closed_form() -> dict[str, Any]:
    """By the formulas of both frameworks' documents, those that part among them."""
    rules: dict[str, Callable[[int, Any, Any, dict[str, Any]], Any]] = {
        "SGD": _sgd,
        "SGD with momentum": _momentum,
        "Nesterov momentum": _nesterov,
        "Adam": _adam,
        "AdamW": _adam_w,
        "AdamWeightDecay": _adam_weight_decay,
        "Adagrad": _adagrad,
        "RMSprop": _rms_prop,
        "RMSProp from ones": _rms_prop_from_ones,
    }
    return {name: _weights(rule) for name, rule in rules.items()}


def _weights(rule: Callable[[int, Any, Any, dict[str, Any]], Any]) -> Any:
    generator = np.random.default_rng(2)
    weight, state = np.array([1.0, -2.0, 0.5]), {}  # type: Any, dict[str, Any]
    weights = []
    for step in range(1, 6):
        gradient = generator.normal(size=3).astype(np.float32).astype(float)
        weight = weight - RATE * rule(step, weight, gradient, state)
        weights.append(weight.tolist())
    return weights


def _sgd(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return gradient


def _momentum(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["velocity"] = 0.9 * state.get("velocity", 0) + gradient
    return state["velocity"]


def _nesterov(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return gradient + 0.9 * _momentum(step, weight, gradient, state)


def _moments(gradient: Any, state: dict[str, Any]) -> tuple[Any, Any]:
    state["mean"] = 0.9 * state.get("mean", 0) + 0.1 * gradient
    state["square"] = 0.999 * state.get("square", 0) + 0.001 * gradient**2
    return state["mean"], state["square"]


def _adam(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    mean, square = _moments(gradient, state)
    return (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)


def _adam_w(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return 0.1 * weight + _adam(step, weight, gradient, state)


def _adam_weight_decay(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # MindSpore's AdamWeightDecay does not correct the bias of its moments.
    mean, square = _moments(gradient, state)
    return 0.1 * weight + mean / (np.sqrt(square) + 1e-8)


def _adagrad(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["sum"] = state.get("sum", 0.1) + gradient**2
    return gradient / np.sqrt(state["sum"])


def _rms_prop(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["square"] = 0.9 * state.get("square", 0) + 0.1 * gradient**2
    return gradient / (np.sqrt(state["square"]) + 1e-8)


def _rms_prop_from_ones(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # MindSpore's mean of squares starts from ones, and its epsilon stands under the root.
    state["square"] = 0.9 * state.get("square", 1) + 0.1 * gradient**2
    return gradient / np.sqrt(state["square"] + 1e-8)
