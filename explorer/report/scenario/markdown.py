"""The report on a scenario as Markdown."""

from collections.abc import Iterator, Mapping

from explorer.model.report import Report
from explorer.report.coverage import LEGEND
from explorer.report.markdown import escape, page, table
from explorer.report.scenario.case_rows import CaseRow, State
from explorer.report.scenario.overview import CaseGroup, Overview, cells_of, overview
from explorer.report.scenario.wording import ALIGNMENT_COLUMNS, ENGINE_COLUMNS

CASE_COLUMNS = ("call", "structure", "value", "ids", "verdict", "greatest difference", "oracle")

FINDING_MARKS: dict[State, str] = {
    "alarm": "**Finding**",
    "foreseen": "Finding, expected",
    "idle": "Remark",
}
"""The words before a finding."""


def report_markdown(report: Report, pictures: Mapping[str, str]) -> str:
    """The report as Markdown; ``pictures`` maps an engine to the picture's file beside it."""
    return page(_parts(overview(report), pictures))


def _parts(whole: Overview, pictures: Mapping[str, str]) -> Iterator[str]:
    yield f"# {escape(whole.title)}"
    yield f"Scenario {escape(whole.scenario)}. **{escape(whole.summary)}**"
    for finding in whole.findings:
        yield f"{FINDING_MARKS[finding.state]}: {escape(finding.text)}"
    yield escape(whole.oracle_summary)
    for omission in whole.left_out:
        yield f"{escape(omission.sentence)}: {escape(', '.join(omission.cases))}"
    yield table(ENGINE_COLUMNS, map(cells_of, whole.engines))
    for group in whole.groups:
        yield f"## {escape(group.heading)}"
        yield _cases(group)
    notes = [f"- \\[{number}\\] {escape(note)}" for number, note in enumerate(whole.notes, 1)]
    yield "\n".join(notes)
    if whole.alignments or whole.ungraphed or pictures:
        yield "## Gradient graphs"
        yield from _graphs(whole, pictures)


def _cases(group: CaseGroup) -> str:
    rows: list[tuple[str, ...]] = []
    for row in group.rows:
        rows.extend(_rows(row))
    return table(CASE_COLUMNS, rows)


def _rows(row: CaseRow) -> Iterator[tuple[str, ...]]:
    """The row of a case, and one for each of its statements."""
    verdict = row.verdict + "".join(f" [{number}]" for number in row.notes)
    yield (row.call, row.structure, row.value, row.ids, verdict, row.greatest, row.oracle)
    for statement in row.statements:
        yield ("", statement.who, statement.text, "", "", "", "")


def _graphs(whole: Overview, pictures: Mapping[str, str]) -> Iterator[str]:
    if whole.alignments:
        yield f"Counted, by pair: {escape(LEGEND)}."
        yield table(ALIGNMENT_COLUMNS, map(cells_of, whole.alignments))
    for statement in whole.ungraphed:
        yield f"No graph from {escape(statement.who)}: {escape(statement.text)}"
    for statement in whole.warnings:
        yield f"**{escape(statement.who)}: {escape(statement.text)}**"
    yield "\n".join(f"- {escape(proof.who)}: {escape(proof.text)}" for proof in whole.proofs)
    for engine, file in pictures.items():
        yield f"![Gradient graph of {escape(engine)}]({file})"
