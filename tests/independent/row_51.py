"""Row 51: the gradients of the sum of squares of what several operators return, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.independent import drawn


def in_torch() -> dict[str, Any]:
    """By operator, first with respect to each operand, then of that one's sum by the input."""
    import torch
    from torch.nn import functional

    image = np.arange(9.0).reshape(1, 1, 3, 3) / 10
    axes = np.arange(24.0).reshape(1, 2, 3, 4) / 10
    pairs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "transpose": (_reversed_axes, (axes,)),
        "max pool, valid": (_max_pool, (image,)),
        "average pool, valid": (_average_pool, (drawn.PICTURES,)),
        "convolution, valid": (
            _strided_convolution,
            (drawn.PICTURES, drawn.VALID_WEIGHT, drawn.VALID_BIAS),
        ),
        "dense": (functional.linear, (drawn.ROWS, drawn.ROWS_WEIGHT, drawn.ROWS_BIAS)),
        "layer norm": (_layer_norm, (drawn.LAYER, drawn.LAYER_WEIGHT, drawn.LAYER_BIAS)),
        "gelu, exact": (_gelu, (np.linspace(-4, 4, 33),)),
        "dropout, inference": (_same, (drawn.PICTURES,)),
    }
    figures = {}
    for name, (operator, arrays) in pairs.items():
        operands = [torch.tensor(values).double().requires_grad_() for values in arrays]
        figures[name] = _gradients(operator, operands)
    return figures


def _gradients(operator: Callable[..., Any], operands: list[Any]) -> dict[str, Any]:
    import torch

    total = (operator(*operands) ** 2).sum()
    first = torch.autograd.grad(total, operands, create_graph=True)
    (second,) = torch.autograd.grad(first[0].sum(), operands[0])
    return {"first": [gradient.tolist() for gradient in first], "second": second.tolist()}


def _strided_convolution(x: Any, weight: Any, bias: Any) -> Any:
    from torch.nn import functional

    return functional.conv2d(x, weight, bias, stride=2)


def _reversed_axes(x: Any) -> Any:
    return x.permute(3, 2, 1, 0)


def _max_pool(x: Any) -> Any:
    return x[:, :, :2, :2].amax((2, 3))


def _average_pool(x: Any) -> Any:
    return x.reshape(2, 2, 3, 2, 3, 2).mean((3, 5))


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(1, keepdim=True)
    variance = (centred**2).mean(1, keepdim=True)
    return centred / (variance + 1e-5).sqrt() * weight + bias


def _gelu(x: Any) -> Any:
    import torch

    return x * (1 + torch.erf(x / np.sqrt(2))) / 2


def _same(x: Any) -> Any:
    return x
