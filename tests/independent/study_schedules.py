"""The study of schedules: half a cosine from 0.1 to 0.01 in ten steps, and what comes after it."""

import math
from typing import Any


def closed_form() -> dict[str, Any]:
    """The cosine that goes on, as PyTorch's does, and the one that stays at its end, as MindSpore's."""
    wave = [0.01 + 0.045 * (1 + math.cos(math.pi * step / 10)) for step in range(20)]
    return {"goes on": wave, "stays": wave[:10] + [0.01] * 10}
