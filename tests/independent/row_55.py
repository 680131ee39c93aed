"""Row 55: an exponential schedule from 0.1 by 0.9, as used at each step and as said after it."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """The powers of 0.9."""
    return {
        "used": [0.1 * 0.9**step for step in range(5)],
        "said": [0.1 * 0.9 ** (step + 1) for step in range(5)],
        "never stepped": [0.1] * 5,
    }
