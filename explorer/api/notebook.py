"""Results as HTML for a notebook, without styles or ids that could clash with the page's own.

Two graphs are shown by the app's own component, as plain HTML and not as a widget (anywidget): nothing
has to be installed beside the notebook, no kernel has to run, and a saved notebook still has it. It
lives in a shadow of the output, and where scripts are removed a picture takes its place.
"""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from explorer.blocks.html import NOTEBOOK, html
from explorer.blocks.records import Paragraph
from explorer.model.claim import Board
from explorer.model.graph import GradGraph
from explorer.model.report import CaseReport, Report
from explorer.model.study import StudyRecord
from explorer.pair.page import two_panes
from explorer.report.claims.pages import claims_table
from explorer.report.claims.wording import board_as_read, counts
from explorer.report.html import prose, row, table
from explorer.report.scenario.case_rows import DIVIDED, case_row
from explorer.report.scenario.export import side_by_side
from explorer.report.scenario.graphs import shown_first
from explorer.report.scenario.overview import cells_of, overview
from explorer.report.study import drawn_charts, study_blocks
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.text.numbers import counted
from explorer.words.answers import ALIGNMENT_COLUMNS
from explorer.words.divergences import first_divergence

LEFT = ' style="text-align:left"'

KINDS = {"svg": "image/svg+xml", "png": "image/png"}

AGREEMENT = "The graphs of {left} and {right} agree: every result is the same, up to rounding."


def image(content: bytes, kind: str, description: str) -> str:
    """A picture as an element that holds it whole: its style and ids are its own."""
    data = base64.b64encode(content).decode()
    source = f"data:{KINDS[kind]};base64,{data}"
    return f'<img src="{source}" alt="{escape(description)}" style="max-width:100%;height:auto">'


def paragraphs(text: str) -> str:
    """Foreign text, as it is spaced."""
    return f'<pre style="white-space:pre-wrap">{escape(clean(text, keep=chr(10)))}</pre>'


def description(report: Report, graphs: Sequence[GradGraph]) -> str:
    """The text alternative of a picture of graphs."""
    names = " beside ".join(graph.engine for graph in graphs)
    nodes = " and ".join(str(len(graph.nodes)) for graph in graphs)
    text = f"Gradient graph of {one_line(report.title)} in {names}: {nodes} nodes."
    engines = {graph.engine for graph in graphs}
    for alignment in report.alignments:
        if {alignment.left, alignment.right} == engines and alignment.divergence:
            return f"{text} {clean(first_divergence(alignment))}"
    return text


def _table(columns: Iterable[str], rows: Iterable[str]) -> str:
    # JupyterLab sets the text of tables at their right edge, as of numbers.
    text = table(columns, rows)
    return text.replace("<td>", f"<td{LEFT}>").replace("<th ", f"<th{LEFT} ")


def exploration(report: Report, code: Sequence[Path]) -> str:
    """The verdict, where two engines differ, their ladders, and the cases folded."""
    whole = overview(report)
    parts = [f"<h4>{escape(whole.title)}</h4>", f"<p><b>{escape(whole.summary)}</b></p>"]
    parts += [f"<p>{prose(finding.text)}</p>" for finding in whole.findings]
    if whole.alignments:
        pairs = [row(cells_of(pair)) for pair in whole.alignments]
        parts.append(_table(map(_, ALIGNMENT_COLUMNS), pairs))
    parts.append(_ladders(report, code))
    parts.append(_folded(counted(len(report.cases), "case"), _cases(report)))
    return "\n".join(parts)


def _ladders(report: Report, code: Sequence[Path]) -> str:
    chosen = shown_first(report.graphs)
    if len(chosen) < 2:
        return ""
    content = side_by_side(chosen[0], chosen[1], report.alignments)
    still = image(content, "svg", description(report, chosen))
    first = [graph.engine for graph in chosen]
    return two_panes(report.graphs, report.alignments, code, still, first)


def _cases(report: Report) -> str:
    columns, rows = table_of_cases(report.cases)
    return _table(columns, map(row, rows))


def table_of_cases(
    cases: Iterable[CaseReport],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The columns and the rows of a table of cases."""
    rows = []
    for case in cases:
        shown = case_row(case)
        statements = "; ".join(f"{each.who} {each.text}" for each in shown.statements if each.who)
        value = shown.value or (statements if case.verdict in DIVIDED else "")
        rows.append((shown.call, shown.structure, value, shown.verdict, shown.greatest))
    names = _("call"), _("structure"), _("value"), _("verdict"), _("greatest difference")
    return names, tuple(rows)


def study(record: StudyRecord) -> str:
    """A study's findings and charts, and its tables folded."""
    return html(study_blocks(record, tuple(drawn_charts(record))), NOTEBOOK)


def claims(board: Board) -> str:
    """Counts, and a row a claim."""
    rows = board_as_read(board).rows
    shown = claims_table(rows, "id", "statement", "verdict", "evidence", "advice")
    return html((Paragraph(counts(board), is_strong=True), shown), NOTEBOOK)


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
