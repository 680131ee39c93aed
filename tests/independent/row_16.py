"""Row 16: clipping the gradients [3, 4] and [12], whose norm is 13."""

import inspect
from typing import Any

import numpy as np

GRADIENTS = ([3.0, 4.0], [12.0])


def closed_form() -> dict[str, Any]:
    """Each gradient times the norm allowed, over the norm, where that is less than 1."""
    norm = float(np.sqrt(sum(np.square(gradient).sum() for gradient in GRADIENTS)))
    figures: dict[str, Any] = {"norm": norm}
    for allowed in (1.0, 5.0, 20.0):
        share = min(1.0, allowed / norm)
        clipped = [(share * np.array(gradient)).tolist() for gradient in GRADIENTS]
        figures[f"to {allowed}"] = clipped
    return figures


def in_mindspore_tape() -> dict[str, Any]:
    """What clip_by_global_norm makes of them by default."""
    import mindspore as ms

    gradients = tuple(ms.Tensor(gradient, ms.float32) for gradient in GRADIENTS)
    clipped = ms.ops.clip_by_global_norm(gradients)
    norm = inspect.signature(ms.ops.clip_by_global_norm).parameters["clip_norm"].default
    return {
        "by default": [gradient.asnumpy().tolist() for gradient in clipped],
        "default": norm,
    }


def in_torch() -> dict[str, Any]:
    """What clip_grad_norm_ makes of them at norm 1."""
    import torch

    parameters = []
    for gradient in GRADIENTS:
        parameter = torch.zeros(len(gradient), requires_grad=True)
        parameter.grad = torch.tensor(gradient)
        parameters.append(parameter)
    norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    return {"norm": float(norm), "to 1.0": [parameter.grad.tolist() for parameter in parameters]}
