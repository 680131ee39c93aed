"""Large nets: what they demand is estimated before a run, and what is left out for it; their first answer."""

import math
from collections.abc import Mapping
from operator import itemgetter

import msgspec
import numpy as np

from explorer.model.arrays import unpack
from explorer.model.results import Result
from explorer.numeric.differences import real_parts
from explorer.scenario.common_start import Nets
from explorer.workers.children import MEGABYTE
from explorer.workers.workers import REQUEST_SECONDS

LARGE_NET = 5_000_000
"""The number of elements of parameters from which on what a run demands is estimated and said."""

ONE_NOISE = 8_000_000
"""The number from which on noise is measured in one framework, in nets that are not trained."""

RUNS = 14
"""About how many times a framework runs forward and backward for the main case."""

PATIENCE = 10
"""So many times as long as the first look at both nets one request may take."""

COPIES = 24
"""About how many copies of the parameters all processes hold together, gradients among them."""

IDLE = 1000 * MEGABYTE
"""About what all processes hold with a small net."""


class Demand(msgspec.Struct, frozen=True):
    """What the main case of a net demands.

    ``elements`` are those of its parameters, ``looks`` the seconds of the first look at both nets.
    ``bytes`` is an estimate, of all processes together. ``is_noise_of_one`` says that noise is measured
    in one framework alone.
    """

    elements: int
    looks: float
    bytes: int
    is_noise_of_one: bool = False

    @property
    def seconds(self) -> float:
        """About how long the main case takes."""
        return self.looks * RUNS / 2

    @property
    def is_large(self) -> bool:
        """Whether a user should know before the run."""
        return self.elements > LARGE_NET

    def request_seconds(self, limit: float) -> float:
        """The limit of one request: a large net on a busy machine gets more than the default."""
        if self.is_large and limit == REQUEST_SECONDS:
            return max(limit, PATIENCE * self.looks)
        return limit


def demand_of(nets: Nets, trains: bool, looks: float) -> Demand:
    """What nets demand of which the first look at both took ``looks`` seconds.

    In a net that ``trains``, each framework shows by its own noise what it draws at random.
    """
    elements = sum(array.size for array in nets.parameters.values())
    held = sum(len(array.data) for array in nets.parameters.values())
    return Demand(elements, looks, IDLE + COPIES * held, elements > ONE_NOISE and not trains)


class FirstAnswer(msgspec.Struct, frozen=True):
    """How far the answers of the engines are apart.

    ``engines`` answered. ``greatest`` is the greatest difference of any from the first of them, as a share
    of the greatest element of the tensor ``leaf``; infinite where shapes, or numbers that are not finite,
    differ.
    """

    engines: tuple[str, ...]
    greatest: float = 0.0
    leaf: str = ""
    apart: tuple[str, str] | None = None


def first_answer(results: Mapping[str, Result]) -> FirstAnswer:
    """The first answer of some engines to one case."""
    fine = {name: result for name, result in results.items() if result.outcome == "ok"}
    answer = FirstAnswer(tuple(fine))
    for name in answer.engines[1:]:
        first = answer.engines[0]
        greatest, leaf = _greatest(fine[first], fine[name])
        if greatest > answer.greatest:
            answer = FirstAnswer(tuple(fine), greatest, leaf, (first, name))
    return answer


def _greatest(one: Result, other: Result) -> tuple[float, str]:
    """The greatest relative difference of two results, and its leaf."""
    if len(one.leaves) != len(other.leaves):
        return math.inf, ""
    greatest = 0.0, ""
    for leaf, another in zip(one.leaves, other.leaves, strict=True):
        left, right = (real_parts(unpack(it.value)) for it in (leaf, another))
        is_float = left.dtype.kind == "f"
        share = 0.0 if np.array_equal(left, right, equal_nan=is_float) else math.inf
        if share and is_float and left.shape == right.shape:
            with np.errstate(invalid="ignore", over="ignore"):
                difference = float(np.abs(left - right).max())
            if math.isfinite(difference):
                share = difference / float(max(np.abs(left).max(), np.abs(right).max()))
        greatest = max(greatest, (share, leaf.name), key=itemgetter(0))
    return greatest
