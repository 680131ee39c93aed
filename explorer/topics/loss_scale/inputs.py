"""The numbers that are scaled, and the life of a scaler that every framework runs."""

from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray

DTYPES = ("float16", "bfloat16", "float32")

EXPONENTS = tuple(range(25))
"""The scales of the sweep are 2**0 … 2**24."""

COUNT = 256
"""How many gradients the sweep and the unscaling have."""

TINY = 1e-8
"""A gradient that float16 cannot hold: its least number is 2**-24, about 6e-8."""

TINY_SCALE = 65536.0
"""The scale that brings TINY into the range of float16."""

SCALES_UNDONE = (1024.0, 1000.0, 3.0)
"""Scales that are taken back again: a power of two, and others."""

# The first scale is above the greatest float16, so that a gradient of 1 overflows at first.
INITIAL, FACTOR, WINDOW = 2.0**18, 2, 3
"""The settings of a dynamic scaler: its first scale, its factor, and its window.

The scale is multiplied or divided by the factor; the window is the number of finite steps between
two growths.
"""

BATCHES = (1.0,) * 9 + (32.0,) + (1.0,) * 6 + (0.125,) * 8
"""The gradient of each step before scaling.

Easy batches, one that is 32 times as steep, and a calm end.
"""

LIMIT_STEPS = 7
"""How many overflows, or steps without one, take a scale to its limit."""

FINITE_CASES = {
    "finite numbers": [[1.0, -2.0], [3.0]],
    "zeros": [[0.0, 0.0], [0.0]],
    "inf": [[1.0, np.inf], [3.0]],
    "-inf": [[1.0, -np.inf], [3.0]],
    "nan": [[1.0, np.nan], [3.0]],
    "inf in the last of two tensors": [[1.0, -2.0], [np.inf]],
    "the greatest float16": [[1.0, 65504.0], [3.0]],  # what is greater rounds to infinity
}
"""Gradients of two weights, by what is in them.

NOT_FINITE marks the names of those that are not finite.
"""

NOT_FINITE = ("inf", "nan")


def spread() -> tuple[AnyArray, AnyArray]:
    """COUNT activations and the slopes that meet them, in float32.

    The activations are exact in every dtype; the products, which are the gradients, go from 2**-34
    to 2.
    """
    # Eighths times powers of two need few bits, so the activations are the same in every float;
    # what a float loses is then lost in the slopes and in the products.
    generator = np.random.default_rng(0)
    mantissas = 1 + generator.integers(0, 8, COUNT) / 8
    activations = mantissas * 2.0 ** generator.integers(-8, 1, COUNT)
    slopes = 2.0 ** generator.uniform(-26, 0, COUNT)
    return activations.astype(np.float32), slopes.astype(np.float32)


def ordinary_gradient() -> AnyArray:
    """COUNT elements of ordinary size, in float32."""
    return np.random.default_rng(1).standard_normal(COUNT).astype(np.float32)


def losses_by_scale(gradients: list[AnyArray]) -> dict[str, list[float]]:
    """What became of the spread at each scale 2**e, e in EXPONENTS.

    The share of gradients that are zero ("underflow"), the share not finite ("overflow"), and the
    mean relative "error" after unscaling, against the gradient in float64; an element that is zero
    or not finite counts as wholly wrong, as 1.
    """
    activations, slopes = spread()
    true_gradient = activations.astype(np.float64) * slopes.astype(np.float64)
    losses: dict[str, list[float]] = {"underflow": [], "overflow": [], "error": []}
    for exponent, gradient in zip(EXPONENTS, gradients, strict=True):
        scaled = gradient.astype(np.float64)
        is_zero = scaled == 0
        is_not_finite = ~np.isfinite(scaled)
        is_lost = is_zero | is_not_finite
        unscaled = np.where(is_lost, 0.0, scaled) / 2.0**exponent
        errors = np.where(is_lost, 1.0, np.abs(unscaled - true_gradient) / true_gradient)
        losses["underflow"].append(float(np.mean(is_zero)))
        losses["overflow"].append(float(np.mean(is_not_finite)))
        losses["error"].append(float(np.mean(errors)))
    return losses


def greatest_relative_error(values: AnyArray, reference: AnyArray) -> float:
    """The greatest error of an element, as a share of that element of ``reference``."""
    return float(np.max(np.abs(values - reference) / np.abs(reference)))


def turn(before: float, after: float, finite: bool, stepped: bool) -> dict[str, Any]:
    """The figures of one step of a scaler's life.

    Its scale before and after, whether the gradients were finite, and whether weights moved.
    """
    return {"scale": before, "after": after, "finite": finite, "stepped": stepped}


LARGE, STEEP = 40.0, 300.0
"""What is squared, whose gradient fits float16, and scaled does not; a factor whose square does not."""

SMALL = 0.01
"""What is multiplied by STEEP twice: the loss is 900, and the gradient is above 65504."""

SCALE = 1024.0
"""The scale of the guide's example."""


def square(x: Any) -> Any:
    """x², whose gradient is 2x."""
    return (x * x).sum()


def steep(x: Any) -> Any:
    """90000 x, in two factors that float16 has."""
    return (x * STEEP * STEEP).sum()
