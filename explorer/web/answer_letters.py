"""Letters for the distinct answers to a case, shown beside the engines that give them."""

from itertools import product
from string import ascii_uppercase

from explorer.model.engines import ENGINES
from explorer.model.report import AnswerGroup, CaseReport


def letters(report: CaseReport) -> dict[str, str]:
    """ "A" for each engine that answers like the first one, "B" for the next answer, …

    Tapes come first; engines that did not answer are left out. Answers are alike when they do not
    differ; errors when they are of one type.
    """
    group_of = {name: group for group in report.groups for name in group.engines}
    distinct: list[AnswerGroup] = []
    by_engine: dict[str, str] = {}
    for name in sorted(report.results, key=lambda name: ENGINES[name].style, reverse=True):
        if name in group_of:
            by_engine[name] = ascii_uppercase[_place(report, group_of[name], distinct)]
    return by_engine


def _place(report: CaseReport, group: AnswerGroup, distinct: list[AnswerGroup]) -> int:
    """The place of an answer among the distinct ones, to which a new one is added."""
    for place, other in enumerate(distinct):
        if _are_alike(report, group, other):
            return place
    distinct.append(group)
    return len(distinct) - 1


def _are_alike(report: CaseReport, group: AnswerGroup, other: AnswerGroup) -> bool:
    result, another = report.results[group.engines[0]], report.results[other.engines[0]]
    if result.outcome != another.outcome:
        return False
    if result.error and another.error:
        return result.error.type == another.error.type
    apart = {frozenset(engines) for engines in report.apart}
    pairs = product(group.engines, other.engines)
    return not any(frozenset(engines) in apart for engines in pairs)
