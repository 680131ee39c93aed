"""Row 80: has_aux with one output, with a tuple of one, and with two, of Σ(3x)² at (1, 2, 3)."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

X = np.array([1, 2, 3], np.float32)


def closed_form() -> dict[str, Any]:
    """The gradient of the loss with the other output, 3x, beside it."""
    return {"gradient": (18 * X).tolist(), "beside": (3 * X).tolist()}


def loss(x: Any) -> Any:
    """The loss alone."""
    return ((3 * x) ** 2).sum()


def loss_in_a_tuple(x: Any) -> Any:
    """The loss in a tuple of one."""
    return (((3 * x) ** 2).sum(),)


def loss_and_logits(x: Any) -> Any:
    """The loss, and 3x beside it."""
    return ((3 * x) ** 2).sum(), 3 * x


FORMS = {"one": loss, "a tuple of one": loss_in_a_tuple, "two": loss_and_logits}


def in_torch() -> dict[str, Any]:
    """By torch.func.grad."""
    import torch

    def gradient(function: Any) -> Any:
        return _plain(torch.func.grad(function, has_aux=True)(torch.tensor(X)))

    return {name: attempt(gradient, function) for name, function in FORMS.items()}


def in_mindspore() -> dict[str, Any]:
    """By mindspore.grad."""
    import mindspore as ms

    def gradient(function: Any) -> Any:
        return _plain(ms.grad(function, 0, None, has_aux=True)(ms.Tensor(X)))

    return {name: attempt(gradient, function) for name, function in FORMS.items()}


def _plain(result: Any) -> Any:
    if isinstance(result, tuple):
        return [_plain(part) for part in result]
    return result.tolist()
