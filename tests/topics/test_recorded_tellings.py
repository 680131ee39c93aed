"""What studies tell of the recorded figures: findings, rows of tables, lines of charts.

What is recorded is what a run gives (tests/report), and what independent programs find
(tests/independent): here it is seen to come out in the right words, places and numbers. Answers that
no recorded figure is an example of are made up in the tests of each study.
"""

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest

from explorer.model.study import Cell
from explorer.topics import study_topic
from explorer.topics.evidence import Evidence
from explorer.topics.studies import Telling
from tests.support.tellings import chart_of, check_telling, lines_of, telling_text
from tests.support.topics import looked_at, recorded_study


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a study tells; of ``rows`` and ``points`` a line each, with " | " between cells."""

    findings: tuple[str, ...]
    number_of_findings: int
    rows: str
    points: str = ""
    charts: tuple[str, ...] = ()


TABLE = Path(__file__).with_name("recorded_tellings.toml").read_bytes()

TOLD = msgspec.toml.decode(TABLE, type=dict[str, Told])


@cache
def recorded_telling(name: str) -> Telling:
    """All that a study makes of what is recorded."""
    return telling_text(study_topic(name), Evidence(recorded_study(name), looked_at(name)))


@pytest.mark.parametrize("name", TOLD)
def test_findings_say_what_was_measured(name: str) -> None:
    findings = recorded_telling(name).findings
    said = "\n".join(findings)
    assert [text for text in TOLD[name].findings if text not in said] == []
    assert len(findings) == TOLD[name].number_of_findings
    check_telling(recorded_telling(name))


def in_a_line(cell: Cell) -> str:
    """A cell as a line of the table has it: numbers with three digits."""
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell) or "''"


@pytest.mark.parametrize("name", TOLD)
def test_tables_have_the_rows(name: str) -> None:
    for line in TOLD[name].rows.splitlines():
        title, *texts = line.split(" | ")
        tables = recorded_telling(name).tables
        (table,) = (table for table in tables if table.title.startswith(title))
        assert len(table.columns) == len(texts), line
        wanted = re.compile(re.escape(" | ".join(texts)).replace("…", "[^|]*"))
        found = [row for row in table.rows if wanted.fullmatch(" | ".join(map(in_a_line, row)))]
        assert len(found) == 1, (line, [row for row in table.rows if row[0] == texts[0]])


@pytest.mark.parametrize(
    ("name", "point"), [(name, line) for name in TOLD for line in TOLD[name].points.splitlines()]
)
def test_a_chart_has_the_point(name: str, point: str) -> None:
    chart, series, place, height = point.split(" | ")
    heights = lines_of(chart_of(recorded_telling(name), chart))[series]
    by_place = {at if isinstance(at, str) else f"{at:g}": value for at, value in heights.items()}
    assert in_a_line(by_place[place]) == height


@pytest.mark.parametrize("name", [name for name in TOLD if TOLD[name].charts])
def test_each_chart_is_drawn(name: str) -> None:
    assert {chart.name for chart in recorded_telling(name).charts} == set(TOLD[name].charts)
