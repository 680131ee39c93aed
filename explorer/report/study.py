"""The record of a study as blocks, and the files of its output folder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import cast

from explorer import drawing
from explorer.blocks import markdown
from explorer.blocks.records import (
    Block,
    Bullets,
    Column,
    Figure,
    Paragraph,
    Section,
    Span,
    Table,
    fill,
)
from explorer.drawing.chart import chart_png, chart_svg
from explorer.drawing.formats import FormatName
from explorer.model.errors import MissingFrameworkError
from explorer.model.message import Text
from explorer.model.study import Cell, StudyRecord
from explorer.model.study import Table as StudyTable
from explorer.report.json import encode
from explorer.report.schemas import study_document
from explorer.report.wording import NOTHING, measured_with
from explorer.text.failures import typed
from explorer.text.language import _, later, named
from explorer.text.messages import ONE_LINE, brief, one_line
from explorer.words.messages import study_text

DIGITS = 6
"""Significant digits of a number in a table."""

FINDING_LENGTH = 2000
"""The number of characters of a finding that are shown: all, unless a message floods it."""

NO_ROWS = later("Nothing was measured for this table.")
"""Shown in place of a table's rows where there are none; its note says why."""

SHORTENED = later(
    "Messages are shortened; the record has the whole messages: --json, or --out DIR."
)

CHARTS = {"svg": chart_svg, "png": chart_png}
"""Formats with one file a chart and a graph, and what draws a chart in them."""

FORMATS = (*CHARTS, "json", "markdown")
DEFAULT_FORMATS = ("svg", "json")


def cell_text(value: Cell, limit: int = ONE_LINE) -> str:
    """What a record says, as text: a cell, a finding, a title, a note, a column.

    Numbers are rounded to DIGITS, "—" is nothing, and a text has at most ``limit``
    characters.
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):  # before numbers: Python's booleans are ints
        return _("yes") if value else _("no")
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    return one_line(str(value), limit)


def not_measured(record: StudyRecord[Text]) -> dict[str, str]:
    """Why measurements have no figures, by their names, those with one reason together."""
    # A framework that is missing, or a net that it cannot compile, fails many of them alike.
    names_by_reason: dict[str, list[str]] = {}
    for name, measured in record.measured.items():
        if measured.error:
            names_by_reason.setdefault(typed(measured.error), []).append(name)
    return {named(names): brief(text) for text, names in names_by_reason.items()}


def study_blocks(facts: StudyRecord[Text], charts: Sequence[Block] = ()) -> Iterator[Block]:
    """A study: its question, what was found, its tables, and why anything is missing."""
    record = study_text(facts)
    subject = record.study
    if record.scenario:
        subject = _("{study} on {scenario}").format(study=subject, scenario=record.scenario)
    title = (cell_text(record.title), Span(f"  ({subject})", tone="faint"))
    measured = _("{text}.").format(text=measured_with(record.date, record.versions))
    question = cell_text(record.question, FINDING_LENGTH)
    head = (Paragraph(question, "faint"), Paragraph(measured, "faint"))
    yield Section(title, head, level=1)
    findings = map(cell_text, record.findings, repeat(FINDING_LENGTH))
    yield Bullets(tuple(findings))
    yield from charts
    for table in record.tables:
        yield Section(cell_text(table.title), tuple(_table(table)), fold="closed")
    reasons = not_measured(record)
    if reasons:
        lines = []
        for name, reason in reasons.items():
            lines.append(fill(_("{what}: {values}"), what=name, values=reason))
        missing = (Span(_("Not measured"), tone="foreseen"),)
        shortened = Paragraph(_(SHORTENED), "faint")
        yield Section(missing, (shortened, Bullets(tuple(lines))))


def _table(table: StudyTable) -> Iterator[Block]:
    if table.note:
        yield Paragraph(cell_text(table.note, FINDING_LENGTH), "faint")
    # Columns without a row below them say nothing.
    if not table.rows:
        yield Paragraph(_(NO_ROWS))
        return
    columns = []
    for place, name in enumerate(table.columns):
        # A column of numbers with gaps is one of numbers.
        cells = [row[place] for row in table.rows]
        is_numeric = all(isinstance(cell, int | float | None) for cell in cells)
        columns.append(Column(cell_text(name), is_numeric=is_numeric))
    rows = [tuple(map(cell_text, row)) for row in table.rows]
    yield Table(tuple(columns), tuple(rows))


def drawn_charts(record: StudyRecord[Text]) -> Iterator[Figure | Paragraph]:
    """The charts as figures that hold their drawings."""
    charts = study_text(record).charts
    return figures((it.name, partial(chart_svg, it), cell_text(it.title)) for it in charts)


def figures(
    pictures: Iterable[tuple[str, Callable[[], bytes], str]],
) -> Iterator[Figure | Paragraph]:
    """Pictures by their name, what draws them and what they show; those that are empty are left out.

    Where what draws some is not installed, a paragraph says so, once.
    """
    lacking: dict[str, None] = {}
    for name, draw, shown in pictures:
        try:
            svg = draw()
        except MissingFrameworkError as error:
            lacking[str(error)] = None
            continue
        if svg:
            yield Figure(name, (svg,), shown)
    yield from map(Paragraph, lacking)


def study_markdown(record: StudyRecord[Text], picture_format: str = "") -> str:
    """The record as Markdown, with the charts as files of a format beside it."""
    charts = []
    for chart in study_text(record).charts if picture_format else ():
        source = f"{chart.name}.{picture_format}"
        charts.append(Figure(chart.name, (), cell_text(chart.title), source=source))
    return markdown.page(study_blocks(record, charts))


def study_files(
    record: StudyRecord[Text], formats: Sequence[str]
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file's name and what makes it: charts and graphs, then the record and its page."""
    for picture_format, draw_chart in CHARTS.items():
        if picture_format not in formats:
            continue
        for chart in study_text(record).charts:
            yield f"{chart.name}.{picture_format}", partial(draw_chart, chart)
        for name, measured in record.measured.items():
            for graph in measured.graphs:
                draw_graph = partial(drawing.draw, graph, format=cast(FormatName, picture_format))
                yield f"{name}-{graph.engine}.{picture_format}", draw_graph

    if "json" in formats:
        yield f"{record.study}.json", lambda: encode(study_document(record))
    if "markdown" in formats:
        # CHARTS has SVG first, which stays sharp at any size.
        drawn = next((name for name in CHARTS if name in formats), "")
        yield f"{record.study}.md", lambda: study_markdown(record, drawn).encode()
