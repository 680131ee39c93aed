"""The figures of the claims on second and higher derivatives, and of their study."""

from typing import Any

import numpy as np

from tests.independent import mindspore_ir

# Row 26: derivatives of eˣ·sin x at 0.7 of orders 1 to 4, and second derivatives of functions of vectors.
AT = 0.7
ORDERS = (1, 2, 3, 4)
VECTOR = np.array([0.3, 0.9, 1.5, 2.1])


def row_26_closed_form() -> dict[str, Any]:
    """The derivative of order n is 2^(n/2)·eˣ·sin(x + n·π/4)."""
    figures: dict[str, Any] = {}
    for order in ORDERS:
        value = 2 ** (order / 2) * np.exp(AT) * np.sin(AT + order * np.pi / 4)
        figures[f"order {order}"] = [float(value)]

    # The sums of the rows of the Hessians of (Σx)³, of the mean's cube, and of the norm.
    total, norm = VECTOR.sum(), np.sqrt((VECTOR**2).sum())
    figures["cube of sum"] = [float(4 * 6 * total)] * 4
    figures["cube of mean"] = [float(4 * 6 * total / 4**3)] * 4
    figures["norm"] = ((1 - VECTOR * total / norm**2) / norm).tolist()
    return figures


def row_26_in_torch(torch: Any) -> dict[str, Any]:
    """How many operators run in forward and backward, order by order."""
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
    x = torch.tensor(AT, dtype=torch.float64, requires_grad=True)
    with Counting() as counting:
        value = x.exp() * x.sin()
        for order in ORDERS:
            (value,) = torch.autograd.grad(value, x, create_graph=True)
            figures[f"operators {order}"] = counting.count
    return figures


def row_26_in_mindspore_graph(ms: Any) -> dict[str, Any]:
    """How many operators are in the graph of grad nested that often."""

    def wave(x: Any) -> Any:
        return ms.ops.exp(x) * ms.ops.sin(x)

    function: Any = wave
    figures = {}
    for order in ORDERS:
        function = ms.grad(function)
        function(ms.Tensor(np.array(AT)))
        figures[f"operators {order}"] = len(mindspore_ir.graphs()[-1])
    return figures


def row_26_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """The gradient of the sum of the first derivative, by nesting grad."""

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


# Row 84: second derivatives of (Σx)³, Σ(xᵢ·xⱼ)² and |A·sin x|² at (1, 2), A being [[1, 2], [0, 1]].
POINT = (1.0, 2.0)
MATRIX = ((1.0, 2.0), (0.0, 1.0))


def row_84_closed_form() -> dict[str, Any]:
    """The Hessian of |A·sin x|², and the sums of the rows of all three."""
    x, a = np.array(POINT), np.array(MATRIX)
    squares = a.T @ a
    product = 2 * squares * np.outer(np.cos(x), np.cos(x))
    product -= 2 * np.diag(np.sin(x) * (squares @ np.sin(x)))
    broadcast = 8 * np.outer(x, x) + 4 * (x**2).sum() * np.eye(2)
    return {
        "cube of sum": [6.0 * x.sum() * 2] * 2,
        "broadcast": broadcast.sum(1).tolist(),
        "product": product.sum(1).tolist(),
        "Hessian": product.tolist(),
    }


def row_84_in_mindspore(ms: Any) -> dict[str, Any]:
    """The rows' sums by nesting grad, and the Hessian by jacfwd over grad."""
    matrix = ms.Tensor(MATRIX, ms.float32)

    def cube_of_sum(x: Any) -> Any:
        total = x.sum()
        return total * total * total

    def broadcast(x: Any) -> Any:
        return ((x.reshape(2, 1) * x.reshape(1, 2)) ** 2).sum()

    def with_vector(x: Any) -> Any:
        return (ms.ops.matmul(matrix, ms.ops.sin(x)) ** 2).sum()

    def with_column(x: Any) -> Any:
        return (ms.ops.matmul(matrix, ms.ops.sin(x).reshape(2, 1)) ** 2).sum()

    def twice(function: Any) -> Any:
        return ms.grad(ms.grad(function))(ms.Tensor(POINT, ms.float32)).asnumpy().tolist()

    def hessian(function: Any) -> Any:
        return ms.jacfwd(ms.grad(function))(ms.Tensor(POINT, ms.float32)).asnumpy().tolist()

    return {
        "cube of sum": twice(cube_of_sum),
        "broadcast": twice(broadcast),
        "vector": twice(with_vector),
        "column": twice(with_column),
        "Hessian, vector": hessian(with_vector),
        "Hessian, column": hessian(with_column),
    }


# The study of higher orders: the row sums of two Hessians at [0.3, 0.9, 1.5, 2.1].
def study_higher_order_closed_form() -> dict[str, Any]:
    """Of Σ x² + x⁴, made by a concatenation, and of Σ (x_i·x_j)², made by a broadcast."""
    squares = VECTOR**2
    return {
        "concatenation": (12 * squares + 2).tolist(),
        "broadcast": (4 * squares.sum() + 8 * VECTOR * VECTOR.sum()).tolist(),
    }


def study_higher_order_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """What nested grad returns of the concatenation, which on the tape is wrong without a message."""

    def concatenation(x: Any) -> Any:
        return (ms.ops.cat((x, x * x)) ** 2).sum()

    return {"concatenation": _twice(concatenation, ms)}
