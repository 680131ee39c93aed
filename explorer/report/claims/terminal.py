"""The board of claims on a terminal, and one claim in full."""

from collections.abc import Iterator

import msgspec
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from explorer.model.claim import GUIDES, Board, ClaimRow, ClaimVerdict
from explorer.model.measurement import Measured
from explorer.report.claims.evidence import NOT_AS_STATED, against, evidence_table
from explorer.report.claims.programs import programs
from explorer.report.claims.wording import (
    board_as_read,
    counts,
    row_as_read,
    rows_by_heading,
    source,
    verdict_name,
    verdict_sentence,
)
from explorer.report.terminal import indented, show_parts
from explorer.report.wording import versions_text
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.words.claims import advice_text, evidence_text

STYLES: dict[ClaimVerdict | None, str] = {
    "holds": "green",
    "holds_with_changes": "yellow",
    "depends_on_style": "cyan",
    "outdated": "magenta",
    "does_not_hold": "bold red",
    "not_checkable_here": "dim",
    None: "bold red",
}
"""Each verdict's colour; None is that of a claim that could not be run."""

FIGURES_LENGTH = 1500
"""The number of characters of a measurement's figures that are shown."""


def show_board(board: Board, console: Console) -> None:
    """Print every row: number, statement, verdict, and one line of evidence."""
    show_parts(_board(board_as_read(board)), console)


def show_claim(board: Board, row: ClaimRow, console: Console) -> None:
    """Print one claim in full.

    What would be true, the verdict, evidence, advice, the code that a guide prints, and the programs
    that were run.
    """
    show_parts(_claim(board, row_as_read(row)), console)


def _board(board: Board) -> Iterator[RenderableType]:
    yield Text(versions_text(board.versions), style="dim")
    for heading, rows in rows_by_heading(board):
        yield Text()
        yield Text(_(heading), style="bold")
        yield indented(_grid(rows), 1)
    yield Text()
    yield Text(counts(board), style="bold")


def _grid(rows: list[ClaimRow]) -> Grid:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", no_wrap=True, vertical="top")
    grid.add_column(justify="left", vertical="top")
    for row in rows:
        verdict = (_(verdict_name(row.verdict)), STYLES[row.verdict])
        # Evidence goes below, as wide as the statement: a column of its own would be too narrow.
        grid.add_row(Text(str(row.id)), Text.assemble(verdict, "  ", one_line(row.statement)))
        grid.add_row("", Text(one_line(evidence_text(row)), style="dim"))
    return grid


def _claim(board: Board, row: ClaimRow) -> Iterator[RenderableType]:
    yield Text.assemble((f"{row.id}  ", "dim"), (one_line(row.statement), "bold"))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    grid.add_row(_("verdict"), Text(verdict_sentence(row), style=STYLES[row.verdict]))
    contrary = against(row)
    if contrary:
        grid.add_row("", Text(f"{_(NOT_AS_STATED)} {contrary}"))
    grid.add_row(_("if it holds"), Text(row.would))
    grid.add_row(_("evidence"), _evidence(row))
    grid.add_row(_("what to do"), Text(advice_text(row)))
    for guide in row.guides:
        grid.add_row(_("from"), Text(f"{source(guide, row)}: {_(GUIDES[guide])}"))
    grid.add_row(_("measured on"), Text(versions_text(board.versions)))
    yield indented(grid, 3)
    for program in programs(board, row):
        yield Text()
        yield Text(f"{program.heading}:", style="bold")
        yield _code(program.code)
    for name in row.measured:
        yield from _measured(name, board.measured[name])


def _evidence(row: ClaimRow) -> RenderableType:
    evidence = evidence_table(row)
    if not evidence.rows:
        return Text(clean(evidence_text(row)))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for _column in evidence.columns:
        grid.add_column(overflow="fold")
    grid.add_row(*(Text(column, style="dim") for column in evidence.columns))
    for cells in evidence.rows:
        grid.add_row(*(Text(clean(cell)) for cell in cells))
    return grid


def _measured(name: str, measured: Measured) -> Iterator[RenderableType]:
    yield Text()
    yield Text(f"{name}: {measured.outcome}", style="bold")
    if measured.figures:
        figures = msgspec.json.format(msgspec.json.encode(measured.figures), indent=0).decode()
        shown = one_line(figures, FIGURES_LENGTH)
        yield indented(Text(shown, style="cyan", overflow="fold"), 2)


def _code(code: str) -> RenderableType:
    return indented(Text(clean(code.rstrip(), keep="\n"), overflow="fold"), 2)
