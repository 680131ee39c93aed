"""Row 31: Σ a·b where one tensor is passed as both a and b."""

from typing import Any

import numpy as np

VALUES = np.array([1.0, 2.0, 3.0], np.float32)


def in_torch() -> dict[str, Any]:
    """On the tape, and with torch.func, which differentiates a function of two arguments."""
    import torch

    def product_sum(a: Any, b: Any) -> Any:
        return (a * b).sum()

    x = torch.tensor(VALUES, requires_grad=True)
    (on_the_tape,) = torch.autograd.grad(product_sum(x, x), x)
    plain = torch.tensor(VALUES)
    of_the_function = torch.func.grad(product_sum)(plain, plain)
    return {"tape": on_the_tape.tolist(), "function": of_the_function.tolist()}


def in_mindspore() -> dict[str, Any]:
    """By grad, with respect to either position."""
    import mindspore as ms

    def product_sum(a: Any, b: Any) -> Any:
        return (a * b).sum()

    x = ms.Tensor(VALUES)
    by_a = ms.grad(product_sum, 0)(x, x)
    by_b = ms.grad(product_sum, 1)(x, x)
    return {"a": by_a.asnumpy().tolist(), "b": by_b.asnumpy().tolist()}
