"""A sweep on a terminal: its table, what has changed, and the summary as the last line."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer.report.scenario.terminal import STYLES
from explorer.report.sweep.wording import COLUMNS, STATES, cells, change_line, summary
from explorer.sweep.records import Change, Sweep, SweepRow
from explorer.text.messages import one_line

NUMBERS = ("Seconds",)
"""Columns that stand to the right."""


def show_sweep(sweep: Sweep, changes: Iterable[Change] | None, console: Console) -> None:
    """Print the table of a sweep, its warnings, what has changed, and the summary."""
    console.print(sweep_table(sweep.rows))
    console.print()
    for warning in sweep.warnings:
        console.print(Text(one_line(warning), STYLES["alarm"]))
    if changes is not None:
        lines = [change_line(change) for change in changes]
        for line in lines or ["nothing has changed since the recorded sweep"]:
            console.print(line, soft_wrap=True)
    console.print(summary(sweep), soft_wrap=True)


def sweep_table(rows: Iterable[SweepRow]) -> Table:
    """The rows as a table without frames; what does not fit its width is folded."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    told = [(row, cells(row)) for row in rows]
    # A column that is empty everywhere is left out.
    filled = [place for place in range(len(COLUMNS)) if any(texts[place] for _, texts in told)]
    for place in filled:
        table.add_column(
            COLUMNS[place],
            justify="right" if COLUMNS[place] in NUMBERS else "left",
            overflow="fold",
        )
    for row, texts in told:
        style = STYLES[STATES[row.verdict]]
        cells_of_row = [Text(texts[place]) for place in filled]
        cells_of_row[filled.index(COLUMNS.index("Verdict"))].stylize(style)
        table.add_row(*cells_of_row)
    return table
