"""The one comparison that the command line, the app and the tests share: how equal results are, and
whether that is what a scenario expects.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.report import ORACLE, CaseReport, CaseVerdict, Difference
from explorer.model.results import ANSWERED, LOST, Estimate, Leaf, OracleResult, Outcome, Result
from explorer.numeric.differences import are_equal, elementwise_difference
from explorer.numeric.directions import directions
from explorer.scenario.contract import ExpectedDifference

MATCH = {
    "float64": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}
"""(rtol, atol) of the verdict "match": torch.testing.assert_close's own table."""

CLOSE = {
    "float64": (1e-5, 1e-5),
    "float32": (1e-4, 1e-4),
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 4e-3),
}
"""(rtol, atol) of the verdict "close": MindSpore's own table, element by element."""

CENTRAL = (1e-3, 1e-5)
"""(rtol, atol) of an engine beside central differences of step 1e-6."""

EXACT = (0.0, 0.0)
"""(rtol, atol) of integers and booleans."""

RANK: tuple[CaseVerdict, ...] = ("match", "close", "differs")
"""The verdicts on two results, best first."""

Pair = tuple[str, str]
"""Two parties of a case: names of engines, or ORACLE."""


class Comparison(NamedTuple):
    """Two results side by side: a verdict, and the greatest difference (None when there is none at
    all).
    """

    verdict: CaseVerdict
    greatest: Difference | None = None


# Two results


def compare(left: Result, right: Result, engines: Pair = ("left", "right")) -> Comparison:
    """Compare two results with outcome "ok": structure first, then of each leaf its shape, its
    dtype, and every element.
    """
    if left.structure != right.structure:
        detail = f"{left.written} against {right.written}"
        return Comparison("differs", Difference("structure", engines, detail=detail))
    leaves = zip(left.leaves, right.leaves, strict=True)
    return _worst(compare_leaf(leaf, other, engines) for leaf, other in leaves)


def compare_leaf(left: Leaf, right: Leaf, engines: Pair = ("left", "right")) -> Comparison:
    """Compare two tensors by shape, dtype and every element; a nan equals a nan, an infinity the
    same infinity.
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
    """Whether |one - other| ≤ atol + rtol · max(|one|, |other|) at every element; the same for (a,
    b) as for (b, a).

    ``tolerance`` is (rtol, atol).
    """
    rtol, atol = tolerance
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    # An infinity is near nothing, however great the tolerance that it makes: it is equal or not.
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.maximum(np.abs(a), np.abs(b))
    return bool(np.all((near & finite) | are_equal(a, b)))


def _greatest_difference(
    one: AnyArray, other: AnyArray, engines: Pair, leaf: str
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


def _worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The worst verdict among ``comparisons``, and the greatest difference of them all."""
    verdict: CaseVerdict = "match"
    greatest: Difference | None = None
    for comparison in comparisons:
        verdict = max(verdict, comparison.verdict, key=RANK.index)
        if comparison.greatest and (
            greatest is None or _size(comparison.greatest) > _size(greatest)
        ):
            greatest = comparison.greatest
    return Comparison(verdict, greatest)


def _size(difference: Difference) -> float:
    """How great a difference is; one of structure, shape or dtype is greater than any number."""
    return difference.abs if difference.what == "value" else float("inf")


# A result and the oracle


