"""Second derivatives of single operators in PyTorch, each beside the central difference of its own
first derivative.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812  # its usual name

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.higher_order import given


def operators(ask: Ask) -> Found:
    """For each operator of a group: grad of grad, and the change of grad along the same direction,
    that of ones.
    """
    figures, gradient = {}, GRADIENTS[ask.options["style"]]
    for name, x in given.OPERATORS[ask.options["group"]].items():
        dtype = given.dtype_of(name)
        asked = (FUNCTIONS[name], gradient, x, dtype)
        figures[name] = {
            "dtype": dtype,
            "change of first": given.tried(change, *asked),
            "second": given.tried(second, *asked),
        }
    return Found(figures)


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of ``function`` on the tape, kept differentiable."""

    def gradient(x: Any) -> Any:
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        return torch.autograd.grad(function(leaf).sum(), leaf, create_graph=True)[0]

    return gradient


def functional(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of ``function`` by ``torch.func``."""
    made: Callable[..., Any] = torch.func.grad(lambda x: function(x).sum())
    return made


GRADIENTS = {"tape": recorded, "func": functional}


def change(function: Any, gradient: Any, x: AnyArray, dtype: str) -> Any:
    """The central difference of the first derivative along ones."""
    step = given.STEPS[dtype]
    up, down = (
        gradient(function)(torch.tensor((x + shift).astype(dtype))).detach().double()
        for shift in (step, -step)
    )
    return given.sampled(((up - down) / (2 * step)).numpy())["elements"]


def second(function: Any, gradient: Any, x: AnyArray, dtype: str) -> Any:
    """The gradient of the sum of the gradient."""
    made = gradient(gradient(function))(torch.tensor(x.astype(dtype)))
    return given.sampled(made.detach().numpy())["elements"]


# The operators: each becomes a number by a sum, and is not linear


def power(x: Any) -> Any:
    return (x**3).sum()


def exponential(x: Any) -> Any:
    return torch.exp(x).sum()


def square_root(x: Any) -> Any:
    return torch.sqrt(x).sum()


def quotient(x: Any) -> Any:
    return (1 / x).sum()


def tanh(x: Any) -> Any:
    return torch.tanh(x).sum()


def gelu(x: Any) -> Any:
    return F.gelu(x).sum()


def where(x: Any) -> Any:
    return torch.where(x > 1, x**3, x**2).sum()


def sine_of_view(x: Any) -> Any:
    return torch.sin(x.reshape(4, 1)).sum()


def cube_of_sum(x: Any) -> Any:
    return x.sum() ** 3


def cube_of_mean(x: Any) -> Any:
    return x.mean() ** 3


def norm(x: Any) -> Any:
    return torch.linalg.vector_norm(x)


def greatest(x: Any) -> Any:
    return x.amax() ** 3


def matrix_product(x: Any) -> Any:
    return (torch.matmul(x, x) ** 2).sum()


def transpose(x: Any) -> Any:
    return (x.mT**3).sum()


def concatenation(x: Any) -> Any:
    return (torch.cat((x, x * x)) ** 2).sum()


def broadcast(x: Any) -> Any:
    return ((x[:, None] * x[None]) ** 2).sum()


def softmax(x: Any) -> Any:
    return (torch.softmax(x * x, -1) ** 2).sum()


def log_softmax(x: Any) -> Any:
    return (torch.log_softmax(x * x, -1) ** 2).sum()


def cross_entropy(x: Any) -> Any:
    return F.cross_entropy(x * x, torch.tensor([0, 1]))


def convolution(x: Any) -> Any:
    return (F.conv2d(x, torch.ones((1, 1, 2, 2), dtype=x.dtype)) ** 3).sum()


def batch_norm(x: Any) -> Any:
    mean, variance, weight, bias = (
        torch.tensor([value], dtype=x.dtype) for value in (0.1, 2.0, 1.5, 0.25)
    )
    return (F.batch_norm(x * x, mean, variance, weight, bias, training=True) ** 3).sum()


def max_pooling(x: Any) -> Any:
    return (F.max_pool2d(x, 2, 2) ** 3).sum()


def average_pooling(x: Any) -> Any:
    return (F.avg_pool2d(x, 2, 2) ** 3).sum()


def attention(x: Any) -> Any:
    return (torch.matmul(torch.softmax(torch.matmul(x, x.mT), -1), x) ** 2).sum()


def flash_attention(x: Any) -> Any:
    return (F.scaled_dot_product_attention(x, x, x) ** 2).sum()


FUNCTIONS = {name: globals()[name] for names in given.OPERATORS.values() for name in names}
