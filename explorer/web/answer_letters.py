"""Letters for the distinct answers to a case, shown beside the engines that give them."""

from string import ascii_uppercase

from explorer.compare.results import compare
from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport
from explorer.model.results import ANSWERED, Result


def letters(report: CaseReport) -> dict[str, str]:
    """ "A" for each engine that answers like the first one, "B" for the next answer, …

    Tapes come first; engines that did not answer are left out. Answers are alike when they compare
    as "match" or "close"; errors when they are of one type.
    """
    # Compared with the first of each kind only: "close" is not transitive.
    distinct: list[Result] = []
    by_engine: dict[str, str] = {}
    for name in sorted(report.results, key=lambda name: ENGINES[name].style, reverse=True):
        result = report.results[name]
        if result.outcome in ANSWERED:
            by_engine[name] = ascii_uppercase[_place(result, distinct)]
    return by_engine


def _place(result: Result, distinct: list[Result]) -> int:
    """The place of ``result`` among the distinct answers, to which a new one is added."""
    for place, other in enumerate(distinct):
        if _are_alike(result, other):
            return place
    distinct.append(result)
    return len(distinct) - 1


def _are_alike(result: Result, other: Result) -> bool:
    if result.outcome != other.outcome:
        return False
    if result.outcome == "ok":
        return compare(result, other).verdict != "differs"
    return (result.error and result.error.type) == (other.error and other.error.type)
