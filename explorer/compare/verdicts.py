"""The verdict on the results of a case, and whether it is what a scenario expects."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from explorer.compare.answers import NO_NOISE, Answers, answer_groups
from explorer.compare.results import (
    NOT_MEASURED,
    Comparison,
    Movements,
    Parties,
    compare_form,
    compare_leaf,
    within,
    worst,
)
from explorer.model.alignment import Alignment
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.report import (
    ORACLE,
    Agreement,
    CaseReport,
    Difference,
    Disagreement,
    Surprise,
    Unanswered,
)
from explorer.model.results import LOST, Leaf, OracleResult, Outcome, Result, ResultNoise
from explorer.scenario.declaration import ExpectedDifference, Tolerance

# What TOLERANCES allow


def allowance(
    case: GradCase,
    left: Result,
    right: Result,
    tolerances: Sequence[Tolerance],
    noise: tuple[Movements, Movements],
    drawn: Collection[str] = (),
) -> str:
    """The reasons why two answers to a case may differ as they do.

    Empty where they may not: another structure, shape or dtype, or a leaf that differs by more than
    its ``noise`` and that no tolerance covers. The values of leaves in ``drawn``, which depend on
    random numbers, may be any.
    """
    if not tolerances or left.structure != right.structure:
        return ""
    reasons: dict[str, None] = {}
    for leaf, other in zip(left.leaves, right.leaves, strict=True):
        if leaf.name in drawn and compare_form(leaf, other, ("left", "right")).verdict == "match":
            continue
        movement = noise[0].get(leaf.name), noise[1].get(other.name)
        if compare_leaf(leaf, other, ("left", "right"), movement).verdict == "differs":
            reason = _reason(case, leaf, other, tolerances)
            if not reason:
                return ""
            reasons[reason] = None
    return "; ".join(reasons)


def _reason(case: GradCase, leaf: Leaf, other: Leaf, tolerances: Iterable[Tolerance]) -> str:
    """The reason of the first tolerance that covers two leaves; empty where none does."""
    one, another = leaf.value, other.value
    if (one.shape, one.dtype) != (another.shape, another.dtype):
        return ""
    for tolerance in tolerances:
        limits = tolerance.rtol, tolerance.atol
        if tolerance.applies(case, leaf.name) and within(unpack(one), unpack(another), limits):
            return tolerance.reason
    return ""


# Verdicts

UNDIVIDED = ("match", "close", "drawn")
"""Verdicts on answers between which nothing differs."""


def judge(
    case: GradCase,
    results: Mapping[str, Result],
    oracle: OracleResult,
    expected: tuple[ExpectedDifference, ...] = (),
    noise: Mapping[str, ResultNoise] = NO_NOISE,
    tolerances: tuple[Tolerance, ...] = (),
) -> CaseReport:
    """The report on one case: the verdict on its results, and whether the scenario expects it.

    Engines that are not defined for the scenario, or cannot do the case at all, are left out. Where
    differences are expected, parties that no expectation tells apart must agree, and an expectation
    that tells some apart must be met by a difference, unless all of these raise. ``noise`` is that
    of each engine's answer, by the engine's name. What ``tolerances`` allow is close.
    """

    def allowed(
        left: Result,
        right: Result,
        both: tuple[Movements, Movements],
        drawn: frozenset[str],
    ) -> str:
        return allowance(case, left, right, tolerances, both, drawn)

    answers = Answers(results, oracle, noise, allowed)
    comparison = _compare_all(answers)
    oracle_agrees = all(answers.near_oracle.values()) if answers.near_oracle else None
    applicable = tuple(expectation for expectation in expected if expectation.applies(case))
    disagree = answers.disagreements()
    surprise = _surprise(answers, disagree, applicable)
    reasons = dict(answers.allowances)
    if comparison.verdict not in UNDIVIDED or oracle_agrees is False:
        for expectation in applicable:
            reasons[expectation.reason] = None
    has_two = len(answers.fine) > 1
    return CaseReport(
        case=case,
        results=dict(results),
        oracle=oracle,
        oracle_agrees=oracle_agrees,
        verdict=comparison.verdict,
        expected=surprise is None,
        reason="; ".join(reasons) if surprise is None else "",
        surprise=surprise,
        greatest=comparison.greatest,
        groups=answer_groups(answers),
        apart=_apart(disagree),
        drawn=answers.drawn(),
        in_torch_table=comparison.in_torch_table if has_two else None,
        in_mindspore_table=comparison.in_mindspore_table if has_two else None,
    )


def _apart(disagree: Mapping[Parties, bool]) -> tuple[Parties, ...]:
    """The engines that disagree, two and two."""
    apart = []
    for parties, do_disagree in disagree.items():
        if do_disagree and ORACLE not in parties:
            apart.append(parties)
    return tuple(apart)


def _compare_all(answers: Answers) -> Comparison:
    """Every two results, as far as the engines can do the case."""
    if answers.raised and answers.fine:
        return Comparison("some_raise", _refusal(answers.fine, answers.raised))
    if answers.raised:
        return Comparison("all_raise")
    if len(answers.fine) < 2:
        return Comparison("not_compared")
    compared = worst(answers.comparisons.values())
    leaves = next(iter(answers.fine.values())).leaves
    is_all_drawn = len(leaves) > 0 and len(answers.drawn()) == len(leaves)
    if compared.verdict == "match" and is_all_drawn:
        return compared._replace(verdict="drawn")
    return compared


def _refusal(fine: dict[str, Result], raised: dict[str, Result]) -> Difference:
    """The difference between the first engine that answers and the first that raises."""
    name, result = next(iter(raised.items()))
    kind = result.error.type if result.error else "an error"
    return Difference("outcome", (next(iter(fine)), name), detail=f"{name} raises {kind}")


# What a scenario expects


def _surprise(
    answers: Answers,
    disagree: dict[Parties, bool],
    applicable: tuple[ExpectedDifference, ...],
) -> Surprise | None:
    """The first thing that is not as expected."""
    lost: dict[Outcome, list[str]] = {}
    for name, result in answers.results.items():
        if result.outcome in LOST:
            lost.setdefault(result.outcome, []).append(name)
    if lost:
        return Unanswered({outcome: tuple(names) for outcome, names in lost.items()})
    unexpected = _unexpected_difference(disagree, applicable)
    return unexpected or _missing_difference(disagree, applicable, answers.fine)


def _unexpected_difference(
    disagree: dict[Parties, bool], applicable: tuple[ExpectedDifference, ...]
) -> Disagreement | None:
    """All who are on the sides of the first two that disagree although nothing tells them apart."""
    unexpected: list[Parties] = []
    for (one, other), do_disagree in disagree.items():
        is_expected = any(_tells_apart(expectation, one, other) for expectation in applicable)
        if do_disagree and not is_expected:
            unexpected.append((one, other))
    if not unexpected:
        return None
    left, right = _sides(disagree, unexpected)
    return Disagreement(tuple(left), tuple(right))


def _sides(
    disagree: Mapping[Parties, bool], unexpected: Sequence[Parties]
) -> tuple[list[str], list[str]]:
    """The first two of ``unexpected``, each with those who agree with it and not with the other.

    Each party on one side unexpectedly disagrees with each on the other.
    """
    disagreeing = {frozenset(parties) for parties, do_disagree in disagree.items() if do_disagree}
    opposed = {frozenset(parties) for parties in unexpected}
    left, right = [unexpected[0][0]], [unexpected[0][1]]
    for party in dict.fromkeys(chain.from_iterable(disagree)):
        for side, opposite in ((left, right), (right, left)):
            has_side = party in left or party in right
            agrees = disagreeing.isdisjoint(_pairs(party, side))
            if not has_side and agrees and _pairs(party, opposite) <= opposed:
                side.append(party)
    return left, right


def _pairs(party: str, side: Sequence[str]) -> set[frozenset[str]]:
    return {frozenset((party, name)) for name in side}


def _missing_difference(
    disagree: dict[Parties, bool],
    applicable: tuple[ExpectedDifference, ...],
    fine: Mapping[str, Result],
) -> Agreement | None:
    """The first expectation that is not met: all parties that it tells apart agree."""
    for expectation in applicable:
        observed = []
        for parties, do_disagree in disagree.items():
            # Where both raise there is nothing to see: the case fails before it could differ.
            if _tells_apart(expectation, *parties) and not fine.keys().isdisjoint(parties):
                observed.append(do_disagree)
        if observed and not any(observed):
            return Agreement(tuple(expectation.engines), expectation.reason)
    return None


def with_expectation(
    alignment: Alignment,
    report: CaseReport,
    expected: tuple[ExpectedDifference, ...],
    tolerances: tuple[Tolerance, ...] = (),
) -> Alignment:
    """An alignment of the graphs of a case, and whether the scenario expects its divergence.

    It does where it expects the two engines to differ, or allows their answers to.
    """
    parties = alignment.left, alignment.right
    applicable = [expectation for expectation in expected if expectation.applies(report.case)]
    is_expected_here = any(_tells_apart(expectation, *parties) for expectation in applicable)
    left, right = (report.results.get(name) for name in parties)
    if tolerances and left and right and left.outcome == right.outcome == "ok":
        unmeasured = NOT_MEASURED, NOT_MEASURED
        reason = allowance(report.case, left, right, tolerances, unmeasured, report.drawn)
        is_expected_here |= reason != ""
    is_expected = alignment.divergence is None or is_expected_here
    return msgspec.structs.replace(alignment, expected=is_expected)


def _tells_apart(expectation: ExpectedDifference, one: str, other: str) -> bool:
    return expectation.covers(one) != expectation.covers(other)
