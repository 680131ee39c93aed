"""Results as HTML for a notebook, without styles or ids that could clash with the page's own.

Two graphs are shown by the app's own component, as plain HTML and not as a widget (anywidget): nothing
has to be installed beside the notebook, no kernel has to run, and a saved notebook still has it. It
lives in a shadow of the output, and where scripts are removed a picture takes its place.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.blocks.html import NOTEBOOK, html, image
from explorer.blocks.records import Block, Code, Markup, Paragraph, Section
from explorer.model.claim import Board
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.model.study import StudyRecord
from explorer.pair.page import two_panes
from explorer.report.claims.pages import claims_table
from explorer.report.claims.wording import board_as_read, counts
from explorer.report.scenario.export import side_by_side
from explorer.report.scenario.graphs import shown_first
from explorer.report.scenario.page import (
    alignments_table,
    cases_in_short,
    findings,
    first_divergences,
)
from explorer.report.study import drawn_charts, study_blocks
from explorer.text.clean import clean
from explorer.text.language import _, later
from explorer.text.messages import one_line
from explorer.words.cases import count_of_cases, summary
from explorer.words.divergences import first_divergence
from explorer.words.scenarios import said

AGREEMENT = later(
    "The graphs of {left} and {right} agree: every result is the same, up to rounding."
)


def plain_text(text: str) -> str:
    """Foreign text, as it is spaced."""
    return html((Code(text),), NOTEBOOK)


def description(report: Report, graphs: Sequence[GradGraph]) -> str:
    """The text alternative of a picture of graphs."""
    names = _(" beside ").join(graph.engine for graph in graphs)
    nodes = _(" and ").join(str(len(graph.nodes)) for graph in graphs)
    text = _("Gradient graph of {title} in {engines}: {nodes} nodes.")
    text = text.format(title=one_line(said(report.title)), engines=names, nodes=nodes)
    engines = {graph.engine for graph in graphs}
    for alignment in report.alignments:
        if {alignment.left, alignment.right} == engines and alignment.divergence:
            then = clean(first_divergence(alignment))
            return _("{first} {then}").format(first=text, then=then)
    return text


def exploration(report: Report, code: Sequence[Path]) -> str:
    """The verdict, where two engines differ, their ladders, and the cases folded."""
    return html(_exploration(report, code), NOTEBOOK)


def _exploration(report: Report, code: Sequence[Path]) -> Iterator[Block]:
    result = Paragraph(summary(report), is_strong=True)
    yield Section(one_line(said(report.title)), (result,), level=1)
    yield from findings(report)
    yield from first_divergences(report)
    if report.alignments:
        yield alignments_table(report)
    yield Markup(_ladders(report, code))
    yield Section(count_of_cases(len(report.cases)), (cases_in_short(report.cases),), fold="closed")


def _ladders(report: Report, code: Sequence[Path]) -> str:
    chosen = shown_first(report.graphs)
    if len(chosen) < 2:
        return ""
    content = side_by_side(chosen[0], chosen[1], report.alignments)
    still = image(content, "svg", description(report, chosen))
    first = [graph.engine for graph in chosen]
    return two_panes(report.graphs, report.alignments, code, still, first)


def study(record: StudyRecord) -> str:
    """A study's findings and charts, and its tables folded."""
    return html(study_blocks(record, tuple(drawn_charts(record))), NOTEBOOK)


def claims(board: Board) -> str:
    """Counts, and a row a claim."""
    rows = board_as_read(board).rows
    shown = claims_table(rows, "id", "statement", "verdict", "evidence", "advice")
    return html((Paragraph(counts(board), is_strong=True), shown), NOTEBOOK)
