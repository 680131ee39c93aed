"""The report on a scenario on a terminal: one line a case, more only where engines part."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from explorer.model.report import CaseReport, Report
from explorer.report.scenario.case_rows import CaseRow, State, Statement, case_row
from explorer.report.scenario.overview import CaseGroup, Overview, cells_of, overview
from explorer.report.terminal import indented, show_parts
from explorer.report.wording import NOTHING
from explorer.text.clean import clean
from explorer.text.language import _, later
from explorer.words import cases
from explorer.words.answers import ALIGNMENT_COLUMNS
from explorer.words.coverage import LEGEND

STYLES: dict[State, str] = {
    "good": "green",
    "foreseen": "yellow",
    "alarm": "bold red",
    "idle": "dim",
}

COLUMNS = {
    "call": later("call"),
    "structure": later("structure"),
    "value": later("value"),
    "ids": later("ids"),
    "verdict": later("verdict"),
    "oracle": later("oracle"),
}
"""The columns of the table of cases, by the field of a row that each shows."""

FIRM = ("call", "verdict", "oracle")
"""Columns that are never cut."""

LEAST = 8
"""The width below which no column is cut."""

GAP = 2
"""Blanks between columns, and before the first one."""

UNDER_A_CASE = 6
"""The indent of the statements under a case, in columns."""

NAMED = 8
"""The greatest number of cases that are named among those left out."""

NARROW = 116
"""Below this width the structure shows in the values' nesting alone."""

WIDE = 140
"""From this width on there is room for what return_ids adds, and for ratios to the noise."""


def show_report(report: Report, console: Console) -> None:
    """Print a report: what ran where, the alignments, the cases, a summary as the last lines.

    It is readable from 80 columns up.
    """
    show_graphs(report, console)
    show_cases(report, console)


def show_graphs(report: Report, console: Console) -> None:
    """Print the first part of a report: what ran where, and one case's graphs side by side."""
    whole = overview(report)
    show_parts(_head(whole), console)
    for case in report.cases:
        if clean(case.case.short) == whole.graph_case:
            show_parts((Text(), case_line(case)), console)
    show_parts(_graphs(whole), console)


def show_cases(report: Report, console: Console) -> None:
    """Print the second part of a report: the cases, and a summary as the last lines."""
    whole = overview(report)
    show_parts(_cases(whole, console.width), console)
    show_parts(_notes(whole), console)
    show_parts(_summary(whole), console)


def case_line(report: CaseReport) -> Text:
    """One case on one line: its name, the verdict, and what the oracle says."""
    # Its notes stand elsewhere.
    row = msgspec.structs.replace(case_row(report), notes=())
    line = Text(f"{clean(report.case.short)}: ")
    line.append(_cell(row, "verdict"), style=STYLES[row.state])
    oracle = cases.oracle_sentence(report)
    if oracle:
        line.append(_(", ") + oracle)
    return line


def _head(whole: Overview) -> Iterator[RenderableType]:
    yield Text.assemble((whole.title, "bold"), f"  ({whole.scenario})")
    table = Table.grid(padding=(0, GAP))
    for row in whole.engines:
        table.add_row("", *map(Text, cells_of(row)))
    yield table
    if whole.findings:
        yield Text()
        yield Text(_("findings"), style="bold")
    for finding in whole.findings:
        yield indented(Text(finding.text, style=STYLES[finding.state]), GAP)


def _cases(whole: Overview, width: int) -> Iterator[RenderableType]:
    # Values nest as the structure does, and ids repeat its names: both go first where it is tight.
    columns = ["call", "structure", "value", "ids", "verdict", "oracle"]
    if width < WIDE or not _has_ids(whole):
        columns.remove("ids")
    if width < NARROW:
        columns.remove("structure")
    for group in whole.groups:
        # Under a case whose difference nobody expects the noise is told at any width.
        shown = _without_noise(group) if width < WIDE else group
        yield Text()
        yield from _group(shown, _widths(shown.rows, columns, width))


def _without_noise(group: CaseGroup) -> CaseGroup:
    rows = [msgspec.structs.replace(row, greatest=row.size) for row in group.rows]
    return CaseGroup(group.heading, tuple(rows))


def _has_ids(whole: Overview) -> bool:
    return any(row.ids for group in whole.groups for row in group.rows)


