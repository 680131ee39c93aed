"""What a study tells, checked whatever its figures are: sentences, tables and charts that can be read."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from explorer.model.failures import Failure
from explorer.model.measurement import Figures, Measured
from explorer.model.study import Cell, Chart, Table
from explorer.topics import study_topic
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.question import Question, Target
from explorer.topics.studies import Telling, tell
from explorer.topics.topic import Topic
from explorer.words.messages import as_text
from tests.support.topics import Change, World, looked_at, recorded_study, together, written

REASON = "the measuring program found no paper to write on"
"""What a measurement fails with, where a test has it fail."""

KEBAB = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)*")
PLACEHOLDER = re.compile(r"\bNone\b|\{\w*\}|  |<function|, [,.]|: [.;]|^[,;.]")
"""What our own text has in it where a value was forgotten."""

Answers = Mapping[tuple[Question, str], Figures]
"""The figures of each party's answer to a question."""


def told(topic: Topic, answers: Answers, scenario: str = "") -> Telling:
    """What a study tells of some answers, seen to be fit to read."""
    telling = telling_text(topic, Evidence(written(answers), Target(scenario)))
    check_telling(telling)
    return telling


def telling_text(topic: Topic, evidence: Evidence) -> Telling:
    """All that a study makes of some evidence, in English."""
    telling: Telling = as_text(tell(topic, evidence))
    return telling


def told_after(name: str, *changes: Change) -> Telling:
    """What a study tells where what is recorded of it is changed, seen to be fit to read."""
    world = World(recorded_study(name))
    together(*changes)(world)
    telling = telling_text(study_topic(name), Evidence(world.outcomes, looked_at(name)))
    check_telling(telling)
    return telling


def check_telling(telling: Telling) -> None:
    """Asserts what holds of all that studies tell."""
    # Through JSON and back: types are as they are declared, and charts of kinds that there are.
    packed = msgspec.json.encode(telling)
    assert msgspec.json.decode(packed, type=Telling, strict=True)
    for sentence in telling.findings:
        assert sentence.endswith("."), sentence
    for table in telling.tables:
        check_table(table)
    for chart in telling.charts:
        check_chart(chart)
    for titles in ([table.title for table in telling.tables], [c.name for c in telling.charts]):
        assert len(set(titles)) == len(titles)


def check_table(table: Table) -> None:
    """Asserts that a table has a title, and in every row a cell for every column."""
    assert table.title
    assert len(set(table.columns)) == len(table.columns)
    for column in table.columns:
        assert not (column.isupper() and len(column) > 3), column
    for row in table.rows:
        assert len(row) == len(table.columns), row
        assert all(not isinstance(cell, str) or cell != "None" for cell in row), row
    for text in (table.title, table.note):
        assert not PLACEHOLDER.search(text), text
    assert table.note == "" or table.note.endswith((".", ".)")), table.note


def check_chart(chart: Chart) -> None:
    """Asserts that a chart has a file's name, words on its axes, and a point at least a series."""
    assert KEBAB.fullmatch(chart.name)
    assert chart.title
    assert chart.series or chart.note
    for axis in chart.log:
        assert chart.kind != "bars", axis
    names = [series.name for series in chart.series]
    assert len(set(names)) == len(names)
    for series in chart.series:
        assert series.name
        assert len(series.x) == len(series.y) > 0
        assert any(height is not None for height in series.y), series.name
    assert not PLACEHOLDER.search(chart.note), chart.note


def without(measured: Mapping[str, Measured], name: str) -> dict[str, Measured]:
    """The same outcomes, but that one measurement failed."""
    failed = Measured(outcome="raised", error=Failure("RuntimeError", REASON))
    return {**measured, name: failed}


def empty_cells(tables: Iterable[Table]) -> dict[str, int]:
    """How many cells of each table hold nothing, by its title."""
    counts = {}
    for table in tables:
        cells = [cell for row in table.rows for cell in row]
        counts[table.title] = sum(cell in (EMPTY, None) for cell in cells)
    return counts


def check_every_failure(
    topic: Topic, measured: Mapping[str, Measured], target: Target, every: int = 1
) -> None:
    """Asserts that a study copes with each measurement that fails, and explains what it empties.

    With ``every`` 9 each ninth measurement fails, where all of them would take too long.
    """
    before = empty_cells(telling_text(topic, Evidence(measured, target)).tables)
    for name in list(measured)[::every]:
        telling = telling_text(topic, Evidence(without(measured, name), target))
        check_telling(telling)
        after = empty_cells(telling.tables)
        for table in telling.tables:
            if after[table.title] > before.get(table.title, 0):
                # What a reader of the table has before his eyes: its own words, and the findings.
                cells = [str(cell) for row in table.rows for cell in row]
                words = [table.note, *cells, *telling.findings]
                assert REASON in " ".join(words), (name, table.title)


def table_of(telling: Telling, column: str) -> Table:
    """The one table that has such a column."""
    (table,) = (table for table in telling.tables if column in table.columns)
    return table


def column(table: Table, name: str) -> list[Cell]:
    """The cells of one column."""
    place = table.columns.index(name)
    return [row[place] for row in table.rows]


def rows_by_first(table: Table) -> dict[Cell, tuple[Cell, ...]]:
    """The rest of each row by its first cell, which no two share."""
    rows = {row[0]: row[1:] for row in table.rows}
    assert len(rows) == len(table.rows)
    return rows


def chart_of(telling: Telling, name: str) -> Chart:
    """The chart with that name."""
    (chart,) = (chart for chart in telling.charts if chart.name == name)
    return chart


def lines_of(chart: Chart) -> dict[str, dict[float | str, float | None]]:
    """The heights of each line or set of bars, by name and by place on the axis."""
    return {series.name: dict(zip(series.x, series.y, strict=True)) for series in chart.series}
