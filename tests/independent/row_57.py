"""Row 57: one step at a rate of 0.1 from a weight of 1 whose gradient is 0, with a decay of 0.1."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """SGD adds the decay to the gradient; Adam then takes its sign; AdamW shrinks the weight itself."""
    decay = 0.1 * 1.0
    return {
        "SGD": 1 - 0.1 * decay,
        "Adam": 1 - 0.1 * decay / (decay**2) ** 0.5,
        "AdamW": 1 * (1 - 0.1 * 0.1),
        "AdamW by default": 1 * (1 - 0.1 * 0.01),
        "none": 1.0,
        "none of four": [1.0] * 4,
    }