def _widths(rows: Sequence[CaseRow], columns: Sequence[str], width: int) -> dict[str, int]:
    """The width of each column, so that all fill ``width`` at most.

    FIRM columns get what they need. The others share the rest: starting with the one that needs
    least, every column gets what it needs, or an equal share of what is left.
    """
    widths: dict[str, int] = {}
    for column in columns:
        cells = [Text(_cell(row, column)).cell_len for row in rows]  # wide signs take two columns
        widths[column] = max(Text(_(COLUMNS[column])).cell_len, *cells)
    free = width - GAP
    soft = []
    for column in columns:
        if column in FIRM:
            free -= widths[column] + GAP
        else:
            soft.append(column)

    soft.sort(key=widths.__getitem__)
    for place, column in enumerate(soft):
        share = free // (len(soft) - place) - GAP
        widths[column] = max(min(widths[column], share), LEAST)
        free -= widths[column] + GAP
    return widths


def _cell(row: CaseRow, column: str) -> str:
    if column != "verdict":
        return str(getattr(row, column))
    verdict = row.verdict
    if row.greatest not in ("0", NOTHING):
        verdict = cases.sized(verdict, row.greatest)
    return verdict + "".join(f" [{number}]" for number in row.notes)


def _group(group: CaseGroup, widths: dict[str, int]) -> Iterator[RenderableType]:
    yield Text(group.heading, style="bold")
    yield _line([(Text(_(COLUMNS[name]), style="dim"), width) for name, width in widths.items()])
    for row in group.rows:
        cells = []
        for column, width in widths.items():
            style = STYLES[row.state] if column == "verdict" else ""
            cells.append((Text(_cell(row, column), style=style), width))
        yield _line(cells)
        if row.statements:
            yield indented(_statements(row.statements), UNDER_A_CASE)


def _line(cells: Iterable[tuple[Text, int]]) -> Text:
    """Cells beside each other, each cut or filled to its width."""
    line = Text(" " * GAP, no_wrap=True, overflow="crop")
    for cell, width in cells:
        cell.truncate(width, overflow="ellipsis", pad=True)
        line.append_text(cell).append(" " * GAP)
    return line


def _statements(
    statements: Iterable[Statement], heading: str = "{engine}", style: str = ""
) -> Table:
    table = Table.grid(padding=(0, GAP))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold", style=style)
    for statement in statements:
        table.add_row(Text(heading.format(engine=statement.who)), Text(statement.text))
    return table


def _notes(whole: Overview) -> Iterator[RenderableType]:
    if not whole.notes:
        return
    yield Text()
    table = Table.grid(padding=(0, 1))
    for number, note in enumerate(whole.notes, 1):
        table.add_row(Text(f"[{number}]"), Text(note))
    yield table


def _graphs(whole: Overview) -> Iterator[RenderableType]:
    if whole.alignments:
        yield Text()
        heading = _("graphs of {case}, by pair: {legend}")
        yield Text(heading.format(case=whole.graph_case, legend=_(LEGEND)), style="bold")
        yield _alignments(whole)
    if whole.ungraphed:
        yield indented(_statements(whole.ungraphed, _("no graph from {engine}")), GAP)
    if whole.proofs:
        yield indented(_statements(whole.proofs), GAP)
    if whole.warnings:
        yield indented(_statements(whole.warnings, style="red"), GAP)


def _alignments(whole: Overview) -> Table:
    table = Table.grid(padding=(0, GAP))
    # Chinese has no blanks to break at: what is too long is folded, and nothing of it is left out.
    for overflow in ("ellipsis", "ellipsis", "ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    columns = ("", *ALIGNMENT_COLUMNS[1:])  # the heading above says already that rows are pairs
    table.add_row("", *(Text(_(column), style="dim") for column in columns))
    for row in whole.alignments:
        *counts, divergence = cells_of(row)
        style = "" if row.state == "good" else STYLES[row.state]
        table.add_row("", *map(Text, counts), Text(divergence, style=style))
    return table


def _summary(whole: Overview) -> Iterator[RenderableType]:
    yield Text()
    for omission in whole.left_out:
        names = ", ".join(omission.cases[:NAMED])
        if len(omission.cases) > NAMED:
            names = _("{names}, … ({n} in all)").format(names=names, n=len(omission.cases))
        yield Text(omission.sentence, style="yellow")
        yield indented(Text(names, style="dim"), GAP)
    if whole.groups:
        yield Text(whole.oracle_summary, style="dim")
        yield Text(whole.summary, style=f"bold {STYLES[whole.state]}")
