"""The advice on surprises of PyTorch, at negative numbers too."""

import contextlib
from typing import Any

import numpy as np
import torch

from tests.independent.advice.checks import close, raises, reproducer

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


def surprise_custom_saved() -> None:
    """Saved inputs, or the intermediate returned: second derivatives are right, below zero too."""
    functions = reproducer("custom_saved").FUNCTIONS
    for name in ("saves x", "returns x * x too"):
        for point in (2.0, -2.0, -0.5):
            x = torch.tensor(point, requires_grad=True)
            (first,) = torch.autograd.grad(functions[name](x), x, create_graph=True)
            (second,) = torch.autograd.grad(x * first, x)
            close(first, 3 * point**2)
            close(second, 9 * point**2)


def surprise_compiled_multilabel() -> None:
    """Written out, compiled or not, the loss has the tape's value and gradient."""
    program = reproducer("compiled_multilabel")
    scores = torch.tensor([[-0.1, 0.2, -1.4, 0.8]])
    for function in (
        program.written_out,
        torch.compile(program.written_out, backend="aot_eager_decomp_partition"),
    ):
        found = [_value_and_gradient(each, scores) for each in (function, program.loss)]
        close(found[0][0], found[1][0])
        close(found[0][1], found[1][1])


def _value_and_gradient(function: Any, values: Any) -> tuple[Any, Any]:
    x = values.clone().requires_grad_()
    value = function(x)
    (gradient,) = torch.autograd.grad(value, x)
    return value, gradient


def surprise_forward_mode_no_grad() -> None:
    """detach() holds in both modes."""

    def detached(x: Any) -> Any:
        return x * (x * x).detach()

    x = torch.tensor(-2.0)
    close(torch.func.jacfwd(detached)(x), 4)
    close(torch.func.jacrev(detached)(x), 4)


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


def surprise_same_tensor_twice() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (x * x.detach().clone()).sum().backward()
    close(x.grad, [-1, 2])
    square = torch.tensor([-1.0, 2.0], requires_grad=True)
    (square * square).sum().backward()
    close(square.grad, [-2, 4])
