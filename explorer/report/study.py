"""A study's record on a terminal, as Markdown, and as one strict JSON document."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from explorer.model.study import Cell, StudyRecord, Table
from explorer.report.json import graph_document
from explorer.report.markdown import escape, table
from explorer.text.messages import one_line
from explorer.text.numbers import plain

DIGITS = 6


def show(record: StudyRecord, console: Console) -> None:
    """Print a study: its question, what was found, its tables, and why anything is missing."""
    for part in (*_head(record), *_findings(record), *_tables(record), *_missing(record)):
        console.print(part)


def cell(value: Cell) -> str:
    """A table's cell as text: six significant digits, "—" for nothing."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else one_line(str(value))


def _head(record: StudyRecord) -> Iterable[RenderableType]:
    where = f"  ({record.study}{f' on {record.scenario}' if record.scenario else ''})"
    yield Text.assemble((record.title, "bold"), where)
    yield Text(f"  {record.question}", style="dim")
    yield Text(
        "  " + ", ".join(f"{name} {version}" for name, version in record.versions.items()),
        style="dim",
    )


def _findings(record: StudyRecord) -> Iterable[RenderableType]:
    yield Text()
    grid = Grid.grid(padding=(0, 1))
    for finding in record.findings:
        grid.add_row(" •", Text(one_line(finding, 2000)))
    yield grid


def _tables(record: StudyRecord) -> Iterable[RenderableType]:
    for each in record.tables:
        yield Text()
        yield Text(each.title, style="bold")
        if each.note:
            yield Padding(Text(each.note, style="dim"), (0, 0, 0, 2))
        yield Padding(_grid(each), (0, 0, 0, 2))


def _grid(each: Table) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for index, name in enumerate(each.columns):
        numbers = all(isinstance(row[index], (int, float, type(None))) for row in each.rows)
        grid.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in each.rows:
        grid.add_row(*(Text(cell(value)) for value in row))
    return grid


def _missing(record: StudyRecord) -> Iterable[RenderableType]:
    failed = missing(record)
    if failed:
        yield Text()
        yield Text("not measured", style="bold yellow")
        for name, why in failed.items():
            yield Padding(Text(f"{name}: {why}"), (0, 0, 0, 2))


def missing(record: StudyRecord) -> dict[str, str]:
    """Which measurements have no figures, and what was said instead."""
    return {
        name: one_line(f"{each.error.type}: {each.error.message}")
        for name, each in record.measured.items()
        if each.error
    }


def document(record: StudyRecord) -> dict[str, Any]:
    """The record as plain dicts, lists, strings and finite numbers."""
    made: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(record, measured={}))
    made["measured"] = {
        name: {
            "outcome": each.outcome,
            "figures": each.figures,
            "timings": each.timings,
            "graphs": [graph_document(graph) for graph in each.graphs],
            "error": {"type": each.error.type, "message": each.error.message}
            if each.error
            else None,
            "code": each.code,
        }
        for name, each in record.measured.items()
    }
    return dict(plain(made))


def markdown(record: StudyRecord, pictures: Mapping[str, str]) -> str:
    """The record as Markdown; ``pictures`` maps a picture's title to its file beside it."""
    parts = [
        f"# {escape(record.title)}",
        escape(record.question),
        "Measured with "
        + ", ".join(
            f"{escape(name)} {escape(version)}" for name, version in record.versions.items()
        )
        + ".",
        "\n".join(f"- {escape(finding)}" for finding in record.findings),
    ]
    parts += [f"![{escape(title)}]({file})" for title, file in pictures.items()]
    for each in record.tables:
        rows = [[cell(value) for value in row] for row in each.rows]
        parts += [f"## {escape(each.title)}", escape(each.note), table(each.columns, rows)]
    failed = [f"- {escape(name)}: {escape(why)}" for name, why in missing(record).items()]
    parts += ["## Not measured", "\n".join(failed)] if failed else []
    return "\n\n".join(filter(None, parts)) + "\n"
