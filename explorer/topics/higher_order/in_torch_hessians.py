"""Second derivatives of small functions in PyTorch, by nested grad and by forward mode over grad."""

from typing import Any

import torch
from torch import func

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
from explorer.topics.in_torch import numbers

A = torch.tensor(MATRIX, dtype=torch.float32)


def product_with_vector(x: Any) -> Any:
    """|A·sin x|²."""
    return (torch.matmul(A, torch.sin(x)) ** 2).sum()


def product_with_column(x: Any) -> Any:
    """|A·sin x|², with sin x as a matrix of one column."""
    return (torch.matmul(A, torch.sin(x).reshape(2, 1)) ** 2).sum()


def nested(function: Any, x: Any) -> Any:
    """The gradient of the gradient's sum."""
    return numbers(func.grad(lambda x: func.grad(function)(x).sum())(x))


def forward(function: Any, x: Any) -> Any:
    """The Hessian by forward mode over the gradient."""
    return numbers(func.jacfwd(func.grad(function))(x))


def second_derivatives(ask: Ask) -> Found:
    """What each call returns for each function, or what it raised."""
    calls = {NESTED: nested, HESSIAN: forward}
    x = torch.tensor(POINT, dtype=torch.float32)
    figures: dict[str, Any] = {}
    for function in (cube_of_sum, broadcast, product_with_vector, product_with_column):
        figures[function.__name__] = {}
        for name in CALLS[function.__name__]:
            figures[function.__name__][name] = attempt_briefly(calls[name], function, x)
    return Found(figures)
