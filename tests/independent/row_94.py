"""Row 94: a loss in float16 that looks sound, and its gradient, which is above 65504."""

from typing import Any

import numpy as np

X, FACTOR = 0.01, 300.0


def closed_form() -> dict[str, Any]:
    """x·300·300, each product rounded to float16, and whether 300·300 is a float16."""
    once = np.float16(np.float16(X) * np.float16(FACTOR))
    with np.errstate(over="ignore"):
        slope = np.float16(FACTOR) * np.float16(FACTOR)
    finite = bool(np.isfinite(slope))
    return {
        "loss": float(np.float16(once * np.float16(FACTOR))),
        "loss is finite": bool(np.isfinite(np.float16(once * np.float16(FACTOR)))),
        "gradient": float(slope) if finite else "not finite",
    }
