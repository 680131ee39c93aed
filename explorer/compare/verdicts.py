"""The verdict on the results of a case, and whether it is what a scenario expects."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations

import msgspec

from explorer.compare.allowances import allowance
from explorer.compare.groups import with_groups
from explorer.compare.results import (
    NOT_MEASURED,
    Comparison,
    Movements,
    Parties,
    agrees_with_oracle,
    compare,
    movements,
    worst,
)
from explorer.model.alignment import Alignment
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.noise import ResultNoise
from explorer.model.report import ORACLE, CaseReport, Difference
from explorer.model.results import ANSWERED, LOST, OracleResult, Outcome, Result
from explorer.scenario.contract import ExpectedDifference, Tolerance

NO_NOISE: Mapping[str, ResultNoise] = {}
"""The noise of engines whose noise was not measured."""

ORACLE_FRAMEWORK = "torch"
"""The framework whose net the oracle runs."""

UNDIVIDED = ("match", "close", "drawn")
"""Verdicts on answers between which nothing differs."""


Allowed = Callable[[Result, Result, tuple[Movements, Movements], frozenset[str]], str]
"""Why two answers that differ may do so, given their noise and what is drawn in both.

Empty where they may not.
"""


class _Answers:
    """What the parties of a case said, and every comparison of two of them, made once.

    ``allowances`` are the reasons for which some of them may differ.
    """

    def __init__(
        self,
        results: Mapping[str, Result],
        oracle: OracleResult,
        noise: Mapping[str, ResultNoise],
        allowed: Allowed,
    ) -> None:
        self.results = results
        self.oracle = oracle
        self.fine = _with_outcome(results, "ok")
        self.raised = _with_outcome(results, "raised")
        self._noise = {name: movements(noise.get(name)) for name in self.fine}
        self._drawn = {name: _drawn(noise.get(name)) for name in self.fine}
        self.comparisons: dict[Parties, Comparison] = {}
        self.allowances: dict[str, None] = {}
        for one, other in combinations(self.fine, 2):
            both = self._noise[one], self._noise[other]
            drawn = self._drawn[one] & self._drawn[other]
            compared = compare(self.fine[one], self.fine[other], (one, other), both, drawn)
            if compared.verdict == "differs":
                reason = allowed(self.fine[one], self.fine[other], both, drawn)
                if reason:
                    self.allowances[reason] = None
                    compared = compared._replace(verdict="close")
            self.comparisons[one, other] = compared
        self.near_oracle: dict[str, bool] = {}
        for name, result in self.fine.items():
            drawn = self._drawn[name] & self._drawn_by_oracle(name)
            is_near = agrees_with_oracle(result, oracle, self._noise_of(name), drawn)
            if self.has_estimates and is_near is not None:
                self.near_oracle[name] = is_near

    def _noise_of(self, name: str) -> Movements:
        """The noise of an engine; where it was not measured, that of another stands for it."""
        known = [self._noise[name], *self._noise.values()]
        return next((movement for movement in known if movement), NOT_MEASURED)

    def _drawn_by_oracle(self, name: str) -> frozenset[str]:
        """The leaves that the oracle cannot estimate, because PyTorch's net draws random numbers.

        Where that was not measured, what the engine called ``name`` draws stands for it.
        """
        for engine, drawn in self._drawn.items():
            if ENGINES[engine].framework == ORACLE_FRAMEWORK:
                return drawn
        return self._drawn[name]

    def drawn(self) -> tuple[str, ...]:
        """The leaves that depend on random numbers in every engine that answered."""
        if not self.fine:
            return ()
        everywhere = frozenset.intersection(*self._drawn.values())
        first = next(iter(self.fine.values()))
        return tuple(leaf.name for leaf in first.leaves if leaf.name in everywhere)

    @property
    def has_estimates(self) -> bool:
        """Whether the oracle has something to say."""
        return self.oracle.outcome == "ok" and len(self.oracle.estimates) > 0

    def disagreements(self) -> dict[Parties, bool]:
        """Of every two parties that answered, whether they disagree."""
        parties = [name for name, result in self.results.items() if result.outcome in ANSWERED]
        if self.has_estimates:
            parties.append(ORACLE)
        return {(one, other): self._disagree(one, other) for one, other in combinations(parties, 2)}

    def _disagree(self, one: str, other: str) -> bool:
        # The oracle is the last of the parties, so it is never the first of two. An error, which
        # has no value, does not contradict it.
        if other == ORACLE:
            return not self.near_oracle.get(one, True)
        if (one, other) in self.comparisons:
            return self.comparisons[one, other].verdict == "differs"
        return self.results[one].outcome != self.results[other].outcome


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

    answers = _Answers(results, oracle, noise, allowed)
    comparison = _compare_all(answers)
    oracle_agrees = all(answers.near_oracle.values()) if answers.near_oracle else None
    applicable = tuple(expectation for expectation in expected if expectation.applies(case))
    disagree = answers.disagreements()
    complaint = _complaint(answers, disagree, applicable)
    reasons = dict(answers.allowances)
    if comparison.verdict not in UNDIVIDED or oracle_agrees is False:
        for expectation in applicable:
            reasons[expectation.reason] = None
    has_two = len(answers.fine) > 1
    report = CaseReport(
        case=case,
        results=dict(results),
        oracle=oracle,
        oracle_agrees=oracle_agrees,
        verdict=comparison.verdict,
        expected=not complaint,
        reason=complaint or "; ".join(reasons),
        greatest=comparison.greatest,
        apart=_apart(disagree),
        drawn=answers.drawn(),
        in_torch_table=comparison.in_torch_table if has_two else None,
        in_mindspore_table=comparison.in_mindspore_table if has_two else None,
    )
    return with_groups(report, answers.near_oracle)


def _drawn(noise: ResultNoise | None) -> frozenset[str]:
    return frozenset(noise.drawn) if noise else frozenset()


def _apart(disagree: Mapping[Parties, bool]) -> tuple[Parties, ...]:
    """The engines that disagree, two and two."""
    apart = []
    for parties, do_disagree in disagree.items():
        if do_disagree and ORACLE not in parties:
            apart.append(parties)
    return tuple(apart)


def _with_outcome(results: Mapping[str, Result], outcome: Outcome) -> dict[str, Result]:
    return {name: result for name, result in results.items() if result.outcome == outcome}


def _compare_all(answers: _Answers) -> Comparison:
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


def _complaint(
    answers: _Answers,
    disagree: dict[Parties, bool],
    applicable: tuple[ExpectedDifference, ...],
) -> str:
    """The first thing that is not as expected, as one sentence; empty when all is."""
    lost: dict[Outcome, list[str]] = {}
    for name, result in answers.results.items():
        if result.outcome in LOST:
            lost.setdefault(result.outcome, []).append(name)
    if lost:
        parts = [f"{_listed(names)} {outcome}" for outcome, names in lost.items()]
        return "; ".join(parts).replace("_", " ")
    unexpected = _unexpected_difference(disagree, applicable)
    return unexpected or _missing_difference(disagree, applicable, answers.fine)


def _unexpected_difference(
    disagree: dict[Parties, bool], applicable: tuple[ExpectedDifference, ...]
) -> str:
    """All who are on the sides of the first two that disagree although nothing tells them apart."""
    unexpected: list[Parties] = []
    for (one, other), do_disagree in disagree.items():
        is_expected = any(_tells_apart(expectation, one, other) for expectation in applicable)
        if do_disagree and not is_expected:
            unexpected.append((one, other))
    if not unexpected:
        return ""
    left, right = _sides(disagree, unexpected)
    who = f"{_listed([*left, *right])} disagree"
    if len(left) + len(right) > 2:
        who = f"{_listed(left)} disagree{'s' * (len(left) == 1)} with {_listed(right)}"
    return f"{who}, and nothing in the scenario expects it"


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


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _missing_difference(
    disagree: dict[Parties, bool],
    applicable: tuple[ExpectedDifference, ...],
    fine: Mapping[str, Result],
) -> str:
    """The first expectation that is not met: all parties that it tells apart agree."""
    for expectation in applicable:
        observed = []
        for parties, do_disagree in disagree.items():
            # Where both raise there is nothing to see: the case fails before it could differ.
            if _tells_apart(expectation, *parties) and not fine.keys().isdisjoint(parties):
                observed.append(do_disagree)
        if observed and not any(observed):
            engines = " and ".join(expectation.engines)
            return f"{engines} should differ from the others here, and agree: {expectation.reason}"
    return ""


def foreseen(
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
    is_foreseen = any(_tells_apart(expectation, *parties) for expectation in applicable)
    left, right = (report.results.get(name) for name in parties)
    if tolerances and left and right and left.outcome == right.outcome == "ok":
        unmeasured = NOT_MEASURED, NOT_MEASURED
        reason = allowance(report.case, left, right, tolerances, unmeasured, report.drawn)
        is_foreseen |= reason != ""
    is_expected = alignment.divergence is None or is_foreseen
    return msgspec.structs.replace(alignment, expected=is_expected)


def _tells_apart(expectation: ExpectedDifference, one: str, other: str) -> bool:
    return expectation.covers(one) != expectation.covers(other)
