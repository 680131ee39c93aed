"""Row 14: what float16, bfloat16 and float32 hold of a gradient of 1e-8, with and without a scale of 65536.

The gradient is the product of an activation and a slope of 1e-4 each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.independent.attempts import attempt

FACTOR, SCALE = 1e-4, 65536.0


def closed_form() -> dict[str, Any]:
    """By rounding each number to the dtype, to the nearest, ties to even."""
    roundings: dict[str, Callable[[float], float]] = {
        "float16": _float16,
        "bfloat16": _bfloat16,
        "float32": _float32,
    }
    figures = {}
    for dtype, rounded in roundings.items():
        gradient = rounded(rounded(FACTOR) * rounded(FACTOR))
        scaled = rounded(rounded(FACTOR) * rounded(SCALE * rounded(FACTOR)))
        figures[dtype] = {
            "without": gradient,
            "scaled": scaled,
            "unscaled there": rounded(scaled / SCALE),
            "unscaled in float32": _float32(scaled / SCALE),
        }
    return figures


def _float16(value: float) -> float:
    return float(np.float16(value))


def _float32(value: float) -> float:
    return float(np.float32(value))


def _bfloat16(value: float) -> float:
    # A bfloat16 is the upper half of a float32.
    bits = int(np.float32(value).view(np.uint32))
    halfway = 0x7FFF + ((bits >> 16) & 1)
    upper = (bits + halfway) & 0xFFFF0000
    return float(np.uint32(upper).view(np.float32))


def in_torch() -> dict[str, Any]:
    """What becomes of unscaling in float16."""
    import torch

    weight = torch.ones(1, dtype=torch.float16, requires_grad=True)
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=SCALE)
    scaler.scale(torch.ones(()))
    return {"unscaled there": attempt(scaler.unscale_, optimizer)}
