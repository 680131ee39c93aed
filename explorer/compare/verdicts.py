"""The verdict on the results of a case, and whether it is what a scenario expects."""

from collections.abc import Mapping
from itertools import combinations

from explorer.compare.results import Comparison, Parties, agrees_with_oracle, compare, worst
from explorer.model.cases import GradCase
from explorer.model.report import ORACLE, CaseReport, Difference
from explorer.model.results import ANSWERED, LOST, OracleResult, Outcome, Result
from explorer.scenario.contract import ExpectedDifference


def judge(
    case: GradCase,
    results: Mapping[str, Result],
    oracle: OracleResult,
    expected: tuple[ExpectedDifference, ...] = (),
) -> CaseReport:
    """The report on one case: the verdict on its results, and whether the scenario expects it.

    Engines that are not defined for the scenario, or cannot do the case at all, are left out. Where
    differences are expected, parties that no expectation tells apart must agree, and an expectation
    that tells some apart must be met by a difference, unless all of these raise.
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
    return worst(compare(fine[a], fine[b], (a, b)) for a, b in combinations(fine, 2))


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
    """The first thing that is not as expected, as one sentence; empty when all is."""
    for name, result in results.items():
        if result.outcome in LOST:
            return f"{name} {result.outcome.replace('_', ' ')}"
    disagree = _disagreements(results, oracle)
    unexpected = _unexpected_difference(disagree, applicable)
    return unexpected or _missing_difference(disagree, applicable, results)


def _disagreements(results: Mapping[str, Result], oracle: OracleResult) -> dict[Parties, bool]:
    """Of every two parties that answered, whether they disagree."""
    parties = [name for name, result in results.items() if result.outcome in ANSWERED]
    if _has_estimates(oracle):
        parties.append(ORACLE)
    disagree = {}
    for one, other in combinations(parties, 2):
        # The oracle is the last of the parties, so it is never the first of two.
        if other == ORACLE:
            agree = _agrees_where_ok(results[one], oracle)
        else:
            agree = _agree(results[one], results[other])
        disagree[one, other] = not agree
    return disagree


def _agrees_where_ok(result: Result, oracle: OracleResult) -> bool:
    """Whether a value agrees with the oracle; an error, which has none, contradicts nothing."""
    return result.outcome != "ok" or agrees_with_oracle(result, oracle)


def _agree(one: Result, other: Result) -> bool:
    if "raised" in (one.outcome, other.outcome):
        return one.outcome == other.outcome
    return compare(one, other).verdict != "differs"


def _unexpected_difference(
    disagree: dict[Parties, bool], applicable: tuple[ExpectedDifference, ...]
) -> str:
    """The first two parties that disagree although no expectation tells them apart."""
    for (one, other), do_disagree in disagree.items():
        is_expected = any(_tells_apart(expectation, one, other) for expectation in applicable)
        if do_disagree and not is_expected:
            return f"{one} and {other} disagree, and nothing in the scenario expects it"
    return ""


def _missing_difference(
    disagree: dict[Parties, bool],
    applicable: tuple[ExpectedDifference, ...],
    results: Mapping[str, Result],
) -> str:
    """The first expectation that is not met: all parties that it tells apart agree."""
    fine = _with_outcome(results, "ok").keys()
    for expectation in applicable:
        observed = []
        for parties, do_disagree in disagree.items():
            # Where both raise there is nothing to see: the case fails before it could differ.
            if _tells_apart(expectation, *parties) and not fine.isdisjoint(parties):
                observed.append(do_disagree)
        if observed and not any(observed):
            engines = " and ".join(expectation.engines)
            return f"{engines} should differ from the others here, and agree: {expectation.reason}"
    return ""


def _tells_apart(expectation: ExpectedDifference, one: str, other: str) -> bool:
    return expectation.covers(one) != expectation.covers(other)