def agrees_with_oracle(result: Result, oracle: OracleResult) -> bool:
    """Whether every gradient that the oracle estimated is near the engine's; along directions where
    it has only those.
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


# All results of a case


def judge(
    case: GradCase,
    results: Mapping[str, Result],
    oracle: OracleResult,
    expected: tuple[ExpectedDifference, ...] = (),
) -> CaseReport:
    """Put the engines' results of one case side by side: the verdict, and whether it is what the
    scenario expects.

    Engines that are not defined for the scenario, or cannot do the case at all, are left out. Where
    differences are expected, parties that no expectation tells apart must agree, and one that does
    tell them apart must be seen to, unless all raise.
    """
    comparison = _compare_all(results)
    oracle_agrees = _compare_with_oracle(results, oracle)
    applicable = tuple(expectation for expectation in expected if expectation.applies(case))
    complaint = _complaint(results, oracle, applicable)
    reasons: dict[str, None] = {}
    if comparison.verdict not in ("match", "close") or oracle_agrees is False:
        reasons = dict.fromkeys(expectation.reason for expectation in applicable)
    return CaseReport(
        case=case,
        results=dict(results),
        oracle=oracle,
        oracle_agrees=oracle_agrees,
        verdict=comparison.verdict,
        expected=not complaint,
        reason=complaint or "; ".join(reasons),
        greatest=comparison.greatest,
    )


def _with_outcome(results: Mapping[str, Result], outcome: Outcome) -> dict[str, Result]:
    return {name: result for name, result in results.items() if result.outcome == outcome}


def _compare_all(results: Mapping[str, Result]) -> Comparison:
    """Every two results, as far as the engines can do the case."""
    fine = _with_outcome(results, "ok")
    raised = _with_outcome(results, "raised")
    if raised and fine:
        return Comparison("some_raise", _refusal(fine, raised))
    if raised:
        return Comparison("all_raise")
    if len(fine) < 2:
        return Comparison("not_compared")
    return _worst(compare(fine[a], fine[b], (a, b)) for a, b in combinations(fine, 2))


def _refusal(fine: dict[str, Result], raised: dict[str, Result]) -> Difference:
    """The difference between the first engine that answers and the first that raises."""
    name, result = next(iter(raised.items()))
    kind = result.error.type if result.error else "an error"
    return Difference("outcome", (next(iter(fine)), name), detail=f"{name} raises {kind}")


def _compare_with_oracle(results: Mapping[str, Result], oracle: OracleResult) -> bool | None:
    """Whether the oracle agrees with all; None where there is nothing to compare."""
    fine = _with_outcome(results, "ok")
    if not fine or not _has_estimates(oracle):
        return None
    return all(agrees_with_oracle(result, oracle) for result in fine.values())


def _has_estimates(oracle: OracleResult) -> bool:
    return oracle.outcome == "ok" and len(oracle.estimates) > 0


# What a scenario expects


def _complaint(
    results: Mapping[str, Result], oracle: OracleResult, applicable: tuple[ExpectedDifference, ...]
) -> str:
    """What is not as expected, as one sentence; empty when all is."""
    for name, result in results.items():
        if result.outcome in LOST:
            return f"{name} {result.outcome.replace('_', ' ')}"
    differ = _differ(results, oracle)
    return _unexpected(differ, applicable) or _not_seen(differ, applicable, results)


def _differ(results: Mapping[str, Result], oracle: OracleResult) -> dict[Pair, bool]:
    """Of every two parties that said something, whether they disagree."""
    parties = [name for name, result in results.items() if result.outcome in ANSWERED]
    if _has_estimates(oracle):
        parties.append(ORACLE)
    differ = {}
    for one, other in combinations(parties, 2):
        if other == ORACLE:
            agree = _agrees_where_ok(results[one], oracle)
        else:
            agree = _agree(results[one], results[other])
        differ[one, other] = not agree
    return differ


def _agrees_where_ok(result: Result, oracle: OracleResult) -> bool:
    """A refusal is compared with the other engines alone."""
    return result.outcome != "ok" or agrees_with_oracle(result, oracle)


def _agree(one: Result, other: Result) -> bool:
    if "raised" in (one.outcome, other.outcome):
        return one.outcome == other.outcome
    return compare(one, other).verdict != "differs"


def _unexpected(differ: dict[Pair, bool], applicable: tuple[ExpectedDifference, ...]) -> str:
    """The first two parties that disagree although no expectation tells them apart."""
    for (one, other), do_differ in differ.items():
        told_apart = any(_tells_apart(expectation, one, other) for expectation in applicable)
        if do_differ and not told_apart:
            return f"{one} and {other} disagree, and nothing in the scenario expects it"
    return ""


def _not_seen(
    differ: dict[Pair, bool],
    applicable: tuple[ExpectedDifference, ...],
    results: Mapping[str, Result],
) -> str:
    """The first expectation that is not met: all parties that it tells apart agree."""
    fine = _with_outcome(results, "ok").keys()
    for expectation in applicable:
        told_apart = [pair for pair in differ if _tells_apart(expectation, *pair)]
        # Where both raise there is nothing to see: the case fails before it could differ.
        do_differ = [differ[pair] for pair in told_apart if not fine.isdisjoint(pair)]
        if do_differ and not any(do_differ):
            engines = " and ".join(expectation.engines)
            return f"{engines} should differ from the others here, and agree: {expectation.reason}"
    return ""


def _tells_apart(expectation: ExpectedDifference, one: str, other: str) -> bool:
    return expectation.covers(one) != expectation.covers(other)
