"""Second derivatives of single operators in PyTorch, each beside the central difference of its own
first derivative.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812  # its usual name

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.higher_order.operators import (
    OPERATORS,
    change_along_ones,
    dtype_of,
    elements_at,
    functions,
)


def operators(ask: Ask) -> Found:
    """For each operator of a group: grad of grad, and the change of grad along the same direction,
    that of ones.
    """
    gradient_of = GRADIENTS[ask.options["style"]]
    figures = {}
    for name, x in OPERATORS[ask.options["group"]].items():
        dtype = dtype_of(name)
        first = gradient_of(FUNCTIONS[name])
        second = gradient_of(first)
        figures[name] = {
            "dtype": dtype,
            "change of first": attempt_briefly(change_along_ones, on_arrays(first), x, dtype),
            "second": attempt_briefly(elements_at, on_arrays(second), x, dtype),
        }
    return Found(figures)


def on_arrays(function: Callable[..., Any]) -> Callable[[AnyArray], AnyArray]:
    """A function of a tensor as one of an array."""

    def called(x: AnyArray) -> AnyArray:
        """The result as an array."""
        result: AnyArray = function(torch.tensor(x)).detach().numpy()
        return result

    return called


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of ``function`` on the tape, kept differentiable."""

    def gradient(x: Any) -> Any:
        """The gradient at ``x``, which stays on the tape."""
        # The outer gradient has made x part of its graph: detaching it would lose the order.
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        return torch.autograd.grad(function(leaf).sum(), leaf, create_graph=True)[0]

    return gradient


def functional(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of ``function`` by ``torch.func``."""
    gradient: Callable[..., Any] = torch.func.grad(lambda x: function(x).sum())
    return gradient


GRADIENTS = {"tape": recorded, "func": functional}


# The operators that PyTorch writes in its own way


def norm(x: Any) -> Any:
    """√Σx²."""
    return torch.linalg.vector_norm(x)


def greatest(x: Any) -> Any:
    """The cube of the greatest element."""
    return x.amax() ** 3


def cross_entropy(x: Any) -> Any:
    """The mean cross entropy of two samples with the logits x²."""
    return F.cross_entropy(x * x, torch.tensor([0, 1]))


def convolution(x: Any) -> Any:
    """Σ of the cubes of each window's sum."""
    return (F.conv2d(x, torch.ones((1, 1, 2, 2), dtype=x.dtype)) ** 3).sum()


def batch_norm(x: Any) -> Any:
    """Σ of the cubes of x² normalized over the batch."""
    mean, variance = torch.tensor([0.1], dtype=x.dtype), torch.tensor([2.0], dtype=x.dtype)
    weight, bias = torch.tensor([1.5], dtype=x.dtype), torch.tensor([0.25], dtype=x.dtype)
    return (F.batch_norm(x * x, mean, variance, weight, bias, training=True) ** 3).sum()


def flash_attention(x: Any) -> Any:
    """Σ of the squares of attention by one kernel, x being query, key and value."""
    # The dispatcher chooses the flash kernel for these inputs on the CPU (2.13).
    return (F.scaled_dot_product_attention(x, x, x) ** 2).sum()


FUNCTIONS = functions(
    torch, F, (norm, greatest, cross_entropy, convolution, batch_norm, flash_attention)
)
