"""Row 85: where the frameworks differ: gradients at kinks, each in one style and in the other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.independent.attempts import attempt

NAN = float("nan")

Kinks = dict[str, tuple[Callable[..., Any], tuple[list[float], ...]]]
"""Functions, and the inputs at which they have a kink."""


def _corners(ops: Any, layers: Any) -> Kinks:
    def relu6(x: Any) -> Any:
        return layers.relu6(x)

    def leaky_relu(x: Any) -> Any:
        return layers.leaky_relu(x, 0.1)

    def hardtanh(x: Any) -> Any:
        return layers.hardtanh(x, -1.0, 1.0)

    def hardswish(x: Any) -> Any:
        return layers.hardswish(x)

    def cummax(x: Any) -> Any:
        return ops.cummax(x, 0)[0]

    def norm_inf(x: Any) -> Any:
        return ops.norm(x, float("inf"))

    return {
        "relu6": (relu6, ([0, 6],)),
        "leaky_relu": (leaky_relu, ([0],)),
        "hardtanh": (hardtanh, ([-1, 1],)),
        "hardswish": (hardswish, ([-3, 3],)),
        "cummax": (cummax, ([1, 1, 0],)),
        "norm_inf": (norm_inf, ([1, 1, 0],)),
    }


def _undefined(ops: Any, layers: Any) -> Kinks:
    def power_zero(x: Any) -> Any:
        return x**0.0

    def power_of_zero(x: Any, y: Any) -> Any:
        return ops.pow(x, y)

    def norm(x: Any) -> Any:
        return ops.norm(x)

    def std(x: Any) -> Any:
        return ops.std(x)

    def atan2(y: Any, x: Any) -> Any:
        return ops.atan2(y, x)

    def xlogy(x: Any, y: Any) -> Any:
        return ops.xlogy(x, y)

    def cosine_similarity(x: Any, y: Any) -> Any:
        return layers.cosine_similarity(x, y, 0)

    def self_division(x: Any) -> Any:
        return x / x

    return {
        "power_zero": (power_zero, ([0],)),
        "power_of_zero": (power_of_zero, ([0, 0], [0, 2])),
        "norm": (norm, ([0, 0],)),
        "std": (std, ([1, 1],)),
        "atan2": (atan2, ([0], [0])),
        "xlogy": (xlogy, ([0], [0])),
        "cosine_similarity": (cosine_similarity, ([0, 0], [1, 1])),
        "self_division": (self_division, ([0],)),
    }


def _dead(ops: Any, layers: Any) -> Kinks:
    def branch(x: Any) -> Any:
        if x.sum() > 0:
            return ops.log(x)
        return ops.zeros_like(x)

    def relu_of_nan(x: Any) -> Any:
        return ops.relu(x)

    def clamp_of_nan(x: Any) -> Any:
        return ops.clamp(x, 0.0, 1.0)

    def max_with_nan(a: Any, b: Any) -> Any:
        return ops.maximum(a, b)

    return {
        "branch": (branch, ([0],)),
        "relu_of_nan": (relu_of_nan, ([NAN],)),
        "clamp_of_nan": (clamp_of_nan, ([NAN],)),
        "max_with_nan": (max_with_nan, ([NAN], [1])),
    }


def _kinks(ops: Any, layers: Any) -> Kinks:
    return {**_corners(ops, layers), **_undefined(ops, layers), **_dead(ops, layers)}


def in_torch() -> dict[str, Any]:
    """The value and the gradients of each, by the tape."""
    import torch
    from torch.nn import functional

    def answer(function: Callable[..., Any], inputs: tuple[list[float], ...]) -> Any:
        leaves = [torch.tensor(values).float().requires_grad_() for values in inputs]
        value = function(*leaves)
        gradients = torch.autograd.grad(value.sum(), leaves)
        return _answer(value.detach().numpy(), [gradient.numpy() for gradient in gradients])

    return {name: attempt(answer, *kink) for name, kink in _kinks(torch, functional).items()}


def in_mindspore() -> dict[str, Any]:
    """The value and the gradients of each."""
    import mindspore as ms
    from mindspore import ops

    def answer(function: Callable[..., Any], inputs: tuple[list[float], ...]) -> Any:
        def summed(*arguments: Any) -> Any:
            value = function(*arguments)
            return value.sum(), value

        tensors = [ms.Tensor(values, ms.float32) for values in inputs]
        positions = tuple(range(len(tensors)))
        gradients, (value,) = ms.grad(summed, positions, has_aux=True)(*tensors)
        # One position alone gives a bare tensor, even in a tuple.
        if len(tensors) == 1:
            gradients = (gradients,)
        return _answer(value.asnumpy(), [gradient.asnumpy() for gradient in gradients])

    return {name: attempt(answer, *kink) for name, kink in _kinks(ops, ops).items()}


def _answer(value: Any, gradients: list[Any]) -> dict[str, Any]:
    return {"value": _finite(value), "gradient": [_finite(gradient) for gradient in gradients]}


def _finite(values: Any) -> Any:
    """Nested lists, in which what JSON has no number for stands by its name."""
    if np.ndim(values):
        return [_finite(value) for value in values]
    if np.isnan(values):
        return "NaN"
    return float(values) if np.isfinite(values) else "Infinity"
