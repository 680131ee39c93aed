"""Row 86: the float16 gradient of x² at 40, with and without a scale of 1024."""

from typing import Any

import numpy as np

X, SCALE = 40.0, 1024.0


def closed_form() -> dict[str, Any]:
    """2·x, and the same times the scale, each rounded to float16: the second is above 65504."""
    return {"unscaled": _in_half(2 * X), "scaled": _in_half(2 * X * SCALE)}


def _in_half(number: float) -> float | str:
    with np.errstate(over="ignore"):
        rounded = float(np.float16(number))
    return rounded if np.isfinite(rounded) else "not finite"
