"""Row 22: the derivative of x³, at inputs of several shapes."""

from typing import Any

import numpy as np

INPUTS = ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]])


def closed_form() -> dict[str, Any]:
    """3x²."""
    return {
        "inputs": list(INPUTS),
        "gradients": [(3 * np.square(values)).tolist() for values in INPUTS],
    }
