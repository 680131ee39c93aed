"""The first answer to a large net: how far its gradients agree before noise is measured."""

from collections.abc import Mapping

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.results import Result
from explorer.numeric.differences import real_parts


class FirstAnswer(msgspec.Struct, frozen=True):
    """How far the answers of the engines are apart.

    ``engines`` answered, ``others`` did not. ``greatest`` is the greatest difference of any from the
    first of them, as a share of the greatest element of the tensor ``leaf``; infinite where shapes, or
    numbers that are not finite, differ.
    """

    engines: tuple[str, ...]
    others: tuple[str, ...]
    greatest: float = 0.0
    leaf: str = ""
    apart: tuple[str, str] | None = None


def first_answer(results: Mapping[str, Result]) -> FirstAnswer:
    """The first answer of some engines to one case."""
    fine = {name: result for name, result in results.items() if result.outcome == "ok"}
    others = tuple(name for name in results if name not in fine)
    answer = FirstAnswer(tuple(fine), others)
    if not fine:
        return answer
    first, *further = fine
    for name in further:
        greatest, leaf = _greatest(fine[first], fine[name])
        if greatest > answer.greatest:
            answer = FirstAnswer(tuple(fine), others, greatest, leaf, (first, name))
    return answer


def _greatest(one: Result, other: Result) -> tuple[float, str]:
    """The greatest relative difference of two results, and its leaf."""
    greatest, name = 0.0, ""
    if len(one.leaves) != len(other.leaves):
        return float("inf"), ""
    for leaf, another in zip(one.leaves, other.leaves, strict=True):
        left, right = real_parts(unpack(leaf.value)), real_parts(unpack(another.value))
        share = float("inf")
        if left.shape == right.shape:
            share = _share(left, right)
        if share > greatest:
            greatest, name = share, leaf.name
    return greatest, name


def _share(left: AnyArray, right: AnyArray) -> float:
    if not left.size or left.dtype.kind not in "fc":
        return 0.0 if np.array_equal(left, right) else float("inf")
    if np.array_equal(left, right, equal_nan=True):
        return 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        difference = float(np.max(np.abs(left - right)))
        scale = float(max(np.max(np.abs(left)), np.max(np.abs(right))))
    if not np.isfinite(difference):
        return float("inf")
    return difference / scale if scale else 0.0
