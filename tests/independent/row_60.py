"""Row 60: three steps of momentum from [1, 2, 3] with gradients of 1, as the guide prints it and as it is."""

from typing import Any

import numpy as np

RATE, MOMENTUM = 0.1, 0.9


def closed_form() -> dict[str, Any]:
    """The weights after each step."""
    gradient = np.ones(3)
    printed, weight = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    kept, velocity = np.zeros(3), np.zeros(3)
    figures: dict[str, Any] = {"as printed": [], "as meant": []}
    for _ in range(3):
        # The guide assigns the update to the weight, and never moves what it keeps.
        printed = MOMENTUM * printed + kept + RATE * gradient
        velocity = MOMENTUM * velocity + gradient
        weight = weight - RATE * velocity
        figures["as printed"].append(printed.tolist())
        figures["as meant"].append(weight.tolist())
    return figures
