"""A report in rows and sentences, which the terminal, Markdown, HTML and the app all show."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.findings import ReportFinding
from explorer.model.report import ORACLE, CaseReport, CaseVerdict, Report
from explorer.model.results import ANSWERED, Result
from explorer.report.coverage import in_short, not_compared, unproven
from explorer.report.proofs import in_words, last_stages, proofs, warnings
from explorer.report.scenario import wording
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.messages import one_line

State = Literal["good", "foreseen", "alarm", "idle"]
"""As it should be; different, and the scenario says why; not as expected; nothing to compare."""

DIVIDED: tuple[CaseVerdict, ...] = ("differs", "some_raise")
"""Verdicts on cases in which engines say different things."""

COUNTED = {
    "match": "match",
    "close": "close",
    "must": "fail everywhere as they must",
    "raise": "raise everywhere",
    "drawn": "depend on random numbers in every value",
    "differs": "differ",
    "some_raise": "raise in some engines only",
    "not_compared": "answered by fewer than two engines",
}
"""The words of the summary for the cases of a kind: a verdict, or "must" or "raise"."""


class Statement(msgspec.Struct, frozen=True):
    """The common answer of some engines, under the row of a case.

    ``who`` is empty for a remark on the whole row.
    """

    who: str
    text: str


class FindingRow(msgspec.Struct, frozen=True):
    """A finding about the nets: what it says, and whether the scenario expects it.

    The state of a remark is "idle".
    """

    text: str
    state: State


class EngineRow(msgspec.Struct, frozen=True):
    """One engine: how it differentiates, and with which version.

    ``device`` is where it really ran, or why it did not.
    """

    engine: str
    how: str
    version: str
    device: str


class CaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case; ``notes`` are numbers of ``Overview.notes``, counted from 1.

    ``greatest`` is the greatest difference with its ratio to the noise, ``size`` its figure alone.
    """

    call: str
    structure: str
    value: str
    ids: str
    verdict: str
    state: State
    size: str
    greatest: str
    oracle: str
    statements: tuple[Statement, ...] = ()
    notes: tuple[int, ...] = ()


class CaseGroup(msgspec.Struct, frozen=True):
    """The cases of one API."""

    heading: str
    rows: tuple[CaseRow, ...]


class AlignmentRow(msgspec.Struct, frozen=True):
    """One pair of graphs: how many op nodes of each have a partner, and where the graphs part.

    ``forward`` and ``backward`` read "12/2/1 · 13/0/0": paired, inside and unpaired of each graph.
    """

    engines: str
    forward: str
    backward: str
    divergence: str


