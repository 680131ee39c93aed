"""What can be read off the figures of the operators: rules that study and claims share; no
framework here.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import number
from explorer.topics.attempts import raised
from explorer.topics.operators.data import BATCH, BETA, GAMMA, MEAN, SMALL_PAIR, VARIANCE

Figures = Mapping[str, Any]
CASE = re.compile(r"size (\d+), kernel (\d+), stride (\d+)")

ROUNDING = 1e-5
"""Relative to the greatest number compared: what float32 sums in another order differ by."""

RULED_OUT = 1e-3
"""A candidate for a distribution is ruled out when its p-value is below this; the seeds are fixed,
so the verdict is too.
"""


def close(one: Any, other: Any, rounding: float = ROUNDING) -> bool:
    """Whether two nested lists of numbers agree but for rounding."""
    return off(one, other) <= rounding


def off(one: Any, other: Any) -> float:
    """The greatest difference of two nested lists, relative to the greatest number in them where
    that is above 1.
    """
    return greatest_difference(one, other) / max(1.0, _greatest(one))


def furthest(one: list[Any], other: list[Any]) -> float:
    """The greatest of these differences between the arrays of two lists."""
    return max((off(left, right) for left, right in zip(one, other, strict=True)), default=0.0)


def reproducible(outputs: list[Any]) -> bool:
    """Whether every call gave the same, to the last bit."""
    return all(each == outputs[0] for each in outputs)


def _greatest(values: Any) -> float:
    if isinstance(values, (list, tuple)):
        return max(map(_greatest, values), default=0.0)
    size = abs(number(values))
    return size if math.isfinite(size) else 0.0


def statistics_used(state: Figures) -> str:
    """What a batch norm's output was normalised with: "batch", "running" or "neither"."""
    axes = (0, 2, 3)
    sources = {"batch": (BATCH.mean(axes), BATCH.var(axes)), "running": (MEAN, VARIANCE)}
    for name, (mean, variance) in sources.items():
        if close(state["output"], _normalised(mean, variance).tolist(), 1e-4):
            return name
    return "neither"


def _normalised(mean: AnyArray, variance: AnyArray) -> AnyArray:
    mean, scale, shift = (
        each.reshape(1, 2, 1, 1) for each in (mean, GAMMA / np.sqrt(variance + 1e-5), BETA)
    )
    made: AnyArray = (BATCH - mean) * scale + shift
    return made


def statistics_moved(state: Figures) -> str:
    """What became of the running statistics: "moved", "kept" or "none"."""
    if state["running"][0] is None:
        return "none"
    return "kept" if close(state["running"], [MEAN.tolist(), VARIANCE.tolist()]) else "moved"


def variance_kind(figures: Figures) -> str:
    """Whether the running variance takes in the batch's variance divided by n - 1 ("unbiased") or
    by n ("biased").
    """
    for name, less in (("unbiased", 1), ("biased", 0)):
        if close(figures["0.0"][1], BATCH.var((0, 2, 3), ddof=less).tolist(), 1e-4):
            return name
    return "neither"


def implied_momentum(after: Any) -> float:
    """The weight that the old running mean had in the new one, from its first step: MindSpore's
    meaning of momentum.
    """
    start, batch, now = float(MEAN[1]), float(BATCH.mean((0, 2, 3))[1]), number(after[0][1])
    return round((now - batch) / (start - batch), 4)


def epsilon(pair: Any) -> float:
    """The epsilon that layer norm added to the variance, from its output for SMALL_PAIR; two
    significant digits.
    """
    d, out = float(SMALL_PAIR[0, 1]), number(pair[1])
    return float(f"{d * d / (out * out) - d * d:.1e}")


def variance_epsilon(out: Any) -> float:
    """The epsilon that batch norm added to a variance of 0, from its output for 1; two significant
    digits.
    """
    return float(f"{1 / number(out) ** 2:.1e}")


def valid_size(case: str) -> int:
    """The size of what is left of an axis without padding: floor((size - kernel) / stride) + 1."""
    size, kernel, stride = sized(case)
    return (size - kernel) // stride + 1


def sized(case: str) -> tuple[int, int, int]:
    """Size, kernel and stride of a case by its name."""
    found = CASE.fullmatch(case)
    assert found, case
    size, kernel, stride = map(int, found.groups())
    return size, kernel, stride


def odd_sides(figures: Figures) -> dict[str, list[str]]:
    """The cases with an odd number of zeros by where the odd one is, "before" or "after"; those
    that raised under "refused".
    """
    found: dict[str, list[str]] = {"before": [], "after": [], "refused": []}
    for case, zeros in figures.items():
        if raised(zeros):
            found["refused"].append(case)
        elif sum(zeros) % 2:
            found["before" if zeros[0] > zeros[1] else "after"].append(case)
    return found


def fits(values: Figures) -> list[str]:
    """The distributions that some initial values may come from; "zeros" where all are."""
    if values["zeros"] == 1:
        return ["zeros"]
    return [name for name, test in values["ks"].items() if test["p"] >= RULED_OUT]


def gelu_formulas(points: AnyArray) -> dict[str, AnyArray]:
    """GELU by the error function and by the hyperbolic tangent, in float64."""
    wide = np.asarray(points, np.float64)
    phi = np.array([0.5 * (1 + math.erf(x / math.sqrt(2))) for x in wide])
    tanh = 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    return {"exact": wide * phi, "tanh": wide * tanh}


def gelu_formula(value: Any, points: AnyArray) -> tuple[str, float]:
    """Which formula some values of GELU come from, and how far they are from the other one."""
    far = {
        name: float(np.abs(np.array(value, float) - formula).max())
        for name, formula in gelu_formulas(points).items()
    }
    nearest = min(far, key=lambda name: far[name])
    return nearest, max(far.values())
