"""Row 82: what grad takes as positions and as weights, of (w·x) y at x = (1, 2), y = 4, w = (2, 3)."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

X, Y, W = ([[1.0, 2.0]], [[4.0]], [[2.0, 3.0]])

POSITIONS: dict[str, Any] = {
    "0": 0,
    "1": 1,
    "(0, 1)": (0, 1),
    "'0'": "0",
    "True": True,
    "[0, 1]": [0, 1],
    "()": (),
    "-1": -1,
    "(0, 0)": (0, 0),
    "2": 2,
}


def closed_form() -> dict[str, Any]:
    """The gradients with respect to x, y and w, each y, w·x and x times what remains."""
    x, y, w = np.array(X), np.array(Y), np.array(W)
    by_x, by_y, by_w = (y * w).tolist(), (x @ w.T).tolist(), (y * x).tolist()
    return {"0": by_x, "1": by_y, "(0, 1)": [by_x, by_y], "weight": by_w, "weights": [by_w]}


def in_torch() -> dict[str, Any]:
    """Positions as torch.func.grad takes them, and weights as autograd.grad does."""
    import torch

    weight = torch.tensor(W, requires_grad=True)

    def function(x: Any, y: Any) -> Any:
        return ((x * weight).sum() * y).sum()

    def by_position(position: Any) -> Any:
        arguments = torch.tensor(X), torch.tensor(Y)
        return _plain(torch.func.grad(function, position)(*arguments))

    def by_weights(weights: Any) -> Any:
        return _plain(torch.autograd.grad(function(torch.tensor(X), torch.tensor(Y)), weights))

    forms = {
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "weight",
        "Tensor": torch.tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [torch.zeros(1, requires_grad=True)],
    }
    return {
        "positions": {name: attempt(by_position, form) for name, form in POSITIONS.items()},
        "weights": {name: attempt(by_weights, form) for name, form in forms.items()},
    }


def in_mindspore() -> dict[str, Any]:
    """Positions and weights as mindspore.grad takes them."""
    import mindspore as ms

    weight = ms.Parameter(ms.Tensor(W, ms.float32), name="weight")

    def function(x: Any, y: Any) -> Any:
        return ((x * weight).sum() * y).sum()

    def gradient(position: Any, weights: Any) -> Any:
        arguments = ms.Tensor(X, ms.float32), ms.Tensor(Y, ms.float32)
        return _plain(ms.grad(function, position, weights)(*arguments))

    forms = {
        "ParameterTuple": ms.ParameterTuple([weight]),
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "weight",
        "Tensor": ms.Tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [ms.Parameter(ms.Tensor([0.0]), name="stranger")],
    }
    return {
        "positions": {name: attempt(gradient, form, None) for name, form in POSITIONS.items()},
        "weights": {name: attempt(gradient, None, form) for name, form in forms.items()},
    }


def _plain(result: Any) -> Any:
    if isinstance(result, tuple | list):
        return [_plain(part) for part in result]
    return result.tolist()
