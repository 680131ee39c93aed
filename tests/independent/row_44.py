"""Row 44: reversing the axes of a tensor of shape (1, 2, 3, 4), and swapping the outer two."""

from typing import Any

import numpy as np


def closed_form() -> dict[str, Any]:
    """Shapes and elements by numpy's indices."""
    values = np.arange(24.0).reshape(1, 2, 3, 4)
    reversed_axes = [values[0, b, c, d] for d in range(4) for c in range(3) for b in range(2)]
    swapped = [values[0, b, c, d] for d in range(4) for b in range(2) for c in range(3)]
    return {
        "reversed": {"shape": [4, 3, 2, 1], "elements": [float(value) for value in reversed_axes]},
        "swapped": {"shape": [4, 2, 3, 1], "elements": [float(value) for value in swapped]},
    }
