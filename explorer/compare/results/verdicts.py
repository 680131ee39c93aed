"""Verdicts: on the results of a case, whether it is what a scenario expects, and on recorded steps."""

from collections.abc import Collection, Mapping
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.compare.graphs.sameness import CLEAR, MINDSPORE_TABLE
from explorer.compare.results.answers import NO_NOISE, Answers, allowance, answer_groups
from explorer.compare.results.comparison import (
    Comparison,
    Noises,
    Parties,
    by_leaf,
    movements,
    unless_swamped,
    worst,
)
from explorer.model.alignment import Alignment
from explorer.model.arrays import first_elements
from explorer.model.cases import GradCase
from explorer.model.engines import Framework
from explorer.model.report import (
    ORACLE,
    Agreement,
    CaseReport,
    Difference,
    Disagreement,
    Unanswered,
)
from explorer.model.results import (
    LOST,
    Obstacle,
    OracleResult,
    Outcome,
    Result,
    ResultNoise,
)
from explorer.model.trace import Trace
from explorer.scenario.declaration import ExpectedDifference, Tolerance


def judge(
    case: GradCase,
    results: Mapping[str, Result],
    oracle: OracleResult,
    expected: tuple[ExpectedDifference, ...] = (),
    noise: Mapping[str, ResultNoise] = NO_NOISE,
    tolerances: tuple[Tolerance, ...] = (),
    forwards: Mapping[str, ResultNoise] = NO_NOISE,
) -> CaseReport:
    """The report on one case: the verdict on its results, and whether the scenario expects it.

    Engines that are not defined for the scenario, or cannot do the case at all, are left out. Where
    differences are expected, parties that no expectation tells apart must agree, and an expectation
    that tells some apart must be met by a difference, unless all of these raise. ``noise`` is that
    of each engine's answer, by the engine's name. What ``tolerances`` allow is close. ``forwards`` are
    what the nets return: where they differ, the oracle judges those of its own framework alone.
    """
    answers = Answers(case, results, oracle, noise, tolerances, forwards)
    comparison = _compare_all(answers)
    lost: dict[Outcome, tuple[str, ...]] = {}
    for name, result in results.items():
        if result.outcome in LOST:
            lost[result.outcome] = (*lost.get(result.outcome, ()), name)
    disagree = answers.disagreements()
    reasons = dict.fromkeys(answers.allowed.values())
    unmet: list[Agreement] = []
    told_apart: set[Parties] = set()
    for expectation in expected:
        if expectation.applies(case):
            apart = {pair for pair in disagree if _tells_apart(expectation, *pair)}
            told_apart |= apart
            if any(disagree[pair] for pair in apart):
                reasons[expectation.reason] = None
            elif not all(answers.fine.keys().isdisjoint(pair) for pair in apart):
                # Where both raise there is nothing to see: the case fails before it could differ.
                unmet.append(Agreement(tuple(expectation.engines), expectation.reason))
    surprise = (
        (Unanswered(lost) if lost else None)
        or _unexpected_difference(disagree, told_apart)
        or next(iter(unmet), None)
    )
    has_two = len(answers.fine) > 1
    return CaseReport(
        case=case,
        results=dict(results),
        oracle=_with_noise(oracle, answers.noise_alone),
        oracle_agrees=all(answers.near_oracle.values()) if answers.near_oracle else None,
        verdict=comparison.verdict,
        expected=surprise is None,
        reason="; ".join(reasons) if surprise is None else "",
        surprise=surprise,
        greatest=comparison.greatest,
        groups=answer_groups(answers),
        apart=tuple(pair for pair, do in disagree.items() if do and ORACLE not in pair),
        drawn=answers.drawn,
        not_finite_alike=tuple(answers.not_finite_alike()),
        has_two_nets=None in answers.judges.values(),
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


def _compare_all(answers: Answers) -> Comparison:
    """Every two results, as far as the engines can do the case."""
    raised = [name for name, result in answers.results.items() if result.outcome == "raised"]
    if raised and answers.fine:
        error = answers.results[raised[0]].error
        parties = next(iter(answers.fine)), raised[0]
        detail = f"{raised[0]} raises {error.type if error else 'an error'}"
        return Comparison("some_raise", Difference("outcome", parties, detail=detail))
    if raised:
        return Comparison("all_raise")
    if len(answers.fine) < 2:
        return Comparison("not_compared")
    compared = worst(answers.comparisons.values())
    leaves = next(iter(answers.fine.values())).leaves
    is_all_drawn = len(answers.drawn) == len(leaves) > 0
    is_match = compared.verdict == "match"
    return compared._replace(verdict="drawn") if is_match and is_all_drawn else compared


def _unexpected_difference(
    disagree: Mapping[Parties, bool], told_apart: Collection[Parties]
) -> Disagreement | None:
    """All sides of which each two disagree although nothing tells them apart.

    They are the first two that do, each with those who agree with it and not with the others. Whoever
    unexpectedly disagrees with all of them is a further side. Each party on one side unexpectedly disagrees
    with each on the others.
    """
    disagreeing = [parties for parties, do_disagree in disagree.items() if do_disagree]
    unexpected = [parties for parties in disagreeing if parties not in told_apart]
    if not unexpected:
        return None
    apart, opposed = set(map(frozenset, disagreeing)), set(map(frozenset, unexpected))
    sides = [[party] for party in unexpected[0]]
    for party in dict.fromkeys(chain.from_iterable(disagree)):
        if any(party in side for side in sides):
            continue
        pairs = [{frozenset((party, name)) for name in side} for side in sides]
        against = [of_side <= opposed for of_side in pairs]
        if all(against):
            sides.append([party])
            continue
        for place, side in enumerate(sides):
            is_against_others = all(against[:place] + against[place + 1 :])
            if is_against_others and apart.isdisjoint(pairs[place]):
                side.append(party)
                break
    first, second, *further = map(tuple, sides)
    return Disagreement(first, second, tuple(further))


def _tells_apart(expectation: ExpectedDifference, one: str, other: str) -> bool:
    return expectation.covers(one) != expectation.covers(other)


# The graphs of two engines


def _both(
    report: CaseReport, parties: Parties, noise: Mapping[str, ResultNoise]
) -> tuple[Result, Result, Noises] | None:
    """The answers of two engines with their noise; None where one has none, or they nest otherwise."""
    left, right = (report.results.get(name) for name in parties)
    if not (left and right and left.outcome == right.outcome == "ok"):
        return None
    if left.structure != right.structure:
        return None
    return left, right, (movements(noise.get(parties[0])), movements(noise.get(parties[1])))


class Judged(NamedTuple):
    """The results of two engines that do not differ by more than their noise, and the ``unjudged`` ones.

    Those are as far apart as they are great, and their noise is as great.
    """

    alike: frozenset[str] = frozenset()
    unjudged: tuple[str, ...] = ()


def judged_results(
    report: CaseReport, parties: Parties, noise: Mapping[str, ResultNoise] = NO_NOISE
) -> Judged:
    """Which results in the answers of two engines differ, given their ``noise``.

    They are judged once, element by element: the graphs of what is alike do not lead to other results.
    """
    both = _both(report, parties, noise)
    if both is None:
        return Judged()
    left, right, noises = both
    compared = by_leaf(left.leaves, right.leaves, parties, noises)
    judged = unless_swamped(left, right, compared)
    alike, unjudged = set(), []
    for leaf, plain, it in zip(left.leaves, compared, judged, strict=True):
        if leaf.name not in report.drawn:
            alike.update([leaf.name] if plain.verdict != "differs" else [])
            unjudged += [leaf.name] if it.greatest and it.greatest.swamped else []
    return Judged(frozenset(alike), tuple(unjudged))


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
    is_expected = alignment.divergence is None or any(
        it.applies(report.case) and _tells_apart(it, *parties) for it in expected
    )
    both = _both(report, parties, noise)
    if both is not None and not is_expected:
        left, right, noises = both
        reasons = allowance(report.case, left, right, tolerances, noises, report.drawn)
        is_expected = bool(reasons)
    return msgspec.structs.replace(alignment, expected=is_expected)


def without_divergence(alignment: Alignment, altered: Collection[str]) -> Alignment:
    """An alignment without divergences where recording ``altered`` the results of one of its engines."""
    parties = alignment.left, alignment.right
    names = tuple(name for name in parties if name in altered)
    if not names:
        return alignment
    return msgspec.structs.replace(alignment, seen=(), differing=(), expected=True, altered=names)


# Updates of weights in two steps

GREATEST_SHARE = 2.0
"""By so much of itself an update may differ: where a gradient is noise, its sign is."""


def alike_updates(left: Trace, right: Trace) -> frozenset[str]:
    """The weights, and what optimizers hold for them, that two steps have updated alike, by name.

    Optimizers divide gradients by their size: an element whose gradient is noise about zero moves as far as
    any other, this way or that. Each element may differ by the share of its update that the noise is
    of its gradient.
    """
    levels = {}
    for graph in (left.graph, right.graph):
        for node in graph.nodes if graph else ():
            noise = node.outputs[0].noise if node.outputs else None
            if node.kind == "output" and noise is not None:
                levels[node.name] = noise
    gradients = {leaf.name: leaf.value for leaf in (*right.results, *left.results)}
    others = {change.name: change for change in right.state}
    alike = set()
    for change in left.state:
        is_weight = f"d{change.name}" in gradients
        result = f"d{change.name if is_weight else change.name.rpartition('.')[0]}"
        level, other = levels.get(result), others.get(change.name)
        if level is None or other is None or result not in gradients:
            continue
        # The elements that a trace keeps, in a row.
        before, after, another, gradient = (
            first_elements(it).astype(np.float64).ravel()
            for it in (change.before, change.after, other.after, gradients[result])
        )
        if not before.shape == after.shape == another.shape == gradient.shape:
            continue
        moved = np.abs(after - before)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip(np.nan_to_num(CLEAR * level / np.abs(gradient)), 0.0, GREATEST_SHARE)
        rtol, atol = MINDSPORE_TABLE["float32"]
        room = share * moved + rtol * np.abs(after) + atol * moved.max()
        if (np.abs(after - another) <= room).all():
            alike.add(change.name)
    return frozenset(alike)
