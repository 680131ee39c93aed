"""A report on a terminal: one line a case, more only where engines part; readable from 80 columns
up.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from explorer.model.report import Report
from explorer.report.reading import Group, Line, Reading, Row, State, read
from explorer.report.wording import PAIRED

STYLES: dict[State, str] = {
    "good": "green",
    "foreseen": "yellow",
    "alarm": "bold red",
    "idle": "dim",
}
FIRM = ("call", "verdict", "oracle")
"""Columns that are never cut."""

GAP = 2
NARROW, WIDE = 116, 140
"""Below NARROW columns only the values' nesting shows the structure; from WIDE on there is room for
what return_ids adds.
"""


def show(report: Report, console: Console) -> None:
    """Print a report: what ran where, the cases, the alignments, and a summary as the last lines."""
    reading = read(report)
    for part in (
        *_head(reading),
        *_cases(reading, console.width),
        *_notes(reading),
        *_graphs(reading),
        *_summary(reading),
    ):
        console.print(part)


def _head(reading: Reading) -> Iterable[RenderableType]:
    yield Text.assemble((reading.title, "bold"), f"  ({reading.scenario})")
    table = Table.grid(padding=(0, GAP))
    for where in reading.where:
        table.add_row(
            "", *(Text(cell) for cell in (where.engine, where.how, where.version, where.device))
        )
    yield table


def _cases(reading: Reading, width: int) -> Iterable[RenderableType]:
    columns = ["call", "structure", "value", "ids", "verdict", "oracle"]
    if width < WIDE or not any(row.ids for group in reading.groups for row in group.rows):
        columns.remove("ids")
    if width < NARROW:
        columns.remove("structure")
    for group in reading.groups:
        yield Text()
        yield from _group(group, columns, _widths(group.rows, columns, width))


def _widths(rows: Sequence[Row], columns: Sequence[str], width: int) -> dict[str, int]:
    """Column widths that fill ``width`` at most: FIRM columns get what they need, the others share
    the rest.
    """
    need = {
        name: max(len(name), *(Text(_cell(row, name)).cell_len for row in rows)) for name in columns
    }
    free = width - GAP - sum(need[name] + GAP for name in columns if name in FIRM)
    soft = sorted((name for name in columns if name not in FIRM), key=lambda name: need[name])
    for place, name in enumerate(soft):
        share = free // (len(soft) - place) - GAP
        need[name] = max(min(need[name], share), 8)
        free -= need[name] + GAP
    return need


def _cell(row: Row, column: str) -> str:
    if column != "verdict":
        return str(getattr(row, column))
    figure = f" {row.greatest}" if row.greatest not in ("0", "—") else ""
    return row.verdict + figure + "".join(f" [{number}]" for number in row.notes)


def _group(
    group: Group, columns: Sequence[str], widths: dict[str, int]
) -> Iterable[RenderableType]:
    yield Text(group.heading, style="bold")
    yield _line(((name, "dim") for name in columns), [widths[name] for name in columns])
    for row in group.rows:
        cells = (
            (_cell(row, name), STYLES[row.state] if name == "verdict" else "") for name in columns
        )
        yield _line(cells, [widths[name] for name in columns])
        if row.lines:
            yield Padding(_voices(row.lines), (0, 0, 0, 6))


def _line(cells: Iterable[tuple[str, str]], widths: Sequence[int]) -> Text:
    line = Text("  ", no_wrap=True, overflow="crop")
    for (content, style), width in zip(cells, widths, strict=True):
        cell = Text(content, style=style)
        cell.truncate(width, overflow="ellipsis", pad=True)
        line.append_text(cell).append(" " * GAP)
    line.rstrip()
    return line


def _voices(lines: Sequence[Line]) -> RenderableType:
    table = Table.grid(padding=(0, GAP))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(Text(line.who), Text(line.text))
    return table


def _notes(reading: Reading) -> Iterable[RenderableType]:
    if not reading.notes:
        return
    yield Text()
    table = Table.grid(padding=(0, 1))
    for number, note in enumerate(reading.notes, 1):
        table.add_row(Text(f"[{number}]"), Text(note))
    yield table


def _graphs(reading: Reading) -> Iterable[RenderableType]:
    if reading.aligned:
        yield Text()
        yield Text(f"graphs, by pair: {PAIRED}", style="bold")
        table = Table.grid(padding=(0, GAP))
        table.add_row(
            "",
            *(Text(name, style="dim") for name in ("", "forward", "backward", "first divergence")),
        )
        for pair in reading.aligned:
            diverges = Text(pair.divergence, style="" if pair.divergence == "none" else "yellow")
            table.add_row(
                "",
                Text(f"{pair.left} · {pair.right}"),
                Text(pair.forward),
                Text(pair.backward),
                diverges,
            )
        yield table
    if reading.ungraphed:
        yield Padding(
            _voices([Line(f"no graph from {line.who}", line.text) for line in reading.ungraphed]),
            (0, 0, 0, GAP),
        )


def _summary(reading: Reading) -> Iterable[RenderableType]:
    yield Text()
    if reading.groups:
        yield Text(reading.oracle_summary, style="dim")
        yield Text(reading.summary, style=f"bold {STYLES[reading.state]}")
