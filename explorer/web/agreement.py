"""Which engines give the same answer to a case, as the letters that the page shows beside them."""

from string import ascii_uppercase

from explorer.compare.verdicts import compare
from explorer.model.engines import ENGINES
from explorer.model.report import CaseReport
from explorer.model.results import Result


def letters(report: CaseReport) -> dict[str, str]:
    """ "A" for each engine that answers like the first one, "B" for the next answer, …, tapes
    first; the silent are left out.

    Answers are alike when they compare as "match" or "close"; errors when they are of one type.
    """
    found: list[Result] = []
    given: dict[str, str] = {}
    for name in sorted(report.results, key=lambda name: ENGINES[name].style, reverse=True):
        result = report.results[name]
        if result.outcome not in ("ok", "raised"):
            continue
        place = next(
            (index for index, other in enumerate(found) if _alike(result, other)), len(found)
        )
        if place == len(found):
            found.append(result)
        given[name] = ascii_uppercase[place]
    return given


def _alike(one: Result, other: Result) -> bool:
    if one.outcome != other.outcome:
        return False
    if one.outcome == "ok":
        return compare(one, other).verdict != "differs"
    return (one.error and one.error.type) == (other.error and other.error.type)
