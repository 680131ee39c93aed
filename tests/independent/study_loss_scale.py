"""The study of loss scaling: the share of 256 gradients that float16 loses, by the scale 2^0 to 2^24."""

from typing import Any

import numpy as np


def closed_form() -> dict[str, Any]:
    """Gradients are products of an activation and a scaled slope, each rounded to float16."""
    generator = np.random.default_rng(0)
    activations = (1 + generator.integers(0, 8, 256) / 8) * 2.0 ** generator.integers(-8, 1, 256)
    slopes = (2.0 ** generator.uniform(-26, 0, 256)).astype(np.float32)
    underflow, overflow = [], []
    for exponent in range(25):
        with np.errstate(over="ignore"):
            scaled = (slopes * np.float32(2.0**exponent)).astype(np.float16)
            gradients = activations.astype(np.float16) * scaled
        underflow.append(float((gradients == 0).mean()))
        overflow.append(float((~np.isfinite(gradients)).mean()))
    return {"underflow": underflow, "overflow": overflow}
