"""Second derivatives of small functions in MindSpore, by nested grad and by forward mode over grad."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.higher_order.small_hessians import (
    CALLS,
    HESSIAN,
    MATRIX,
    NESTED,
    POINT,
    broadcast,
    cube_of_sum,
)
from explorer.topics.in_mindspore import numbers, set_style

A = ms.Tensor(MATRIX.astype(np.float32))


def product_with_vector(x: Any) -> Any:
    """|A·sin x|²."""
    return (ops.matmul(A, ops.sin(x)) ** 2).sum()


def product_with_column(x: Any) -> Any:
    """|A·sin x|², with sin x as a matrix of one column."""
    return (ops.matmul(A, ops.sin(x).reshape(2, 1)) ** 2).sum()


def nested(function: Any, x: Any) -> Any:
    """The gradient of the gradient's sum."""
    return numbers(ms.grad(ms.grad(function))(x))


def forward(function: Any, x: Any) -> Any:
    """The Hessian by forward mode over the gradient."""
    return numbers(ms.jacfwd(ms.grad(function))(x))


def second_derivatives(ask: Ask) -> Found:
    """What each call returns for each function, or what it raised."""
    calls = {NESTED: nested, HESSIAN: forward}
    figures: dict[str, Any] = {}
    for function in (cube_of_sum, broadcast, product_with_vector, product_with_column):
        figures[function.__name__] = {}
        for name in CALLS[function.__name__]:
            set_style(ask.options["style"], ask.device)  # afresh, whatever a call before raised
            x = ms.Tensor(POINT.astype(np.float32))
            figures[function.__name__][name] = attempt_briefly(calls[name], function, x)
    return Found(figures)
