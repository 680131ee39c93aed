"""Row 84: second derivatives of (Σx)³, Σ(xᵢ·xⱼ)² and |A·sin x|² at (1, 2), A being [[1, 2], [0, 1]]."""

from typing import Any

import numpy as np

POINT = (1.0, 2.0)
MATRIX = ((1.0, 2.0), (0.0, 1.0))


def closed_form() -> dict[str, Any]:
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


def in_torch() -> dict[str, Any]:
    """The Hessian by forward mode over reverse mode, and its rows' sums by reverse mode twice."""
    import torch

    matrix, x = torch.tensor(MATRIX), torch.tensor(POINT, requires_grad=True)

    def product(x: Any) -> Any:
        return (matrix @ x.sin()).square().sum()

    (gradient,) = torch.autograd.grad(product(x), x, create_graph=True)
    (twice,) = torch.autograd.grad(gradient.sum(), x)
    return {"product": twice.tolist(), "Hessian": torch.func.hessian(product)(x).tolist()}


def in_mindspore() -> dict[str, Any]:
    """The rows' sums by nesting grad, and the Hessian by jacfwd over grad."""
    import mindspore as ms
    from mindspore import ops

    matrix = ms.Tensor(MATRIX, ms.float32)

    def cube_of_sum(x: Any) -> Any:
        total = x.sum()
        return total * total * total

    def broadcast(x: Any) -> Any:
        return ((x.reshape(2, 1) * x.reshape(1, 2)) ** 2).sum()

    def with_vector(x: Any) -> Any:
        return (ops.matmul(matrix, ops.sin(x)) ** 2).sum()

    def with_column(x: Any) -> Any:
        return (ops.matmul(matrix, ops.sin(x).reshape(2, 1)) ** 2).sum()

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
