"""Row 26: derivatives of eˣ·sin x at 0.7 of orders 1 to 4, and second derivatives of functions of vectors."""

from typing import Any

import numpy as np

from tests.independent import mindspore_ir

X = 0.7
ORDERS = (1, 2, 3, 4)
VECTOR = np.array([0.3, 0.9, 1.5, 2.1])


def closed_form() -> dict[str, Any]:
    """The derivative of order n is 2^(n/2)·eˣ·sin(x + n·π/4)."""
    figures: dict[str, Any] = {}
    for order in ORDERS:
        value = 2 ** (order / 2) * np.exp(X) * np.sin(X + order * np.pi / 4)
        figures[f"order {order}"] = [float(value)]

    # The sums of the rows of the Hessians of (Σx)³, of the mean's cube, and of the norm.
    total, norm = VECTOR.sum(), np.sqrt((VECTOR**2).sum())
    figures["cube of sum"] = [float(4 * 6 * total)] * 4
    figures["cube of mean"] = [float(4 * 6 * total / 4**3)] * 4
    figures["norm"] = ((1 - VECTOR * total / norm**2) / norm).tolist()
    return figures


def in_torch() -> dict[str, Any]:
    """How many operators run in forward and backward, order by order."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    # Views of a tensor that is there, and the first cotangent, are no operators of the program.
    passed_over = {"aten.detach.default", "aten.ones_like.default"}

    class Counting(TorchDispatchMode):  # type: ignore[misc]  # not checked, see pyproject.toml
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.count += str(func) not in passed_over
            return func(*args, **(kwargs or {}))

    figures = {}
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    with Counting() as counting:
        value = x.exp() * x.sin()
        for order in ORDERS:
            (value,) = torch.autograd.grad(value, x, create_graph=True)
            figures[f"operators {order}"] = counting.count
    return figures


def in_mindspore_graph() -> dict[str, Any]:
    """How many operators are in the graph of grad nested that often."""
    import mindspore as ms
    from mindspore import ops

    def wave(x: Any) -> Any:
        return ops.exp(x) * ops.sin(x)

    function: Any = wave
    figures = {}
    for order in ORDERS:
        function = ms.grad(function)
        function(ms.Tensor(np.array(X)))
        figures[f"operators {order}"] = len(mindspore_ir.graphs()[-1])
    return figures


def in_mindspore() -> dict[str, Any]:
    """The gradient of the sum of the first derivative, by nesting grad."""
    import mindspore as ms

    def cube_of_sum(x: Any) -> Any:
        return x.sum() ** 3

    def cube_of_mean(x: Any) -> Any:
        return x.mean() ** 3

    def norm(x: Any) -> Any:
        return (x * x).sum().sqrt()

    return {
        "cube of sum": _twice(cube_of_sum, ms),
        "cube of mean": _twice(cube_of_mean, ms),
        "norm": _twice(norm, ms),
    }


def _twice(function: Any, ms: Any) -> Any:
    gradient_of = ms.grad(function)

    def summed_gradient(x: Any) -> Any:
        return gradient_of(x).sum()

    return ms.grad(summed_gradient)(ms.Tensor(VECTOR)).asnumpy().tolist()
