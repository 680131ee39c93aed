"""Row 13: which pairs of tensors are finite all through."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

CASES = {
    "finite numbers": [[1.0, -2.0], [3.0]],
    "zeros": [[0.0, 0.0], [0.0]],
    "inf": [[1.0, np.inf], [3.0]],
    "-inf": [[1.0, -np.inf], [3.0]],
    "nan": [[1.0, np.nan], [3.0]],
    "inf in the last of two tensors": [[1.0, -2.0], [np.inf]],
    "the greatest float16": [[1.0, 65504.0], [3.0]],
}
DTYPES = ("float16", "float32")


def closed_form() -> dict[str, Any]:
    """By numpy's isfinite."""
    figures = {}
    for dtype in DTYPES:
        for name, tensors in CASES.items():
            finite = [np.isfinite(np.array(tensor, dtype)).all() for tensor in tensors]
            figures[f"{name}, {dtype}"] = bool(all(finite))
    return figures


def in_mindspore() -> dict[str, Any]:
    """By mindspore.amp.all_finite."""
    import mindspore as ms

    figures = {}
    for dtype in DTYPES:
        for name, tensors in CASES.items():
            pair = tuple(ms.Tensor(np.array(tensor, dtype)) for tensor in tensors)
            figures[f"{name}, {dtype}"] = bool(ms.amp.all_finite(pair))
    return figures


def in_torch() -> dict[str, Any]:
    """By GradScaler, which refuses float16."""
    import torch

    figures: dict[str, Any] = {}
    for dtype in DTYPES:
        for name, tensors in CASES.items():
            parameters = []
            for tensor in tensors:
                values = torch.tensor(tensor, dtype=getattr(torch, dtype))
                parameter = torch.zeros_like(values).requires_grad_()
                parameter.grad = values
                parameters.append(parameter)
            figures[f"{name}, {dtype}"] = attempt(_steps, parameters)
    return figures


def _steps(parameters: list[Any]) -> bool:
    """Whether a step is taken, which moves the weights, or left out."""
    import torch

    optimizer = torch.optim.SGD(parameters, 1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
    scaler.scale(torch.ones(()))
    scaler.unscale_(optimizer)
    state = scaler._found_inf_per_device(optimizer)
    return not any(bool(found) for found in state.values())
