"""The comparison of two results, or of a result and the oracle: how equal they are."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from explorer.compare.tolerances import CENTRAL, CLOSE, EXACT, MATCH
from explorer.model.arrays import AnyArray, unpack
from explorer.model.report import CaseVerdict, Difference
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.numeric.differences import are_equal, elementwise_difference
from explorer.numeric.directions import directions

RANK: tuple[CaseVerdict, ...] = ("match", "close", "differs")
"""The verdicts on two results, best first."""

Parties = tuple[str, str]
"""Two parties of a case: names of engines, or ORACLE."""


class Comparison(NamedTuple):
    """Two results side by side: a verdict, and the greatest difference between them.

    ``greatest`` is None where there are no two results, or no elements in them.
    """

    verdict: CaseVerdict
    greatest: Difference | None = None


# Two results


def compare(left: Result, right: Result, engines: Parties = ("left", "right")) -> Comparison:
    """Compare two results with outcome "ok": their structure, then leaf by leaf.

    Of a leaf the shape is compared first, then the dtype, then every element.
    """
    if left.structure != right.structure:
        detail = f"{left.written} against {right.written}"
        return Comparison("differs", Difference("structure", engines, detail=detail))
    leaves = zip(left.leaves, right.leaves, strict=True)
    return worst(_compare_leaf(leaf, other, engines) for leaf, other in leaves)


def _compare_leaf(left: Leaf, right: Leaf, engines: Parties) -> Comparison:
    """Compare two tensors by shape, dtype and every element.

    A nan equals a nan, an infinity the same infinity.
    """
    one, other = left.value, right.value
    if one.shape != other.shape:
        detail = f"{one.shape} against {other.shape}"
        return Comparison("differs", Difference("shape", engines, leaf=left.name, detail=detail))
    if one.dtype != other.dtype:
        detail = f"{one.dtype} against {other.dtype}"
        return Comparison("differs", Difference("dtype", engines, leaf=left.name, detail=detail))

    array, other_array = unpack(one), unpack(other)
    greatest = _greatest_difference(array, other_array, engines, left.name)
    if within(array, other_array, MATCH.get(one.dtype, EXACT)):
        return Comparison("match", greatest)
    if within(array, other_array, CLOSE.get(one.dtype, EXACT)):
        return Comparison("close", greatest)
    return Comparison("differs", greatest)


def within(one: AnyArray, other: AnyArray, tolerance: tuple[float, float]) -> bool:
    """Whether |one - other| ≤ atol + rtol · max(|one|, |other|) at every element.

    ``tolerance`` is (rtol, atol). The relation is symmetric, unlike that of numpy.isclose.
    """
    rtol, atol = tolerance
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    # An infinity is near nothing, however great the tolerance that it makes: it is equal or not.
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.maximum(np.abs(a), np.abs(b))
    return bool(np.all((near & finite) | are_equal(a, b)))


def _greatest_difference(
    one: AnyArray, other: AnyArray, engines: Parties, leaf: str
) -> Difference | None:
    if not one.size:
        return None
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    differences = elementwise_difference(a, b)
    place = np.unravel_index(int(differences.argmax()), differences.shape)
    index = tuple(int(position) for position in place)

    absolute = float(differences[index])
    size = max(abs(float(a[index])), abs(float(b[index])))
    # Beside a zero or an infinity no quotient says anything: the difference itself has to do.
    relative = absolute / size if size and np.isfinite(size) else absolute
    return Difference("value", engines, absolute, relative, leaf, index)


def worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The worst verdict among ``comparisons``, and the greatest difference of them all."""
    # Of each the worst: a small float64 difference may be worse than a greater float16 one.
    verdict: CaseVerdict = "match"
    greatest: Difference | None = None
    for comparison in comparisons:
        verdict = max(verdict, comparison.verdict, key=RANK.index)
        greatest = _greater(greatest, comparison.greatest)
    return Comparison(verdict, greatest)


def _greater(one: Difference | None, other: Difference | None) -> Difference | None:
    """The greater of two differences, the first where they are equally great."""
    if one is None or other is None:
        return one or other
    return other if _size(other) > _size(one) else one


def _size(difference: Difference) -> float:
    """The size of a difference; one of structure, shape or dtype is greater than any number."""
    return difference.abs if difference.what == "value" else float("inf")


# A result and the oracle


def agrees_with_oracle(result: Result, oracle: OracleResult) -> bool:
    """Whether every gradient that the oracle estimated is near the engine's.

    A large gradient is estimated along random directions only, and is compared along these.
    """
    leaves = {leaf.name: leaf for leaf in result.leaves}
    for estimate in oracle.estimates:
        leaf = leaves.get(estimate.name)
        if leaf is None or not _is_near(leaf, estimate):
            return False
    return True


def _is_near(leaf: Leaf, estimate: Estimate) -> bool:
    gradient = np.asarray(unpack(leaf.value), np.float64)
    if estimate.directions:
        rows = directions(estimate.name, estimate.directions, gradient.shape)
        gradient = rows.reshape(estimate.directions, -1) @ gradient.ravel()
    estimated = unpack(estimate.value)
    return gradient.shape == estimated.shape and within(gradient, estimated, CENTRAL)
