"""The columns of a sweep's tables, and the times in JUnit's XML: each has what its name says."""

from xml.etree import ElementTree

from explorer.blocks.records import Section, Table
from explorer.report.junit import sweep_xml
from explorer.report.sweep import jobs_table, page_blocks
from explorer.sweep.records import Change
from tests.support.sweeps import row, sweep


def by_column(table: Table) -> list[dict[str, str]]:
    """The cells of each row by the names of their columns."""
    names = [column.name for column in table.columns]
    return [dict(zip(names, cells, strict=True)) for cells in table.texts]


def test_a_change_is_from_what_was_to_what_is() -> None:
    change = Change(name="apart", what="a", before="match", now="differs")
    (table,) = (
        inner
        for block in page_blocks(sweep(row("apart")), (change,))
        if isinstance(block, Section)
        for inner in block.blocks
        if isinstance(inner, Table) and "Was" in by_column(inner)[0]
    )
    assert by_column(table) == [{"Job": "apart", "What": "a", "Was": "match", "Is": "differs"}]


def test_a_job_has_its_scenario_its_study_its_time_and_its_reason() -> None:
    job = row(
        "lstm",
        study="tape-life",
        verdict="different",
        seconds=1.25,
        reason="relu",
        cases={"a": "match", "b": "differs"},
    )
    (cells,) = by_column(jobs_table([job]))
    assert cells == {
        "Scenario": "lstm",
        "Study": "tape-life",
        "Verdict": "different",
        "Seconds": "1.2",
        "Cases": "1 of 2 alike",
        "What to look at": "relu",
    }


def test_continuous_integration_gets_the_seconds_of_each_job() -> None:
    root = ElementTree.fromstring(sweep_xml(sweep(row("a", seconds=1.25), row("b", seconds=0.5))))
    seconds = {case.get("classname"): float(case.get("time", "")) for case in root.iter("testcase")}
    assert seconds == {"a": 1.25, "b": 0.5}
