"""A report in rows and sentences, which the terminal, Markdown, HTML and the app all show."""

from collections.abc import Iterator

import msgspec

from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.findings import ReportFinding
from explorer.model.report import Report
from explorer.report.scenario.case_rows import CaseRow, Footnotes, State, Statement, row_among
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.words import answers, cases
from explorer.words.coverage import in_short, where_they_differ
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph
from explorer.words.proofs import in_words, last_stages, proofs, warnings
from explorer.words.scenarios import said, said_notes


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
    state: State


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
    if isinstance(row, AlignmentRow):
        return row.engines, row.forward, row.backward, row.divergence
    return row.engine, row.how, row.version, row.device


def overview(report: Report) -> Overview:
    """A report in words."""
    footnotes = Footnotes()
    # Cases come in the order of the matrix, in which those of one API stand together.
    rows: dict[str, list[CaseRow]] = {}
    for case in report.cases:
        rows.setdefault(answers.heading(case.case), []).append(row_among(case, footnotes))
    groups = [CaseGroup(_(answers.HEADINGS[key]), tuple(group)) for key, group in rows.items()]
    ungraphed = []
    for name, why in report.ungraphed.items():
        ungraphed.append(Statement(name, one_line(why_no_graph(why))))
    return Overview(
        title=one_line(said(report.title)),
        scenario=one_line(report.scenario),
        about=clean(said_notes(report.notes), keep="\n"),
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
        summary=cases.summary(report),
        oracle_summary=cases.oracle_summary(report.cases),
        state="good" if report.is_as_expected else "alarm",
    )


def _finding_row(finding: ReportFinding) -> FindingRow:
    if finding.is_remark:
        return FindingRow(one_line(finding_sentence(finding)), "idle")
    if finding.expected:
        return FindingRow(
            f"{one_line(finding_sentence(finding))} ({one_line(said(finding.reason))})", "foreseen"
        )
    return FindingRow(one_line(finding_sentence(finding)), "alarm")


def _engine_rows(report: Report) -> Iterator[EngineRow]:
    # A report without cases still says where its engines ran.
    names: set[str] = set()
    for case in report.cases:
        names.update(case.results)
    for name, engine in ENGINES.items():
        if name not in (names or report.devices):
            continue
        version = f"{engine.framework} {report.versions.get(engine.framework, '')}".strip()
        device = report.devices.get(name) or _("not defined here")
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
        text = _(answers.OMITTED[left_out.cause])
        sentence = text.format(
            n=len(left_out.cases), total=total, reason=answers.why_left_out(left_out)
        )
        names = tuple(clean(case.short) for case in left_out.cases)
        yield Omission(one_line(sentence), names)


def _alignment_rows(report: Report) -> Iterator[AlignmentRow]:
    for alignment in report.alignments:
        left, right = alignment.left_coverage, alignment.right_coverage
        yield AlignmentRow(
            f"{alignment.left} · {alignment.right}",
            in_short(left.forward, right.forward),
            in_short(left.backward, right.backward),
            one_line(where_they_differ(alignment)),
            _state(alignment),
        )


def _state(alignment: Alignment) -> State:
    """Whether two graphs differ anywhere, or have values that are wrong."""
    return "foreseen" if alignment.divergence or alignment.contradictions else "good"


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