class Omission(msgspec.Struct, frozen=True):
    """Cases that were not asked, or not reached: how many and why, and their names."""

    sentence: str
    cases: tuple[str, ...]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is shown of one report; no text in it can harm a terminal."""

    title: str
    scenario: str
    about: str
    findings: tuple[FindingRow, ...]
    engines: tuple[EngineRow, ...]
    groups: tuple[CaseGroup, ...]
    notes: tuple[str, ...]
    graph_case: str
    alignments: tuple[AlignmentRow, ...]
    ungraphed: tuple[Statement, ...]
    proofs: tuple[Statement, ...]
    warnings: tuple[Statement, ...]
    left_out: tuple[Omission, ...]
    summary: str
    oracle_summary: str
    state: State


def case_row(report: CaseReport) -> CaseRow:
    """The row of a case that stands for itself."""
    return _case_row(report, _Footnotes())


def cells_of(row: EngineRow | AlignmentRow) -> tuple[str, ...]:
    """The cells of a row, in the order of ENGINE_COLUMNS or ALIGNMENT_COLUMNS."""
    return tuple(msgspec.structs.astuple(row))


def overview(report: Report) -> Overview:
    """A report in words."""
    footnotes = _Footnotes()
    # Cases come in the order of the matrix, in which those of one API stand together.
    rows: dict[str, list[CaseRow]] = {}
    for case in report.cases:
        rows.setdefault(wording.heading(case.case), []).append(_case_row(case, footnotes))
    groups = [CaseGroup(wording.HEADINGS[key], tuple(group)) for key, group in rows.items()]
    ungraphed = [Statement(name, one_line(reason)) for name, reason in report.ungraphed.items()]
    return Overview(
        title=one_line(report.title),
        scenario=one_line(report.scenario),
        about=clean(report.notes, keep="\n"),
        findings=tuple(map(_finding_row, report.findings)),
        engines=tuple(_engine_rows(report)),
        groups=tuple(groups),
        notes=footnotes.texts,
        graph_case=_graph_case(report),
        alignments=tuple(_alignment_rows(report)),
        ungraphed=tuple(ungraphed),
        proofs=tuple(_proofs(report)),
        warnings=tuple(_warnings(report)),
        left_out=tuple(_omissions(report)),
        summary=_summary(report),
        oracle_summary=_oracle_summary(report.cases),
        state="good" if report.is_as_expected else "alarm",
    )


def _finding_row(finding: ReportFinding) -> FindingRow:
    if finding.is_remark:
        return FindingRow(one_line(finding.sentence), "idle")
    if finding.expected:
        return FindingRow(f"{one_line(finding.sentence)} ({one_line(finding.reason)})", "foreseen")
    return FindingRow(one_line(finding.sentence), "alarm")


class _Footnotes:
    """Texts that a report shows once and refers to afterwards."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._first_to_raise: dict[tuple[Statement, ...], str] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """The notes, in the order of their numbers."""
        return tuple(self._numbers)

    def number(self, text: str) -> int:
        """The number of a note, counted from 1."""
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    def first_to_raise(self, errors: tuple[Statement, ...], case: str) -> str:
        """The first case in which the engines raised these errors: ``case``, or an earlier one."""
        return self._first_to_raise.setdefault(errors, case)


def _engine_rows(report: Report) -> Iterator[EngineRow]:
    # A report without cases still says where its engines ran.
    names: set[str] = set()
    for case in report.cases:
        names.update(case.results)
    for name, engine in ENGINES.items():
        if name not in (names or report.devices):
            continue
        version = f"{engine.framework} {report.versions.get(engine.framework, '')}".strip()
        device = report.devices.get(name, "not defined here")
        yield EngineRow(name, engine.how, clean(version), clean(device))


def _case_row(report: CaseReport, footnotes: _Footnotes) -> CaseRow:
    statements = tuple(_statements(report))
    value, structure = "", ""
    result = _first_value(report)
    if result:
        structure = clean(result.written)
        if report.verdict not in DIVIDED:
            value = wording.value(result, drawn=report.drawn)
    # Many cases fail in one way: all but the first refer to it.
    if report.verdict == "all_raise":
        case = clean(report.case.short)
        first = footnotes.first_to_raise(statements, case)
        if first != case:
            statements, value = (), f"as {first}"

    size, greatest = wording.size(report.greatest), wording.greatest(report.greatest)
    if report.verdict in ("all_raise", "not_compared", "drawn"):
        size = greatest = NOTHING
    notes = {footnotes.number(remark) for remark in _remarks(report)}
    return CaseRow(
        call=clean(wording.call(report.case)),
        structure=structure,
        value=value,
        ids=clean(", ".join(_ids(report))),
        verdict=wording.VERDICTS[report.verdict],
        state=_state(report),
        size=size,
        greatest=greatest,
        oracle=wording.oracle(report),
        statements=statements,
        notes=tuple(sorted(notes)),
    )


def _first_value(report: CaseReport) -> Result | None:
    for result in report.results.values():
        if result.outcome == "ok":
            return result
    return None


def _ids(report: CaseReport) -> tuple[str, ...]:
    for result in report.results.values():
        if result.ids:
            return result.ids
    return ()


def _state(report: CaseReport) -> State:
    if not report.expected:
        return "alarm"
    if report.verdict in ("not_compared", "drawn"):
        return "idle"
    if report.verdict in DIVIDED or report.oracle_agrees is False:
        return "foreseen"
    return "good"


def _statements(report: CaseReport) -> list[Statement]:
    """The answers of a case in which engines, or engines and the oracle, disagree."""
    statements: list[Statement] = []
    refuted = report.oracle_agrees is False
    if refuted or report.verdict in (*DIVIDED, "all_raise"):
        statements = _voices(report, wording.FEW)
        # Values that differ, and still were set down as one statement, need more digits.
        if report.verdict == "differs" and len(statements) == 1:
            statements = _voices(report, wording.MANY)
    if refuted:
        statements.append(Statement(ORACLE, wording.estimates(report.oracle)))

    difference = report.greatest
    if difference and report.verdict == "differs":
        # An expected difference of values shows in the values themselves.
        shows_itself = difference.what == "value" and report.expected
        if not shows_itself:
            statements.append(Statement("", wording.described(difference)))
    return statements


def _voices(report: CaseReport, precision: int) -> list[Statement]:
    """The distinct answers, each with all engines that give it."""
    engines_by_answer: dict[str, list[str]] = {}
    defined = []
    for name, result in report.results.items():
        if result.outcome != "not_defined":
            defined.append(name)
        if result.outcome in ANSWERED:
            answer = wording.answer(result, precision, report.drawn)
            engines_by_answer.setdefault(answer, []).append(name)
    statements = []
    for answer, engines in engines_by_answer.items():
        statements.append(Statement(wording.who(tuple(engines), tuple(defined)), answer))
    return statements


def _remarks(report: CaseReport) -> Iterator[str]:
    """The footnotes of a case: why a difference is expected or not, and who could not answer."""
    if report.reason:
        reason = clean(report.reason)
        yield reason if report.expected else f"not as expected: {reason}"
    if report.drawn:
        yield wording.ABOUT_DRAWS
    # What a framework raised stands under the case; a footnote is for engines without an answer.
    for name, result in report.results.items():
        if result.outcome not in (*ANSWERED, "not_defined"):
            yield f"{name} {wording.answer(result)}"


def _graph_case(report: Report) -> str:
    """The name of the case whose graphs were captured."""
    labels = {graph.case for graph in report.graphs}
    for case in report.cases:
        if case.case.label in labels:
            return clean(case.case.short)
    return ""


def _omissions(report: Report) -> Iterator[Omission]:
    total = len(report.cases) + sum(len(left_out.cases) for left_out in report.left_out)
    for left_out in report.left_out:
        words = wording.OMITTED[left_out.cause]
        sentence = f"{len(left_out.cases)} of {total} cases {words}: {left_out.reason}"
        names = tuple(clean(case.short) for case in left_out.cases)
        yield Omission(one_line(sentence), names)


def _alignment_rows(report: Report) -> Iterator[AlignmentRow]:
    for alignment in report.alignments:
        left, right = alignment.left_coverage, alignment.right_coverage
        yield AlignmentRow(
            f"{alignment.left} · {alignment.right}",
            in_short(left.forward, right.forward),
            in_short(left.backward, right.backward),
            _where_they_part(alignment),
        )


def _where_they_part(alignment: Alignment) -> str:
    """The first divergence; where there is none, what keeps the graphs from being the same."""
    if alignment.divergence:
        return one_line(alignment.divergence.sentence)
    wrong = len(alignment.contradictions)
    if wrong:
        return f"in no result, but {wrong} op node{'s' * (wrong > 1)} with a value that is wrong"
    if alignment.drawn:
        return f"{wording.NO_DIVERGENCE}; {one_line(not_compared(alignment))}"
    if alignment.unproven:
        return f"{wording.NO_DIVERGENCE}; {unproven(alignment)}"
    return wording.NO_DIVERGENCE


def _proofs(report: Report) -> Iterator[Statement]:
    """How many values of each engine's graph are proven, where that was tried."""
    for graph in last_stages(report.graphs):
        counts = proofs(graph)
        if counts.op_nodes:
            yield Statement(graph.engine, one_line(in_words(counts)))


