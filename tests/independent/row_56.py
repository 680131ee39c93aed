"""Row 56: five kinds of decay over twenty steps, from 0.1 (the cosine to 0.01 within ten)."""

import math
from typing import Any

STEPS = range(20)


def closed_form() -> dict[str, Any]:
    """By the formulas of MindSpore's documents."""
    return {
        "exponential": [0.1 * 0.9**step for step in STEPS],
        "natural exponential": [0.1 * math.exp(-0.5 * step) for step in STEPS],
        "inverse": [0.1 / (1 + 0.5 * step) for step in STEPS],
        "cosine": [0.01 + 0.045 * (1 + math.cos(math.pi * min(step, 10) / 10)) for step in STEPS],
        "cosine that turns": [0.01 + 0.045 * (1 + math.cos(math.pi * step / 10)) for step in STEPS],
        "polynomial": [0.1 * (1 - min(step, 10) / 10) ** 2 for step in STEPS],
    }
