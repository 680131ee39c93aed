"""The advice on surprises of PyTorch, at negative numbers too."""

import contextlib

import numpy as np
import torch

from tests.independent.advice import torch_rows
from tests.independent.advice.checks import close, raises

FACTORS = ([2.0, 3.0, 0.5], [1e-30, 1e30, 2.0])


def surprise_product_create_graph() -> None:
    """In float64 where a factor is 0 or negative, by logarithms where all are positive."""
    x = torch.tensor([-1e30, 1e30, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    close(gradient, [0, 0, 0, 0])
    for factors in FACTORS:
        x = torch.tensor(factors, requires_grad=True)
        product = x.log().sum().exp()
        (gradient,) = torch.autograd.grad(product, x, create_graph=True)
        right = np.prod(factors) / np.array(factors)
        np.testing.assert_allclose(gradient.detach().numpy(), right, rtol=1e-4)


def surprise_repeated_scatter() -> None:
    """Values that are to add up do so by scatter_add, and each has the gradient that it should."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    added = torch.zeros(3).scatter_add(0, torch.tensor([1, 1]), x)
    (added**2).sum().backward()
    close(added, [0, 1, 0])
    close(x.grad, [2, 2])


def surprise_second_backward() -> None:
    """zero_grad() after the error: the next backward has its own gradient alone."""
    a, b = (torch.tensor(value, requires_grad=True) for value in (-1.0, 0.5))
    optimizer = torch.optim.SGD([a, b], 0.1)
    loss = a + torch.exp(b)
    loss.backward()
    optimizer.zero_grad()
    with contextlib.suppress(RuntimeError):
        loss.backward()
    optimizer.zero_grad()
    (a + torch.exp(b)).backward()
    close(a.grad, 1)
    close(b.grad, np.exp(0.5))


def surprise_saved_on_cpu() -> None:
    """Run once without hooks, an update in place of what is saved is noticed."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = torch.exp(x)
    y.add_(1.0)
    assert "inplace" in raises((RuntimeError,), lambda: y.sum().backward())


surprise_same_tensor_twice = torch_rows.row_31
