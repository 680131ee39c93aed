"""The verdict on the results of a case, and whether it is what a scenario expects."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.compare.answers import NO_NOISE, Answers, answer_groups
from explorer.compare.forwards import NO_FORWARDS, Forwards
from explorer.compare.results import (
    Comparison,
    Movements,
    Parties,
    compare_form,
    compare_leaf,
    movements,
    size_of,
    unless_swamped,
    within,
    worst,
)
from explorer.model.alignment import Alignment
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import Framework
from explorer.model.report import (
    ORACLE,
    Agreement,
    CaseReport,
    Difference,
    Disagreement,
    NotFiniteAlike,
    Surprise,
    Unanswered,
)
from explorer.model.results import (
    LOST,
    Estimate,
    Leaf,
    Obstacle,
    OracleResult,
    Outcome,
    Result,
    ResultNoise,
)
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


def judge(
    case: GradCase,
    results: Mapping[str, Result],
    oracle: OracleResult,
    expected: tuple[ExpectedDifference, ...] = (),
    noise: Mapping[str, ResultNoise] = NO_NOISE,
    tolerances: tuple[Tolerance, ...] = (),
    forwards: Forwards = NO_FORWARDS,
) -> CaseReport:
    """The report on one case: the verdict on its results, and whether the scenario expects it.

    Engines that are not defined for the scenario, or cannot do the case at all, are left out. Where
    differences are expected, parties that no expectation tells apart must agree, and an expectation
    that tells some apart must be met by a difference, unless all of these raise. ``noise`` is that
    of each engine's answer, by the engine's name. What ``tolerances`` allow is close. ``forwards`` are
    what the nets return: where they differ, the oracle judges those of its own framework alone.
    """

    def allowed(
        left: Result,
        right: Result,
        both: tuple[Movements, Movements],
        drawn: frozenset[str],
    ) -> str:
        return allowance(case, left, right, tolerances, both, drawn)

    answers = Answers(results, oracle, noise, allowed, forwards)
    comparison = _compare_all(answers)
    oracle_agrees = all(answers.near_oracle.values()) if answers.near_oracle else None
    applicable = tuple(expectation for expectation in expected if expectation.applies(case))
    disagree = answers.disagreements()
    surprise = _surprise(answers, disagree, applicable)
    reasons = dict(answers.allowances)
    for expectation in applicable:
        if _is_met(expectation, disagree):
            reasons[expectation.reason] = None
    has_two = len(answers.fine) > 1
    return CaseReport(
        case=case,
        results=dict(results),
        oracle=_with_noise(oracle, answers.noise_alone),
        oracle_agrees=oracle_agrees,
        verdict=comparison.verdict,
        expected=surprise is None,
        reason="; ".join(reasons) if surprise is None else "",
        surprise=surprise,
        greatest=comparison.greatest,
        groups=answer_groups(answers),
        apart=_apart(disagree),
        drawn=answers.drawn(),
        not_finite_alike=_not_finite_alike(answers),
        has_two_nets=answers.has_two_nets,
        in_torch_table=comparison.in_torch_table if has_two else None,
        in_mindspore_table=comparison.in_mindspore_table if has_two else None,
    )


def _with_noise(
    oracle: OracleResult, noise_alone: Mapping[Framework, Mapping[str, NDArray[np.bool_]]]
) -> OracleResult:
    """The oracle's estimates with what ``noise_alone`` keeps from being judged among their obstacles."""
    estimates = []
    for estimate in oracle.estimates:
        places = noise_alone.get(oracle.framework, {}).get(estimate.name)
        if places is not None:
            index = () if estimate.directions else tuple(map(int, np.argwhere(places)[0]))
            obstacle = Obstacle("noise", int(places.sum()), index)
            estimate = msgspec.structs.replace(estimate, obstacles=(*estimate.obstacles, obstacle))
        estimates.append(estimate)
    beside = tuple(_with_noise(other, noise_alone) for other in oracle.beside)
    return msgspec.structs.replace(oracle, estimates=tuple(estimates), beside=beside)


def _not_finite_alike(answers: Answers) -> tuple[NotFiniteAlike, ...]:
    """What is the same nan or infinity in every engine, where central differences are finite."""
    first = next(iter(answers.fine.values()), None)
    values = {leaf.name: unpack(leaf.value) for leaf in first.leaves} if first else {}
    alike: list[NotFiniteAlike] = []
    for estimate in answers.oracle.estimates:
        for name in estimate.leaves:
            places = answers.not_finite.get(name)
            if places is not None:
                alike += _finite_there(name, values[name], places, estimate)
    return tuple(alike)


