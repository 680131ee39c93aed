"""How initial values are told apart: bounds, moments, and Kolmogorov-Smirnov tests against the
candidates; no framework here.
"""

import math
from typing import Any

import numpy as np
from scipy import stats  # type: ignore[import-untyped]  # scipy ships no types

from explorer.model.arrays import AnyArray

LAYERS = 20
"""How many layers of each kind are made: one alone has few biases."""
CONVOLUTION = (8, 16, 3)
"""Input channels, output channels, kernel size."""
DENSE = (64, 48)
"""Input and output width."""
FAN_IN = {"convolution": CONVOLUTION[0] * CONVOLUTION[2] ** 2, "dense": DENSE[0]}
FAN_OUT = {"convolution": CONVOLUTION[1] * CONVOLUTION[2] ** 2, "dense": DENSE[1]}
BINS = 18


def described(values: AnyArray, kind: str) -> dict[str, Any]:
    """Bounds and moments of some initial values, how well each candidate fits, and their density in
    units of sqrt k.

    k is 1 / fan in; ``kind`` is "convolution" or "dense". A p-value near 0 rules a candidate out.
    """
    bound, glorot = 1 / math.sqrt(FAN_IN[kind]), math.sqrt(6 / (FAN_IN[kind] + FAN_OUT[kind]))
    flat = np.asarray(values, np.float64).ravel()
    candidates: dict[str, Any] = {
        "U(-sqrt k, sqrt k)": stats.uniform(-bound, 2 * bound),
        "Glorot uniform": stats.uniform(-glorot, 2 * glorot),
        "N(0, 1)": stats.norm(),
    }
    counts, edges = np.histogram(flat / bound, BINS, (-2.25, 2.25), density=True)
    return {
        "count": flat.size,
        "bound": bound,
        "minimum": float(flat.min()),
        "maximum": float(flat.max()),
        "mean": float(flat.mean()),
        "std": float(flat.std()),
        "zeros": float((flat == 0).mean()),
        "ks": {name: _test(flat, candidate) for name, candidate in candidates.items()},
        "density": {"from": edges[:-1].tolist(), "of": counts.tolist()},
    }


def _test(flat: AnyArray, candidate: Any) -> dict[str, float]:
    found = stats.kstest(flat, candidate.cdf, method="asymp")
    return {"distance": round(float(found.statistic), 6), "p": round(float(found.pvalue), 6)}
