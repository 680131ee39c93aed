"""The figures of the claim on gradients at kinks, and of the study of operators."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.independent.attempts import attempt

# Row 85: where the frameworks differ: gradients at kinks, each in one style and in the other.
NAN = float("nan")

Kinks = dict[str, tuple[Callable[..., Any], tuple[list[float], ...], tuple[float, ...]]]
"""Functions, the inputs at which they have a kink, and what else they are given."""


def _kinks(ops: Any, layers: Any) -> Kinks:
    def relu_by_maximum(x: Any) -> Any:
        return ops.maximum(x, ops.zeros_like(x))

    def relu_by_where(x: Any) -> Any:
        return ops.where(x > 0, x, ops.zeros_like(x))

    def cummax(x: Any) -> Any:
        return ops.cummax(x, 0)[0]

    def power_zero(x: Any) -> Any:
        return x**0.0

    def self_division(x: Any) -> Any:
        return x / x

    def branch(x: Any) -> Any:
        if x.sum() > 0:
            return ops.log(x)
        return ops.zeros_like(x)

    return {
        "relu": (ops.relu, ([0],), ()),
        "relu_by_maximum": (relu_by_maximum, ([0],), ()),
        "relu_by_clamp": (ops.clamp, ([0],), (0,)),
        "relu_by_where": (relu_by_where, ([0],), ()),
        "relu6": (layers.relu6, ([0, 6],), ()),
        "leaky_relu": (layers.leaky_relu, ([0],), (0.1,)),
        "hardtanh": (layers.hardtanh, ([-1, 1],), (-1.0, 1.0)),
        "hardswish": (layers.hardswish, ([-3, 3],), ()),
        "cummax": (cummax, ([1, 1, 0],), ()),
        "norm_inf": (ops.norm, ([1, 1, 0],), (float("inf"),)),
        "power_zero": (power_zero, ([0],), ()),
        "power_of_zero": (ops.pow, ([0, 0], [0, 2]), ()),
        "norm": (ops.norm, ([0, 0],), ()),
        "std": (ops.std, ([1, 1],), ()),
        "atan2": (ops.atan2, ([0], [0]), ()),
        "xlogy": (ops.xlogy, ([0], [0]), ()),
        "cosine_similarity": (layers.cosine_similarity, ([0, 0], [1, 1]), (0,)),
        "self_division": (self_division, ([0],), ()),
        "branch": (branch, ([0],), ()),
        "relu_of_nan": (ops.relu, ([NAN],), ()),
        "clamp_of_nan": (ops.clamp, ([NAN],), (0.0, 1.0)),
        "max_with_nan": (ops.maximum, ([NAN], [1]), ()),
    }


def row_85_in_torch(torch: Any) -> dict[str, Any]:
    """The value and the gradients of each, by the tape."""

    def answer(
        function: Callable[..., Any], inputs: tuple[list[float], ...], settings: tuple[float, ...]
    ) -> Any:
        leaves = [torch.tensor(values).float().requires_grad_() for values in inputs]
        value = function(*leaves, *settings)
        gradients = torch.autograd.grad(value.sum(), leaves)
        return _answer(value.detach().numpy(), [gradient.numpy() for gradient in gradients])

    return {
        name: attempt(answer, *kink) for name, kink in _kinks(torch, torch.nn.functional).items()
    }


def row_85_in_mindspore(ms: Any) -> dict[str, Any]:
    """The value and the gradients of each."""

    def answer(
        function: Callable[..., Any], inputs: tuple[list[float], ...], settings: tuple[float, ...]
    ) -> Any:
        def summed(*arguments: Any) -> Any:
            value = function(*arguments, *settings)
            return value.sum(), value

        tensors = [ms.Tensor(values, ms.float32) for values in inputs]
        positions = tuple(range(len(tensors)))
        gradients, (value,) = ms.grad(summed, positions, has_aux=True)(*tensors)
        # One position alone gives a bare tensor, even in a tuple.
        if len(tensors) == 1:
            gradients = (gradients,)
        return _answer(value.asnumpy(), [gradient.asnumpy() for gradient in gradients])

    return {name: attempt(answer, *kink) for name, kink in _kinks(ms.ops, ms.ops).items()}


def _answer(value: Any, gradients: list[Any]) -> dict[str, Any]:
    return {"value": _finite(value), "gradient": [_finite(gradient) for gradient in gradients]}


def _finite(values: Any) -> Any:
    """Nested lists, in which what JSON has no number for stands by its name."""
    if np.ndim(values):
        return [_finite(value) for value in values]
    if np.isnan(values):
        return "NaN"
    return float(values) if np.isfinite(values) else "Infinity"
