"""The study of training: update rules, five steps from one weight at a rate of 0.1, in float64."""

from typing import Any

import numpy as np

from tests.independent.given_gradients import Rule, adam, moments, weights_after


def closed_form() -> dict[str, Any]:
    """By the formulas of both frameworks' documents, those that part among them."""
    rules: dict[str, Rule] = {
        "SGD": _sgd,
        "SGD with momentum": _momentum,
        "Nesterov momentum": _nesterov,
        "Adam": adam,
        "AdamW": _adam_w,
        "AdamWeightDecay": _adam_weight_decay,
        "Adagrad": _adagrad,
        "RMSprop": _rms_prop,
        "RMSProp from ones": _rms_prop_from_ones,
    }
    return {name: weights_after(rule) for name, rule in rules.items()}


def _sgd(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return gradient


def _momentum(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["velocity"] = 0.9 * state.get("velocity", 0) + gradient
    return state["velocity"]


def _nesterov(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return gradient + 0.9 * _momentum(step, weight, gradient, state)


def _adam_w(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    return 0.1 * weight + adam(step, weight, gradient, state)


def _adam_weight_decay(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # MindSpore's AdamWeightDecay does not correct the bias of its moments.
    mean, square = moments(gradient, state)
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
