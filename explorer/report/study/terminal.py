"""The record of a study on a terminal."""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from explorer.model.study import StudyRecord, Table
from explorer.report.study.cells import NO_ROWS, WHOLE, cell_text, not_measured
from explorer.report.terminal import indented, show_parts
from explorer.report.wording import versions_text
from explorer.text.messages import one_line

FINDING_LENGTH = 2000
"""The number of characters of a finding that are shown: all, unless a message floods it."""

INDENT = 2


def show_study(record: StudyRecord, console: Console) -> None:
    """Print a study: its question, what was found, its tables, and why anything is missing."""
    show_parts(_head(record), console)
    show_parts(_findings(record), console)
    show_parts(_tables(record), console)
    show_parts(_missing(record), console)


def _head(record: StudyRecord) -> Iterator[RenderableType]:
    subject = f" on {record.scenario}" if record.scenario else ""
    yield Text.assemble((record.title, "bold"), f"  ({record.study}{subject})")
    yield Text(f"  {record.question}", style="dim")
    yield Text(f"  {versions_text(record.versions)}", style="dim")


def _findings(record: StudyRecord) -> Iterator[RenderableType]:
    yield Text()
    grid = Grid.grid(padding=(0, 1))
    for finding in record.findings:
        grid.add_row(" •", Text(one_line(finding, FINDING_LENGTH)))
    yield grid


def _tables(record: StudyRecord) -> Iterator[RenderableType]:
    for table in record.tables:
        yield Text()
        yield Text(table.title, style="bold")
        if table.note:
            yield indented(Text(table.note, style="dim"), INDENT)
        # Columns without a row below them say nothing.
        yield indented(_grid(table) if table.rows else Text(NO_ROWS), INDENT)


def _grid(table: Table) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for index, name in enumerate(table.columns):
        # A column of numbers with gaps is one of numbers.
        is_numeric = all(isinstance(row[index], int | float | None) for row in table.rows)
        grid.add_column(name, justify="right" if is_numeric else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(cell_text(value)) for value in row))
    return grid


def _missing(record: StudyRecord) -> Iterator[RenderableType]:
    reasons = not_measured(record)
    if reasons:
        yield Text()
        yield Text.assemble(("not measured", "bold yellow"), f"  ({WHOLE})")
        for name, reason in reasons.items():
            yield indented(Text(f"{name}: {reason}"), INDENT)