def _warnings(report: Report) -> Iterator[Statement]:
    """The nodes whose values are refuted."""
    for graph in last_stages(report.graphs):
        for warning in warnings(graph):
            yield Statement(graph.engine, one_line(warning))


def _summary(report: Report) -> str:
    counts = _counts(report.cases)
    parts = [f"{counts[kind]} {words}" for kind, words in COUNTED.items() if kind in counts]
    unexpected = sum(not case.expected for case in report.cases)
    cases = _number(len(report.cases), "case")
    text = f"{cases}: {', '.join(parts)}; {unexpected} unexpected"
    divergences = sum(not alignment.expected for alignment in report.alignments)
    if divergences:
        text += f"; {_number(divergences, 'pair')} of graphs part unexpectedly"
    findings = sum(finding.is_alarm for finding in report.findings)
    if findings:
        text += f"; {_number(findings, 'finding')} about the nets themselves"
    return text


def _counts(cases: Iterable[CaseReport]) -> dict[str, int]:
    """How many cases there are of each kind in COUNTED."""
    counts: dict[str, int] = {}
    for case in cases:
        kind: str = case.verdict
        if case.verdict == "all_raise":
            kind = "must" if case.case.must_fail else "raise"
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _number(count: int, noun: str) -> str:
    """So many of something: "1 case", "2 cases"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _oracle_summary(cases: Iterable[CaseReport]) -> str:
    # What is neither agreement everywhere, nor difference, nor nothing, is "agrees ·16".
    cells = [wording.oracle(case) for case in cases]
    everywhere = cells.count("agrees")
    differs = cells.count("differs")
    drawn = cells.count(wording.DRAWN)
    nowhere = cells.count(NOTHING)
    counts = {
        "agrees on every element in": everywhere,
        "agrees along random directions in": len(cells) - everywhere - differs - drawn - nowhere,
        "differs in": differs,
        "leaves out what is drawn, which is all, in": drawn,
        "does not apply to": nowhere,
    }
    parts = [f"{words} {count}" for words, count in counts.items() if count]
    return f"oracle (central differences in float64): {', '.join(parts)}"