def _finite_there(
    name: str, values: NDArray[np.float64], places: NDArray[np.bool_], estimate: Estimate
) -> Iterator[NotFiniteAlike]:
    """The ``places`` of a gradient that is not finite there, as far as an estimate is."""
    estimated = unpack(estimate.value)
    if not estimate.directions:
        places = places & np.isfinite(estimated)
    elif not np.isfinite(estimated).all():
        return
    elif estimate.smooth is not None:
        places = places & unpack(estimate.smooth)
    if not places.any():
        return
    index = tuple(map(int, np.argwhere(places)[0]))
    finite = None
    is_kink = False
    if not estimate.directions:
        finite = float(estimated[index])
        is_kink = estimate.kinks is not None and bool(unpack(estimate.kinks)[index] > 0)
    count, value = int(places.sum()), float(values[index])
    yield NotFiniteAlike(name, index, count, value, finite, is_kink)


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
    """All sides of which each two disagree although nothing tells them apart."""
    unexpected: list[Parties] = []
    for (one, other), do_disagree in disagree.items():
        is_expected = any(_tells_apart(expectation, one, other) for expectation in applicable)
        if do_disagree and not is_expected:
            unexpected.append((one, other))
    if not unexpected:
        return None
    first, second, *further = _sides(disagree, unexpected)
    return Disagreement(first, second, tuple(further))


def _sides(
    disagree: Mapping[Parties, bool], unexpected: Sequence[Parties]
) -> list[tuple[str, ...]]:
    """The first two of ``unexpected``, each with those who agree with it and not with the others.

    Whoever unexpectedly disagrees with all of them is a further side. Each party on one side
    unexpectedly disagrees with each on the others.
    """
    disagreeing = {frozenset(parties) for parties, do_disagree in disagree.items() if do_disagree}
    opposed = {frozenset(parties) for parties in unexpected}
    sides = [[party] for party in unexpected[0]]
    for party in dict.fromkeys(chain.from_iterable(disagree)):
        if any(party in side for side in sides):
            continue
        against = [_pairs(party, side) <= opposed for side in sides]
        if all(against):
            sides.append([party])
            continue
        for place, side in enumerate(sides):
            agrees = disagreeing.isdisjoint(_pairs(party, side))
            if agrees and all(against[:place] + against[place + 1 :]):
                side.append(party)
                break
    return [tuple(side) for side in sides]


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
    noise: Mapping[str, ResultNoise] = NO_NOISE,
) -> Alignment:
    """An alignment of the graphs of a case, and whether the scenario expects its divergence.

    It does where it expects the two engines to differ, or allows their answers, with the ``noise`` of
    each, to.
    """
    parties = alignment.left, alignment.right
    applicable = [expectation for expectation in expected if expectation.applies(report.case)]
    is_expected = any(_tells_apart(expectation, *parties) for expectation in applicable)
    left, right = (report.results.get(name) for name in parties)
    if tolerances and left and right and left.outcome == right.outcome == "ok":
        both = movements(noise.get(parties[0])), movements(noise.get(parties[1]))
        is_expected |= bool(allowance(report.case, left, right, tolerances, both, report.drawn))
    is_expected |= alignment.divergence is None
    return msgspec.structs.replace(alignment, expected=is_expected)


def alike_results(
    report: CaseReport, parties: Parties, noise: Mapping[str, ResultNoise] = NO_NOISE
) -> frozenset[str]:
    """The results in the answers of two engines that do not differ by more than their ``noise``.

    They are judged once, element by element: their graphs do not lead to other ones.
    """
    left, right = (report.results.get(name) for name in parties)
    if not (left and right and left.outcome == right.outcome == "ok"):
        return frozenset()
    if left.structure != right.structure:
        return frozenset()
    both = movements(noise.get(parties[0])), movements(noise.get(parties[1]))
    alike = set()
    for leaf, other in zip(left.leaves, right.leaves, strict=True):
        movement = both[0].get(leaf.name), both[1].get(other.name)
        is_drawn = leaf.name in report.drawn
        if not is_drawn and compare_leaf(leaf, other, parties, movement).verdict != "differs":
            alike.add(leaf.name)
    return frozenset(alike)


def unjudged_results(
    report: CaseReport, parties: Parties, noise: Mapping[str, ResultNoise] = NO_NOISE
) -> tuple[str, ...]:
    """The results of two engines that are as far apart as they are great, and whose noise is as great."""
    left, right = (report.results.get(name) for name in parties)
    if not (left and right and left.outcome == right.outcome == "ok"):
        return ()
    if left.structure != right.structure:
        return ()
    both = movements(noise.get(parties[0])), movements(noise.get(parties[1]))
    size = max(map(size_of, (*left.leaves, *right.leaves)), default=0.0)
    names = []
    for leaf, other in zip(left.leaves, right.leaves, strict=True):
        movement = both[0].get(leaf.name), both[1].get(other.name)
        compared = unless_swamped(compare_leaf(leaf, other, parties, movement), size).greatest
        if leaf.name not in report.drawn and compared is not None and compared.swamped:
            names.append(leaf.name)
    return tuple(names)


def without_divergence(alignment: Alignment, altered: Collection[str]) -> Alignment:
    """An alignment without divergences where recording ``altered`` the results of one of its engines."""
    parties = alignment.left, alignment.right
    names = tuple(name for name in parties if name in altered)
    if not names:
        return alignment
    return msgspec.structs.replace(
        alignment, divergence=None, further=(), differing=(), expected=True, altered=names
    )


def _is_met(expectation: ExpectedDifference, disagree: Mapping[Parties, bool]) -> bool:
    """Whether some two that an expectation tells apart disagree."""
    return any(
        do_disagree and _tells_apart(expectation, *parties)
        for parties, do_disagree in disagree.items()
    )


def _tells_apart(expectation: ExpectedDifference, one: str, other: str) -> bool:
    return expectation.covers(one) != expectation.covers(other)
