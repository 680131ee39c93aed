"""What a person is told of a report, in rows and sentences that any face can set: cleaned text, no
layout.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from explorer.model.engines import ENGINES
from explorer.model.report import ORACLE, CaseReport, Report
from explorer.report import wording
from explorer.text.clean import clean
from explorer.text.messages import one_line

State = Literal["good", "foreseen", "alarm", "idle"]
"""As it should be; different, and the scenario says why; not as expected; nothing to compare."""

VERDICTS = {
    "match": "match",
    "close": "close",
    "differs": "differs",
    "all_raise": "all raise",
    "some_raise": "some raise",
    "not_compared": "alone",
}
ANSWERED = ("ok", "raised")


class Line(msgspec.Struct, frozen=True):
    """What some engines say in one voice, under the row of a case; ``who`` is empty for a remark on
    the whole row.
    """

    who: str
    text: str


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One case; ``notes`` are numbers of ``Reading.notes``, counted from 1."""

    call: str
    structure: str
    value: str
    ids: str
    verdict: str
    state: State
    greatest: str
    oracle: str
    lines: tuple[Line, ...] = ()
    notes: tuple[int, ...] = ()


class Group(msgspec.Struct, frozen=True):
    """The cases of one API."""

    heading: str
    rows: tuple[Row, ...]


class Where(msgspec.Struct, frozen=True):
    """One engine: how it differentiates, with which version, on which device (or why not)."""

    engine: str
    how: str
    version: str
    device: str


