"""What can be read off the operators' figures: rules that findings and claims share."""

import math
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import number
from explorer.topics.attempts import raised
from explorer.topics.evidence import Attempt
from explorer.topics.operators.inputs import (
    BATCH,
    BETA,
    CONVOLUTION,
    DENSE,
    GAMMA,
    MEAN,
    POINTS,
    SMALL_PAIR,
    VARIANCE,
    Window,
)

ROUNDING = 1e-5
"""Relative to the greatest number compared: what float32 sums in another order differ by."""

ROUNDING_OF_NORMS = 1e-4
"""The same behind a division by a standard deviation."""

RULED_OUT = 1e-3  # strict, since a dozen samples are tested, each against three candidates
"""A candidate for a distribution is ruled out when its p-value is below this.

The seeds are fixed, so the verdict is too.
"""

UNIFORM = "U(-sqrt k, sqrt k)"
GLOROT = "Glorot uniform"
NORMAL = "N(0, 1)"
"""The candidates that initial values may come from; k is 1 / fan in."""

ZEROS = "zeros"
"""What the values come from when all of them are 0."""

CHANNELS = (0, 2, 3)
"""The axes over which batch norm takes its statistics, those of batch, height and width."""


def relative_difference(values: Any, reference: Any) -> float:
    """The greatest difference of two nested lists of numbers.

    It is relative to the greatest magnitude in ``values`` where that is above 1.
    """
    return greatest_difference(values, reference) / max(1.0, _greatest(values))


def close(values: Any, reference: Any, rounding: float = ROUNDING) -> bool:
    """Whether two nested lists of numbers agree but for rounding."""
    return relative_difference(values, reference) <= rounding


def farthest(arrays: list[Any], references: list[Any]) -> float:
    """The greatest relative difference of the arrays of two lists."""
    pairs = zip(arrays, references, strict=True)
    return max((relative_difference(array, reference) for array, reference in pairs), default=0.0)


def _greatest(values: Any) -> float:
    """The greatest magnitude in a nested list; what is not finite does not count."""
    if isinstance(values, (list, tuple)):
        return max(map(_greatest, values), default=0.0)
    magnitude = abs(number(values))
    return magnitude if math.isfinite(magnitude) else 0.0


def reproducible(outputs: list[Any]) -> bool:
    """Whether every call gave the same, to the last bit."""
    return all(output == outputs[0] for output in outputs)


def survival(training: AnyArray, inference: AnyArray) -> Figures:
    """What dropout made of ones, in training and at inference.

    "kept" is the share that is not zero, "survivor" what a one became, "inference_is_identity"
    whether inference leaves the ones alone.
    """
    return {
        "kept": float((training != 0).mean()),
        "survivor": float(training.max()),
        "inference_is_identity": bool((inference == 1).all()),
    }


class Survival(Attempt, frozen=True, kw_only=True):
    """What ``survival`` found by one way to ask for dropout, or what that raised."""

    kept: float = 0.0
    survivor: float = 0.0


class DropoutSettings(
    msgspec.Struct,
    frozen=True,
    rename={
        "bare": "0.3 alone",
        "by_p": "p=0.3",
        "by_keep_prob": "keep_prob=0.7",
        "by_rate": "rate=0.3",
    },
):
    """The ways to ask for dropout that are compared, and how a library documents its arguments.

    No library is asked for all of the ways.
    """

    bare: Survival = Survival()
    by_p: Survival = Survival()
    by_keep_prob: Survival = Survival()
    by_rate: Survival = Survival()
    parameters: tuple[str, ...] = ()
    notice: str = ""


class DropoutDraws(msgspec.Struct, frozen=True):
    """How many masks were drawn, the mean of each element, and when a seed brings a mask back."""

    draws: int
    ratio: list[float]
    same_layer_repeats_after_seed: bool
    new_layer_repeats_after_seed: bool


