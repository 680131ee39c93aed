"""Which distribution a layer's initial values come from, by bounds, moments and tests.

The tests are Kolmogorov-Smirnov tests against the candidates.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Figures
from explorer.topics.operators.inputs import CONVOLUTION, DENSE
from explorer.topics.operators.readings import GLOROT, NORMAL, UNIFORM

FANS = {
    "convolution": (CONVOLUTION[0] * CONVOLUTION[2] ** 2, CONVOLUTION[1] * CONVOLUTION[2] ** 2),
    "dense": DENSE,
}
"""Fan in and fan out of each kind of layer."""

BINS = 18
WIDEST = 2.25
"""The histogram's bins, and where it ends, in units of sqrt k: beyond Glorot's bound."""


def described(kind: str, arrays: Iterable[AnyArray]) -> Figures:
    """Bounds and moments of some initial values, how well each candidate fits, and their density.

    ``arrays`` are one parameter of several layers; ``kind`` is "convolution" or "dense". The
    density is over values in units of sqrt k, where k is 1 / fan in. A p-value near 0 rules a
    candidate out.
    """
    # It takes half a second to import, which workers that measure something else need not spend.
    from scipy import stats  # type: ignore[import-untyped]  # scipy ships no types

    values = np.concatenate([np.asarray(array, np.float64).ravel() for array in arrays])
    fan_in, fan_out = FANS[kind]
    bound = 1 / math.sqrt(fan_in)
    glorot_bound = math.sqrt(6 / (fan_in + fan_out))
    candidates: dict[str, Any] = {
        UNIFORM: stats.uniform(-bound, 2 * bound),
        GLOROT: stats.uniform(-glorot_bound, 2 * glorot_bound),
        NORMAL: stats.norm(),
    }
    density, edges = np.histogram(values / bound, BINS, (-WIDEST, WIDEST), density=True)
    fits = {
        name: stats.kstest(values, candidate.cdf, method="asymp")
        for name, candidate in candidates.items()
    }
    return {
        "count": values.size,
        "bound": bound,
        **bounds(values),
        "zeros": float((values == 0).mean()),
        "ks": {name: _fit(result) for name, result in fits.items()},
        "density": {"from": edges[:-1].tolist(), "of": density.tolist()},
    }


def bounds(values: AnyArray) -> dict[str, float]:
    """Least and greatest of some initial values, their mean and their standard deviation."""
    numbers = np.asarray(values, np.float64)
    return {
        "minimum": float(numbers.min()),
        "maximum": float(numbers.max()),
        "mean": float(numbers.mean()),
        "std": float(numbers.std()),
    }


def _fit(result: Any) -> dict[str, float]:
    # Rounded, so that sums in another order give the same figure.
    return {"distance": round(float(result.statistic), 6), "p": round(float(result.pvalue), 6)}