class Aligned(msgspec.Struct, frozen=True):
    """One pair of graphs: how many op nodes of each have a partner, and where the graphs part."""

    left: str
    right: str
    forward: str
    backward: str
    divergence: str


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a person is told of one report."""

    title: str
    scenario: str
    about: str
    where: tuple[Where, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    aligned: tuple[Aligned, ...]
    ungraphed: tuple[Line, ...]
    summary: str
    oracle_summary: str
    state: State


class _Seen(NamedTuple):
    """What is said once and referred to afterwards: notes by their numbers, and the case that first
    raised such errors.
    """

    notes: dict[str, int]
    errors: dict[tuple[Line, ...], str]


def read(report: Report) -> Reading:
    """Put a report into words."""
    seen = _Seen({}, {})
    groups: dict[str, list[Row]] = {}
    for case in report.cases:
        groups.setdefault(wording.group(case.case), []).append(_row(case, seen))
    alarm = any(not case.expected for case in report.cases)
    return Reading(
        title=one_line(report.title),
        scenario=one_line(report.scenario),
        about=clean(report.notes, keep="\n"),
        where=tuple(_where(report)),
        groups=tuple(Group(wording.HEADINGS[key], tuple(rows)) for key, rows in groups.items()),
        notes=tuple(seen.notes),
        aligned=tuple(_aligned(report)),
        ungraphed=tuple(Line(name, one_line(reason)) for name, reason in report.ungraphed.items()),
        summary=_summary(report.cases),
        oracle_summary=_oracle_summary(report.cases),
        state="alarm" if alarm else "good",
    )


def _where(report: Report) -> Iterable[Where]:
    asked = {
        name: result for case in report.cases for name, result in case.results.items()
    } or report.devices
    for name in sorted(asked, key=list(ENGINES).index):
        engine = ENGINES[name]
        version = f"{engine.framework} {report.versions.get(engine.framework, '')}".strip()
        yield Where(
            name, engine.how, clean(version), clean(report.devices.get(name, "not defined here"))
        )


def _row(report: CaseReport, seen: _Seen) -> Row:
    fine = next((result for result in report.results.values() if result.outcome == "ok"), None)
    lines, value = _lines(report), ""
    if report.verdict == "all_raise":
        name = clean(wording.short(report.case))
        first = seen.errors.setdefault(lines, name)
        lines, value = (lines, "") if first == name else ((), f"as {first}")
    elif fine and report.verdict not in ("differs", "some_raise"):
        value = wording.value(fine)
    return Row(
        call=clean(wording.arguments(report.case)),
        structure=clean(fine.written) if fine else "",
        value=value,
        ids=clean(
            ", ".join(next((result.ids for result in report.results.values() if result.ids), ()))
        ),
        verdict=VERDICTS[report.verdict],
        state=_state(report),
        greatest=wording.size(report.greatest)
        if report.verdict not in ("all_raise", "not_compared")
        else "—",
        oracle=wording.oracle(report),
        lines=lines,
        notes=tuple(
            sorted({seen.notes.setdefault(text, len(seen.notes) + 1) for text in _remarks(report)})
        ),
    )


def _state(report: CaseReport) -> State:
    if not report.expected:
        return "alarm"
    if report.verdict == "not_compared":
        return "idle"
    return (
        "foreseen"
        if report.verdict in ("differs", "some_raise") or report.oracle_agrees is False
        else "good"
    )


def _lines(report: CaseReport) -> tuple[Line, ...]:
    """Engines under the row of a case, those that say the same together; none where all agree."""
    split = report.verdict in ("differs", "some_raise")
    lines: list[Line] = []
    if split or report.verdict == "all_raise" or report.oracle_agrees is False:
        lines += _voices(report, wording.FEW)
        if report.verdict == "differs" and len(lines) == 1:
            lines = _voices(report, wording.MANY)
    if report.oracle_agrees is False:
        lines.append(Line(ORACLE, wording.estimates(report.oracle)))
    if (
        report.verdict == "differs"
        and report.greatest
        and (report.greatest.what != "value" or not report.expected)
    ):
        lines.append(Line("", wording.spelled(report.greatest)))
    return tuple(lines)


def _voices(report: CaseReport, precision: int) -> list[Line]:
    said: dict[str, list[str]] = {}
    for name, result in report.results.items():
        if result.outcome in ANSWERED:
            said.setdefault(wording.answer(result, precision), []).append(name)
    asked = tuple(
        name for name, result in report.results.items() if result.outcome != "not_defined"
    )
    return [Line(wording.who(tuple(names), asked), text) for text, names in said.items()]


def _remarks(report: CaseReport) -> Iterable[str]:
    if report.reason:
        yield (
            clean(report.reason) if report.expected else f"not as expected: {clean(report.reason)}"
        )
    for name, result in report.results.items():
        if result.outcome not in (*ANSWERED, "not_defined"):
            yield f"{name} {wording.answer(result)}"


def _aligned(report: Report) -> Iterable[Aligned]:
    for pair in report.alignments:
        left, right = pair.left_coverage, pair.right_coverage
        yield Aligned(
            pair.left,
            pair.right,
            f"{left.forward} of {left.forward_total} · {right.forward} of {right.forward_total}",
            f"{left.backward} of {left.backward_total} · {right.backward} of {right.backward_total}",
            one_line(pair.divergence.sentence) if pair.divergence else "none",
        )


def _summary(cases: tuple[CaseReport, ...]) -> str:
    counts: dict[str, int] = {}
    for case in cases:
        kind = (
            case.verdict
            if case.verdict != "all_raise"
            else "must"
            if case.case.must_fail
            else "raise"
        )
        counts[kind] = counts.get(kind, 0) + 1
    told = {
        "match": "match",
        "close": "close",
        "must": "fail everywhere as they must",
        "raise": "raise everywhere",
        "differs": "differ",
        "some_raise": "raise in some engines only",
        "not_compared": "answered by fewer than two engines",
    }
    parts = ", ".join(f"{counts[kind]} {words}" for kind, words in told.items() if kind in counts)
    wrong = sum(not case.expected for case in cases)
    return f"{len(cases)} case{'s' * (len(cases) != 1)}: {parts}; {wrong} unexpected"


def _oracle_summary(cases: tuple[CaseReport, ...]) -> str:
    by_cell = [wording.oracle(case) for case in cases]
    every, differs, none = (by_cell.count(cell) for cell in ("agrees", "differs", "—"))
    told = {
        "agrees on every element in": every,
        "agrees along random directions in": len(cases) - every - differs - none,
        "differs in": differs,
        "does not apply to": none,
    }
    parts = ", ".join(f"{words} {count}" for words, count in told.items() if count)
    return f"oracle (central differences in float64): {parts}"