class DropoutMask(msgspec.Struct, frozen=True):
    """Output and gradient of one call of dropout on ones: both are the mask times 1 / (1 - p)."""

    output: list[float]
    gradient: list[float]

    @property
    def is_the_same(self) -> bool:
        """Whether the backward has the mask of the forward."""
        return self.output == self.gradient


class BatchNormState(Attempt, frozen=True, kw_only=True):
    """What batch norm gives in one state: the running statistics are those after the call.

    ``gradients`` are those with respect to the batch, the weight and the bias.
    """

    output: Any = None
    running: Any = None
    gradients: Any = None


class Transposed(Attempt, frozen=True, kw_only=True):
    """The shape and the elements that a call gives."""

    shape: list[int] = msgspec.field(default_factory=list)
    elements: list[float] = msgspec.field(default_factory=list)


class Bounds(msgspec.Struct, frozen=True):
    """What ``bounds`` found of some initial values."""

    minimum: float
    maximum: float
    mean: float
    std: float


def statistics_used(state: BatchNormState) -> str:
    """The statistics that a batch norm normalised with: "batch", "running" or "neither"."""
    sources = {
        "batch": (BATCH.mean(CHANNELS), BATCH.var(CHANNELS)),
        "running": (MEAN, VARIANCE),
    }
    for name, (mean, variance) in sources.items():
        if close(state.output, _normalised(mean, variance).tolist(), ROUNDING_OF_NORMS):
            return name
    return "neither"


def _normalised(mean: AnyArray, variance: AnyArray) -> AnyArray:
    """BATCH by the formula of batch norm, with an epsilon of 1e-5."""
    # MindSpore's and PyTorch's default; Keras is given it.
    scale = GAMMA / np.sqrt(variance + 1e-5)
    normalised: AnyArray = (BATCH - _by_channel(mean)) * _by_channel(scale) + _by_channel(BETA)
    return normalised


def _by_channel(values: AnyArray) -> AnyArray:
    return values.reshape(1, 2, 1, 1)


def statistics_moved(state: BatchNormState) -> str:
    """What became of the running statistics: "moved", "kept" or "none"."""
    # PyTorch keeps none with track_running_stats=False.
    if state.running[0] is None:
        return "none"
    return "kept" if close(state.running, [MEAN.tolist(), VARIANCE.tolist()]) else "moved"


def variance_kind(figures: Figures) -> str:
    """Which variance of the batch goes into the running variance: "unbiased" or "biased".

    The unbiased one is divided by n - 1, the biased one by n; "neither" when it is no such
    variance.
    """
    replaced = figures["0.0"][1]  # with a momentum of 0 nothing is left of the old one
    for name, degrees_lost in (("unbiased", 1), ("biased", 0)):
        variance = BATCH.var(CHANNELS, ddof=degrees_lost)
        if close(replaced, variance.tolist(), ROUNDING_OF_NORMS):
            return name
    return "neither"


def implied_momentum(statistics: Any) -> float:
    """The weight of the old running mean in the new one: MindSpore's meaning of momentum.

    It is computed from the running ``statistics`` after one step.
    """
    # The second channel's batch mean is far from its running one, so that the quotient is exact.
    start, batch = float(MEAN[1]), float(BATCH.mean(CHANNELS)[1])
    running = number(statistics[0][1])
    return round((running - batch) / (start - batch), 4)


def layer_norm_epsilon(output: Any) -> float:
    """The epsilon that layer norm added to the variance, to two significant digits.

    ``output`` is what it gave for SMALL_PAIR.
    """
    # The mean is 0: the output is deviation / sqrt(variance + epsilon), solved here for epsilon.
    deviation, normalised = float(SMALL_PAIR[0, 1]), number(output[1])
    variance = deviation * deviation
    return float(f"{variance / (normalised * normalised) - variance:.1e}")


