"""What the loss-scale study gives both frameworks: gradients spread over many magnitudes, batches;
and what counts as lost.
"""

from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray

DTYPES = ("float16", "bfloat16", "float32")
EXPONENTS = tuple(range(25))
"""The scales of the sweep are 2**0 … 2**24."""

COUNT = 256
SCALES_UNDONE = (1024.0, 1000.0, 3.0)
"""Scales that are taken back again: a power of two, and others."""

INITIAL, FACTOR, WINDOW = 2.0**18, 2, 3
BATCHES = (1.0,) * 9 + (32.0,) + (1.0,) * 6 + (0.125,) * 8
"""The gradient of each step before scaling: easy batches, one that is 32 times as steep, and a calm
end.
"""

FINITE_CASES = {
    "finite numbers": [[1.0, -2.0], [3.0]],
    "zeros": [[0.0, 0.0], [0.0]],
    "inf": [[1.0, np.inf], [3.0]],
    "-inf": [[1.0, -np.inf], [3.0]],
    "nan": [[1.0, np.nan], [3.0]],
    "inf in the last of two tensors": [[1.0, -2.0], [np.inf]],
    "the greatest float16": [[1.0, 65504.0], [3.0]],
}
"""Gradients of two weights, and what is in them."""


def spread() -> tuple[AnyArray, AnyArray]:
    """Activations (exact in every dtype) and the slopes that meet them; their products, the
    gradients, go from 2**-34 to 2.
    """
    draw = np.random.default_rng(0)
    activations = (1 + draw.integers(0, 8, COUNT) / 8) * 2.0 ** draw.integers(-8, 1, COUNT)
    slopes = 2.0 ** draw.uniform(-26, 0, COUNT)
    return activations.astype(np.float32), slopes.astype(np.float32)


def gradient() -> AnyArray:
    """A float32 gradient of ordinary size."""
    return np.random.default_rng(1).standard_normal(COUNT).astype(np.float32)


def losses(gradients: list[AnyArray]) -> dict[str, list[float]]:
    """Per scale: the share of gradients that are zero, the share not finite, and the mean relative
    error after unscaling.

    Both are against the gradient in float64; an element that is zero or not finite counts as wholly
    wrong, as 1.
    """
    activations, slopes = (each.astype(np.float64) for each in spread())
    true = activations * slopes
    rows: dict[str, list[float]] = {"underflow": [], "overflow": [], "error": []}
    for exponent, gradient in zip(EXPONENTS, gradients, strict=True):
        wide = gradient.astype(np.float64)
        lost = ~np.isfinite(wide) | (wide == 0)
        wrong = np.where(lost, 1.0, np.abs(np.where(lost, 0.0, wide) / 2.0**exponent - true) / true)
        rows["underflow"].append(float(np.mean(wide == 0)))
        rows["overflow"].append(float(np.mean(~np.isfinite(wide))))
        rows["error"].append(float(np.mean(wrong)))
    return rows


def turn(before: float, after: float, finite: bool, stepped: bool) -> dict[str, Any]:
    """One step of a scaler's life: its scale before and after, whether the gradients were finite,
    and whether weights moved.
    """
    return {"scale": before, "after": after, "finite": finite, "stepped": stepped}
