"""The cases of a report as lines: each verdict, and what every engine answered."""

import re

from explorer.model.report import CaseReport
from explorer.model.results import Result

NAMES = 4
"""How many names of a long list are written; of the others their number is."""

LONG_LIST = re.compile(rf"((?:[^\s(),]+, ){{{NAMES}}})((?:[^\s(),]+, )+[^\s(),]+)")
"""More than ``NAMES`` names in a row, those that are written first."""


def case_section(case_report: CaseReport) -> list[str]:
    """The case with its verdict, and a line for each answer with the engines that gave it."""
    lines = [", ".join(_facts(case_report))]
    answers: dict[str, list[str]] = {}
    for engine, result in case_report.results.items():
        answers.setdefault(_answer(result), []).append(engine)
    for answer, engines in answers.items():
        who = "every engine" if len(engines) == len(case_report.results) else " ".join(engines)
        lines.append(f" {who}: {answer}")
    return lines


def _facts(case_report: CaseReport) -> list[str]:
    facts = [f"{case_report.case.short}: {case_report.verdict}"]
    if not case_report.expected:
        facts.append("not expected")
    if case_report.apart:
        pairs = sorted(" / ".join(pair) for pair in case_report.apart)
        facts.append(f"apart {', '.join(pairs)}")
    if case_report.drawn:
        facts.append(f"drawn {' '.join(case_report.drawn)}")
    oracle: str = case_report.oracle.outcome
    if case_report.oracle_agrees is not None:
        oracle = "agrees" if case_report.oracle_agrees else "disagrees"
    return [*facts, f"oracle {oracle}"]


def _answer(result: Result) -> str:
    words = [result.outcome, _shortened(result.written)]
    if result.ids:
        words.append(f"ids {_shortened(', '.join(result.ids))}")
    if result.error:
        words += [result.error.type, result.error.source]
    return " ".join(word for word in words if word)


def _shortened(names: str) -> str:
    """Lists of names without those after the first few."""
    return LONG_LIST.sub(_first_names, names)


def _first_names(found: re.Match[str]) -> str:
    first, rest = found.groups()
    return f"{first}{rest.count(',') + 1} more"