def batch_norm_epsilon(output: Any) -> float:
    """The epsilon that batch norm added to a variance of 0, to two significant digits.

    ``output`` is what it gave for 1.
    """
    # The variance is 0, so that the output is 1 / sqrt(epsilon).
    return float(f"{1 / number(output) ** 2:.1e}")


def zeros_around(outputs: AnyArray, window: Window) -> list[int]:
    """How many zeros a convolution put before and after an axis.

    ``outputs`` is the first element of each window along an axis with the elements 1, 2, …, size:
    the first that is not a zero tells how many zeros were before it.
    """
    place = int(np.flatnonzero(outputs)[0])
    before = place * window.stride - (int(outputs[place]) - 1)
    # A stride may leave the last elements out; then there are no zeros behind them.
    reach = (outputs.size - 1) * window.stride + window.kernel
    return [before, max(reach - window.size, 0) - before]


def valid_size(window: Window) -> int:
    """How many windows an axis has without padding: floor((size - kernel) / stride) + 1."""
    return (window.size - window.kernel) // window.stride + 1


class OddSides(msgspec.Struct, frozen=True):
    """The windows with an odd number of zeros, by where the odd one is.

    ``refused`` are windows whose convolution raised.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def lie_before(self) -> bool:
        """Whether every odd zero is before its axis, and there is one."""
        return bool(self.before) and not self.after

    @property
    def lie_after(self) -> bool:
        """Whether every odd zero is after its axis, and there is one."""
        return bool(self.after) and not self.before


def odd_sides(figures: Figures) -> OddSides:
    """Where a library puts odd zeros, by the zeros before and after the axis of each window."""
    before: list[str] = []
    after: list[str] = []
    refused: list[str] = []
    for name, zeros in figures.items():
        if raised(zeros):
            refused.append(name)
        elif sum(zeros) % 2:
            side = before if zeros[0] > zeros[1] else after
            side.append(name)
    return OddSides(tuple(before), tuple(after), tuple(refused))


class Fit(msgspec.Struct, frozen=True):
    """How well a distribution fits some values, as the p-value of a Kolmogorov-Smirnov test."""

    p: float


class InitialValues(msgspec.Struct, frozen=True):
    """Initial values of one parameter of several layers.

    ``bound`` is sqrt k, ``zeros`` the share of zeros, ``ks`` the fit of each candidate.
    """

    count: int
    bound: float
    minimum: float
    maximum: float
    std: float
    zeros: float
    ks: dict[str, Fit]

    @property
    def distributions(self) -> list[str]:
        """The distributions that they may come from."""
        # Zeros are tested for apart: no continuous candidate fits them.
        if self.zeros == 1:
            return [ZEROS]
        return [name for name, fit in self.ks.items() if fit.p >= RULED_OUT]


def initial_values(figures: Figures) -> InitialValues:
    """Initial values of one parameter, of the figures that a library has of it."""
    return msgspec.convert(figures, InitialValues)


def gelu_formulas() -> dict[str, AnyArray]:
    """GELU at POINTS by the error function and by the hyperbolic tangent, in float64.

    Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, https://arxiv.org/abs/1606.08415.
    """
    points = np.asarray(POINTS, np.float64)
    normal_cdf = np.array([0.5 * (1 + math.erf(x / math.sqrt(2))) for x in points])
    tanh = np.tanh(math.sqrt(2 / math.pi) * (points + 0.044715 * points**3))
    return {"exact": points * normal_cdf, "tanh": points * (0.5 * (1 + tanh))}


def gelu_formula(values: Any) -> tuple[str, float]:
    """The formula that values of GELU at POINTS come from, and their distance from the other."""
    differences: dict[str, float] = {}
    for name, formula in gelu_formulas().items():
        differences[name] = float(np.abs(np.array(values, float) - formula).max())
    # The formulas are 5e-4 apart, and float32 is exact to 1e-7: the nearer one was taken.
    nearest = min(differences, key=lambda name: differences[name])
    return nearest, max(differences.values())


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
