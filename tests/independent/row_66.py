"""Row 66: one step of SGD at a rate of 0.1 from a weight of 1 with a gradient of 4 and a loss scale of 4."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """The gradient divided by the scale, the gradient itself, and the former with a decay of 0.1."""
    divided = 4 / 4
    return {
        "scaled": 1 - 0.1 * divided,
        "whole": 1 - 0.1 * 4,
        "divided by hand": 1 - 0.1 * divided,
        "scaled, decayed": 1 - 0.1 * (divided + 0.1 * 1),
    }
