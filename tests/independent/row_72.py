"""Row 72: the distributions that the documents give for initial values, by bound and deviation."""

from typing import Any

import numpy as np


def closed_form() -> dict[str, Any]:
    """Of a convolution from 8 to 16 channels (3×3), a dense layer from 64 to 48, an LSTM from 40 to 64."""
    fan_in, fan_out = 8 * 9, 16 * 9
    return {
        "conv": _uniform(1 / np.sqrt(fan_in)),
        "dense": _uniform(1 / np.sqrt(64)),
        "lstm": _uniform(1 / np.sqrt(64)),
        "embedding in MindSpore": 0.01,
        "embedding in PyTorch": 1.0,
        "conv in Keras": _uniform(np.sqrt(6 / (fan_in + fan_out))),
        "dense in Keras": _uniform(np.sqrt(6 / (64 + 48))),
        "embedding in Keras": _uniform(0.05),
        "lstm in Keras": _uniform(np.sqrt(6 / (40 + 4 * 64))),
        # Of four gates, the forget gate's bias starts from 1.
        "lstm bias in Keras": {"minimum": 0.0, "maximum": 1.0, "std": 3**0.5 / 4},
        "scale": _constant(1.0),
        "shift": _constant(0.0),
    }


def _uniform(bound: float) -> dict[str, float]:
    """Of numbers that are evenly spread between ±bound."""
    bound = float(bound)
    return {"minimum": -bound, "maximum": bound, "std": bound / 3**0.5}


def _constant(value: float) -> dict[str, float]:
    return {"minimum": value, "maximum": value, "mean": value, "std": 0.0}
