"""Tolerances and verdicts: one comparison for the command line, the app and the tests."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.report import ORACLE, CaseReport, CaseVerdict, Difference
from explorer.model.results import Leaf, OracleResult, Result
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

ANSWERED = ("ok", "raised")
LOST = ("crashed", "timed_out")
RANK: tuple[CaseVerdict, ...] = ("match", "close", "differs")


class Comparison(NamedTuple):
    """Two results side by side: a verdict, and the greatest difference (None when there is none at
    all).
    """

    verdict: CaseVerdict
    greatest: Difference | None = None


def compare(
    left: Result, right: Result, engines: tuple[str, str] = ("left", "right")
) -> Comparison:
    """Compare two results with outcome "ok": structure first, then of each leaf its shape, its
    dtype, and every element.
    """
    if left.structure != right.structure:
        detail = f"{left.written} against {right.written}"
        return Comparison("differs", Difference("structure", engines, detail=detail))
    return _worst(
        compare_leaf(mine, theirs, engines)
        for mine, theirs in zip(left.leaves, right.leaves, strict=True)
    )


def compare_leaf(
    left: Leaf, right: Leaf, engines: tuple[str, str] = ("left", "right")
) -> Comparison:
    """Compare two tensors by shape, dtype and every element; a nan equals a nan, an infinity the
    same infinity.
    """
    mine, theirs = left.value, right.value
    if mine.shape != theirs.shape:
        detail = f"{mine.shape} against {theirs.shape}"
        return Comparison("differs", Difference("shape", engines, leaf=left.name, detail=detail))
    if mine.dtype != theirs.dtype:
        detail = f"{mine.dtype} against {theirs.dtype}"
        return Comparison("differs", Difference("dtype", engines, leaf=left.name, detail=detail))
    one, other = unpack(mine), unpack(theirs)
    greatest = _greatest(one, other, engines, left.name)
    for verdict, table in (("match", MATCH), ("close", CLOSE)):
        if within(one, other, table.get(mine.dtype, EXACT)):
            return Comparison(verdict, greatest)  # type: ignore[arg-type]  # the loop's strings are verdicts
    return Comparison("differs", greatest)


def within(one: AnyArray, other: AnyArray, tolerance: tuple[float, float]) -> bool:
    """Whether |one - other| ≤ atol + rtol · max(|one|, |other|) at every element; the same for (a,
    b) as for (b, a).
    """
    rtol, atol = tolerance
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.maximum(np.abs(a), np.abs(b))
    finite = np.isfinite(a) & np.isfinite(b)
    return bool(np.all((near & finite) | (a == b) | (np.isnan(a) & np.isnan(b))))


def _greatest(
    one: AnyArray, other: AnyArray, engines: tuple[str, str], leaf: str
) -> Difference | None:
    if not one.size:
        return None
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    gap = np.where(np.isnan(gap), np.inf, gap)
    index = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    size = max(abs(float(a[index])), abs(float(b[index])))
    rel = float(gap[index]) / size if size and np.isfinite(size) else float(gap[index])
    return Difference("value", engines, float(gap[index]), rel, leaf, index)


def _worst(comparisons: Iterable[Comparison]) -> Comparison:
    """The worst verdict among ``comparisons``, and the greatest difference of those that have it or
    are better.
    """
    verdict: CaseVerdict = "match"
    greatest: Difference | None = None
    for each in comparisons:
        verdict = max(verdict, each.verdict, key=RANK.index)
        greatest = max((d for d in (greatest, each.greatest) if d), key=_size, default=None)
    return Comparison(verdict, greatest)


def _size(difference: Difference) -> float:
    return difference.abs if difference.what == "value" else float("inf")


def agrees_with_oracle(result: Result, oracle: OracleResult) -> bool:
    """Whether every gradient that the oracle estimated is near the engine's; along directions where
    it has only those.
    """
    leaves = {leaf.name: leaf for leaf in result.leaves}
    for estimate in oracle.estimates:
        leaf = leaves.get(estimate.name)
        if leaf is None:
            return False
        mine = np.asarray(unpack(leaf.value), np.float64)
        if estimate.directions:
            rows = directions(estimate.name, estimate.directions, mine.shape)
            mine = rows.reshape(estimate.directions, -1) @ mine.ravel()
        theirs = unpack(estimate.value)
        if mine.shape != theirs.shape or not within(mine, theirs, CENTRAL):
            return False
    return True


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
    verdict, greatest = _verdict(results)
    agrees = _oracle_verdict(results, oracle)
    applicable = tuple(entry for entry in expected if entry.applies(case))
    complaint = _complaint(results, oracle, applicable)
    parted = verdict not in ("match", "close") or agrees is False
    return CaseReport(
        case=case,
        results=dict(results),
        oracle=oracle,
        oracle_agrees=agrees,
        verdict=verdict,
        expected=not complaint,
        reason=complaint
        or "; ".join(dict.fromkeys(entry.reason for entry in applicable if parted)),
        greatest=greatest,
    )


def _verdict(results: Mapping[str, Result]) -> Comparison:
    answered = {name: result for name, result in results.items() if result.outcome in ANSWERED}
    fine = {name: result for name, result in answered.items() if result.outcome == "ok"}
    if answered and not fine:
        return Comparison("all_raise")
    if len(fine) < len(answered):
        raised = next(name for name in answered if name not in fine)
        detail = f"{raised} raises {getattr(answered[raised].error, 'type', 'an error')}"
        return Comparison(
            "some_raise", Difference("outcome", (next(iter(fine)), raised), detail=detail)
        )
    if len(fine) < 2:
        return Comparison("not_compared")
    return _worst(compare(fine[a], fine[b], (a, b)) for a, b in combinations(fine, 2))


def _oracle_verdict(results: Mapping[str, Result], oracle: OracleResult) -> bool | None:
    fine = [result for result in results.values() if result.outcome == "ok"]
    if oracle.outcome != "ok" or not oracle.estimates or not fine:
        return None
    return all(agrees_with_oracle(result, oracle) for result in fine)


def _complaint(
    results: Mapping[str, Result], oracle: OracleResult, applicable: tuple[ExpectedDifference, ...]
) -> str:
    """What is not as expected, as one sentence; empty when all is."""
    for name, result in results.items():
        if result.outcome in LOST:
            return f"{name} {result.outcome.replace('_', ' ')}"
    parties = [name for name, result in results.items() if result.outcome in ANSWERED]
    if oracle.outcome == "ok" and oracle.estimates:
        parties.append(ORACLE)
    apart = {pair: not _agree(*pair, results, oracle) for pair in combinations(parties, 2)}
    fine = {name for name, result in results.items() if result.outcome == "ok"}
    for (a, b), differ in apart.items():
        if differ and not any(_told_apart(entry, a, b) for entry in applicable):
            return f"{a} and {b} disagree, and nothing in the scenario expects it"
    for entry in applicable:
        told = [
            differ
            for pair, differ in apart.items()
            if _told_apart(entry, *pair) and fine & set(pair)
        ]
        if told and not any(told):
            return f"{' and '.join(entry.engines)} should differ from the others here, and agree: {entry.reason}"
    return ""


def _told_apart(entry: ExpectedDifference, a: str, b: str) -> bool:
    return entry.covers(a) != entry.covers(b)


def _agree(a: str, b: str, results: Mapping[str, Result], oracle: OracleResult) -> bool:
    one = results[a]
    if b == ORACLE:
        return one.outcome != "ok" or agrees_with_oracle(one, oracle)
    other = results[b]
    if "raised" in (one.outcome, other.outcome):
        return one.outcome == other.outcome
    return compare(one, other).verdict != "differs"
