"""The report on a scenario as Markdown."""

from collections.abc import Iterable, Iterator, Mapping

from explorer.model.report import Report
from explorer.report.markdown import escape, page, table
from explorer.report.scenario.case_rows import CaseRow, State
from explorer.report.scenario.overview import CaseGroup, Overview, cells_of, overview
from explorer.text.language import _, later
from explorer.words.answers import ALIGNMENT_COLUMNS, ENGINE_COLUMNS
from explorer.words.coverage import LEGEND

CASE_COLUMNS = (
    later("call"),
    later("structure"),
    later("value"),
    later("ids"),
    later("verdict"),
    later("greatest difference"),
    later("oracle"),
)

FINDING_MARKS: dict[State, str] = {
    "alarm": later("**Finding**: {text}"),
    "foreseen": later("Finding, expected: {text}"),
    "idle": later("Remark: {text}"),
}
"""A finding with the words before it."""


def report_markdown(report: Report, pictures: Mapping[str, str]) -> str:
    """The report as Markdown; ``pictures`` maps an engine to the picture's file beside it."""
    return page(_parts(overview(report), pictures))


def _parts(whole: Overview, pictures: Mapping[str, str]) -> Iterator[str]:
    yield f"# {escape(whole.title)}"
    scenario = _("Scenario {name}").format(name=escape(whole.scenario))
    yield f"{scenario}. **{escape(whole.summary)}**"
    for finding in whole.findings:
        yield _(FINDING_MARKS[finding.state]).format(text=escape(finding.text))
    yield escape(whole.oracle_summary)
    for omission in whole.left_out:
        yield f"{escape(omission.sentence)}: {escape(', '.join(omission.cases))}"
    yield table(_headings(ENGINE_COLUMNS), map(cells_of, whole.engines))
    for group in whole.groups:
        yield f"## {escape(group.heading)}"
        yield _cases(group)
    notes = [f"- \\[{number}\\] {escape(note)}" for number, note in enumerate(whole.notes, 1)]
    yield "\n".join(notes)
    if whole.alignments or whole.ungraphed or pictures:
        yield f"## {_('Gradient graphs')}"
        yield from _graphs(whole, pictures)


def _headings(columns: Iterable[str]) -> list[str]:
    return [_(column) for column in columns]


def _cases(group: CaseGroup) -> str:
    rows: list[tuple[str, ...]] = []
    for row in group.rows:
        rows.extend(_rows(row))
    return table(_headings(CASE_COLUMNS), rows)


def _rows(row: CaseRow) -> Iterator[tuple[str, ...]]:
    """The row of a case, and one for each of its statements."""
    verdict = row.verdict + "".join(f" [{number}]" for number in row.notes)
    yield (row.call, row.structure, row.value, row.ids, verdict, row.greatest, row.oracle)
    for statement in row.statements:
        yield ("", statement.who, statement.text, "", "", "", "")


def _graphs(whole: Overview, pictures: Mapping[str, str]) -> Iterator[str]:
    if whole.alignments:
        yield escape(_("Counted, by pair: {legend}.").format(legend=_(LEGEND)))
        yield table(_headings(ALIGNMENT_COLUMNS), map(cells_of, whole.alignments))
    for statement in whole.ungraphed:
        text = _("No graph from {engine}: {reason}")
        yield text.format(engine=escape(statement.who), reason=escape(statement.text))
    for statement in whole.warnings:
        yield f"**{escape(statement.who)}: {escape(statement.text)}**"
    yield "\n".join(f"- {escape(proof.who)}: {escape(proof.text)}" for proof in whole.proofs)
    for engine, file in pictures.items():
        alt = _("Gradient graph of {engine}").format(engine=escape(engine))
        yield f"![{alt}]({file})"
