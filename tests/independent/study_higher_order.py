"""The study of higher orders: the row sums of two Hessians at [0.3, 0.9, 1.5, 2.1]."""

from typing import Any

import numpy as np

VECTOR = np.array([0.3, 0.9, 1.5, 2.1])


def closed_form() -> dict[str, Any]:
    """Of Σ x² + x⁴, made by a concatenation, and of Σ (x_i·x_j)², made by a broadcast."""
    squares = VECTOR**2
    return {
        "concatenation": (12 * squares + 2).tolist(),
        "broadcast": (4 * squares.sum() + 8 * VECTOR * VECTOR.sum()).tolist(),
    }


def in_mindspore() -> dict[str, Any]:
    """What nested grad returns of them, which on the tape is wrong without a message."""
    import mindspore as ms
    from mindspore import ops

    def concatenation(x: Any) -> Any:
        return (ops.cat((x, x * x)) ** 2).sum()

    def broadcast(x: Any) -> Any:
        return ((x.reshape(4, 1) * x) ** 2).sum()

    return {
        "concatenation": _twice(concatenation, ms),
        "broadcast": _twice(broadcast, ms),
    }


def _twice(function: Any, ms: Any) -> Any:
    gradient_of = ms.grad(function)

    def summed_gradient(x: Any) -> Any:
        return gradient_of(x).sum()

    return ms.grad(summed_gradient)(ms.Tensor(VECTOR)).asnumpy().tolist()
