"""Letters for the distinct answers to a case, shown beside the engines that give them."""

from string import ascii_uppercase

from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport
from explorer.model.results import ANSWERED


def letters(report: CaseReport) -> dict[str, str]:
    """ "A" for each engine that answers like the first one, "B" for the next answer, …

    Tapes come first; engines that did not answer are left out. Answers are alike when they do not
    differ; errors when they are of one type.
    """
    # Compared with the first of each kind only: nearness is not transitive.
    distinct: list[str] = []
    by_engine: dict[str, str] = {}
    for name in sorted(report.results, key=lambda name: ENGINES[name].style, reverse=True):
        if report.results[name].outcome in ANSWERED:
            by_engine[name] = ascii_uppercase[_place(report, name, distinct)]
    return by_engine


def _place(report: CaseReport, name: str, distinct: list[str]) -> int:
    """The place of an engine among those with distinct answers, to which a new one is added."""
    for place, other in enumerate(distinct):
        if _are_alike(report, name, other):
            return place
    distinct.append(name)
    return len(distinct) - 1


def _are_alike(report: CaseReport, name: str, other: str) -> bool:
    result, another = report.results[name], report.results[other]
    if result.outcome != another.outcome:
        return False
    if result.outcome == "ok":
        return (name, other) not in report.apart and (other, name) not in report.apart
    return (result.error and result.error.type) == (another.error and another.error.type)
