"""A report in rows and sentences, which the terminal, Markdown, HTML and the app all show."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.findings import ReportFinding
from explorer.model.report import CaseReport, Report
from explorer.report.coverage import in_short, not_compared, unproven
from explorer.report.proofs import in_words, last_stages, proofs, warnings
from explorer.report.scenario import wording
from explorer.report.scenario.case_rows import CaseRow, Footnotes, State, Statement, row_among
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.words.divergences import first_divergence

COUNTED = {
    "match": "match",
    "close": "close",
    "match_within": "match within the only framework that answered",
    "close_within": "close within the only framework that answered",
    "must": "fail everywhere as they must",
    "raise": "raise everywhere",
    "drawn": "depend on random numbers in every value",
    "differs": "differ",
    "some_raise": "raise in some engines only",
    "not_compared": "answered by fewer than two engines",
}
"""The words of the summary for the cases of a kind, as ``kind_of`` tells it."""

NOTHING_COMPARED = "no gradient was compared"
"""What the summary ends with where no case has a gradient of two engines."""


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


def cells_of(row: EngineRow | AlignmentRow) -> tuple[str, ...]:
    """The cells of a row, in the order of ENGINE_COLUMNS or ALIGNMENT_COLUMNS."""
    return tuple(msgspec.structs.astuple(row))


def overview(report: Report) -> Overview:
    """A report in words."""
    footnotes = Footnotes()
    # Cases come in the order of the matrix, in which those of one API stand together.
    rows: dict[str, list[CaseRow]] = {}
    for case in report.cases:
        rows.setdefault(wording.heading(case.case), []).append(row_among(case, footnotes))
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
            where_they_part(alignment),
        )


def where_they_part(alignment: Alignment) -> str:
    """The first divergence; where there is none, what keeps the graphs from being the same."""
    if alignment.divergence:
        return one_line(first_divergence(alignment))
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
    text = f"{_number(len(report.cases), 'case')}: {_verdicts(report.cases)}"
    divergences = sum(not alignment.expected for alignment in report.alignments)
    if divergences:
        text += f"; {_number(divergences, 'pair')} of graphs part unexpectedly"
    findings = sum(finding.is_alarm for finding in report.findings)
    if findings:
        text += f"; {_number(findings, 'finding')} about the nets themselves"
    return text if has_compared(report) else f"{text}; {NOTHING_COMPARED}"


def has_compared(report: Report) -> bool:
    """Whether at least two engines gave a gradient in any case."""
    return any(len(_answered(case)) > 1 for case in report.cases)


def _answered(case: CaseReport) -> list[str]:
    """The engines that gave what was asked for."""
    return [name for name, result in case.results.items() if result.outcome == "ok"]


def summary_of(shown: Sequence[CaseReport], report: Report) -> str:
    """The verdicts of some cases of a report in counts; of all of them, the report's own summary."""
    if len(shown) == len(report.cases):
        return _summary(report)
    text = f"{len(shown)} of {_number(len(report.cases), 'case')}"
    return f"{text}: {_verdicts(shown)}" if shown else text


def _verdicts(cases: Sequence[CaseReport]) -> str:
    counts = _counts(cases)
    parts = [f"{counts[kind]} {words}" for kind, words in COUNTED.items() if kind in counts]
    unexpected = sum(not case.expected for case in cases)
    return f"{', '.join(parts)}; {unexpected} unexpected"


def _counts(cases: Iterable[CaseReport]) -> dict[str, int]:
    """How many cases there are of each kind in COUNTED."""
    counts: dict[str, int] = {}
    for case in cases:
        kind = kind_of(case)
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def kind_of(case: CaseReport) -> str:
    """The key of COUNTED under which a case is counted.

    It is the verdict, but for cases that all engines refuse, and for those in which only one of the
    two frameworks gave a gradient: that its engines agree says nothing of the other.
    """
    if case.verdict == "all_raise":
        return "must" if case.case.must_fail else "raise"
    frameworks = {ENGINES[name].framework for name in _answered(case)}
    if case.verdict in ("match", "close") and len(frameworks) == 1:
        return f"{case.verdict}_within"
    return case.verdict


def _number(count: int, noun: str) -> str:
    """So many of something: "1 case", "2 cases"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _oracle_summary(cases: Sequence[CaseReport]) -> str:
    kinds = Counter(map(wording.oracle_kind, cases))
    told = {
        "agrees": "agrees on every element in",
        wording.KINKED: "agrees but at kinks, which have no derivative, in",
        wording.FINITE: "agrees where the net is finite in",
        "along directions": "agrees along random directions in",
        "differs": "differs in",
        wording.UNJUDGED: f"cannot judge, since {wording.WHY_UNJUDGED},",
        wording.DRAWN: "leaves out what is drawn, which is all, in",
        NOTHING: "does not apply to",
    }
    parts = [f"{words} {kinds[kind]}" for kind, words in told.items() if kinds[kind]]
    stops = wording.STOPS if any(case.oracle.stops for case in cases) else ""
    clauses = [", ".join(parts), *filter(None, (stops, wording.oracle_silence(cases)))]
    return f"oracle (central differences in float64): {'; '.join(clauses)}"
