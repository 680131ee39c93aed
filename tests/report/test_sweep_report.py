"""A sweep as JUnit's XML, as HTML, and on a terminal; each column has what its name says."""

from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest

from explorer.blocks.records import Section, Table
from explorer.model.report import CaseVerdict
from explorer.report.json import encode
from explorer.report.junit import sweep_xml
from explorer.report.schemas import schema, sweep_document
from explorer.report.sweep import cases as sweep_cases
from explorer.report.sweep import jobs_table, page_blocks, sweep_html, terminal_blocks
from explorer.sweep.records import Change
from tests.support.consoles import on_terminal
from tests.support.html_pages import HtmlPage
from tests.support.narrowing import present
from tests.support.sweep_runs import PAIR, row, sweep

HOSTILE = '<img src=x onerror=alert(1)>\x1b[31m\u202e & "quoted" ]]>'

WHOLE = sweep(
    row("good", seconds=1.25, cases={"a": "match", "b": "close"}),
    row("apart", verdict="different", reason="relu", cases={"a": "differs"}, pairs={"x · y": PAIR}),
    row("lstm", study="tape-life", verdict="measured", findings=("keeps 11",), from_store=True),
    row("lstm", study="kinks", verdict="unsupported", reason="no function of one input"),
    row("broken", verdict="refused", reason="a syntax error"),
    row("dead", verdict="lost", reason="exit code 5"),
    unfinished=("waiting",),
    warnings=("the worker tcp://1 has torch 2.12.0 (here 2.13.0)",),
)

CHANGE = Change(name="apart", what="a", before="match", now="differs")


def test_junit_counts_what_failed_and_says_why() -> None:
    suite = present(ElementTree.fromstring(sweep_xml(WHOLE, (CHANGE,))).find("testsuite"))
    figures = [suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")]
    assert figures == ["8", "2", "2", "2", "12.500"]
    found = {}
    for case in suite:
        inner = [(part.tag, part.get("message")) for part in case]
        found[case.get("classname"), case.get("name")] = inner
    assert found["good", "cases and graphs"] == []
    assert found["lstm", "tape-life"] == []
    assert found["apart", "cases and graphs"] == [("failure", "relu")]
    assert found["lstm", "kinks"] == [("skipped", "no function of one input")]
    assert found["broken", "cases and graphs"] == [("error", "a syntax error")]
    assert found["dead", "cases and graphs"] == [("error", "exit code 5")]
    assert found["explorer", "waiting"] == [("skipped", "not finished")]
    assert found["since the recorded sweep", "apart: a"][0][0] == "failure"
    failure = present(suite.find("testcase/failure"))
    assert "x · y: they part at relu" in present(failure.text)


def test_the_page_has_every_job_the_changes_and_the_warning() -> None:
    page = HtmlPage(sweep_html(WHOLE, (CHANGE,)))
    text = "\n".join(page.texts)
    assert "7 jobs in 12 s: 1 as expected, 1 different, 1 measured, 1 not for this scenario" in text
    for done in WHOLE.rows:
        assert done.scenario in text
    for said in ("exit code 5", "waiting", "torch 2.12.0", "they part at relu", "2 of 2 alike"):
        assert said in text
    assert "0 of 1 alike" in text
    assert "Changed since the recorded sweep" in text
    assert "Changed since" not in sweep_html(WHOLE, None)


@pytest.mark.parametrize(
    ("verdicts", "state"),
    [
        (("as_expected", "measured", "unsupported"), "good"),
        (("as_expected", "different"), "alarm"),
        (("as_expected", "lost"), "alarm"),
        (("refused", "measured"), "alarm"),
    ],
)
def test_one_job_that_is_not_as_it_should_be_is_an_alarm_of_the_page(
    verdicts: tuple[str, ...], state: str
) -> None:
    page = sweep_html(sweep(*(row(verdict, verdict=verdict) for verdict in verdicts)))
    assert f'class="summary {state}"' in page


UNEXPECTED = "torch-tape disagrees with the others"
LOOKED_AT = row(
    "apart",
    verdict="different",
    reason="of the first",
    cases={
        "alike": "match",
        "foreseen": "differs",
        "refused by plan": "some_raise",
        "other values": "differs",
        "raises": "some_raise",
        "wrong everywhere": "match",
    },
    unexpected={
        "other values": UNEXPECTED,
        "raises": UNEXPECTED,
        "wrong everywhere": "the oracle disagrees",
    },
)


def test_the_page_lists_every_case_that_is_not_as_expected_by_its_reason() -> None:
    texts = HtmlPage(sweep_html(sweep(LOOKED_AT))).texts
    assert f"{UNEXPECTED}: other values, raises" in texts
    assert "the oracle disagrees: wrong everywhere" in texts
    assert "as the scenario foresees: foreseen, refused by plan" in texts
    assert not any("alike" in text for text in texts[texts.index("What was found") :])


def test_junit_lists_every_case_that_is_not_as_expected_with_its_reason() -> None:
    failure = present(ElementTree.fromstring(sweep_xml(sweep(LOOKED_AT))).find(".//failure"))
    assert failure.text == (
        f"other values: {UNEXPECTED}\n"
        f"raises: {UNEXPECTED}\n"
        "wrong everywhere: the oracle disagrees\n"
        "foreseen: as the scenario foresees\n"
        "refused by plan: as the scenario foresees"
    )


@pytest.mark.parametrize(
    ("cases", "unanswered", "told"),
    [
        ({}, (), ""),
        ({"a": "match", "b": "close", "c": "differs", "d": "some_raise"}, (), "2 of 4 alike"),
        # What nobody answers, or one alone, is answered alike by nobody.
        ({"a": "match", "b": "all_raise"}, (), "1 of 1 alike, 1 raises everywhere"),
        ({"a": "all_raise", "b": "all_raise"}, (), "2 raise everywhere"),
        ({"a": "not_compared"}, (), "1 answered by fewer than two engines"),
        ({"a": "match", "b": "drawn"}, (), "1 of 1 alike, 1 depends on random numbers"),
        # Where a worker was lost, the others' agreement is not that of all.
        (
            {"a": "match", "b": "match", "c": "all_raise"},
            ("a", "c"),
            "1 of 1 alike, 2 not answered by every engine",
        ),
    ],
)
def test_cases_count_as_alike_where_every_engine_that_was_asked_has_answered(
    cases: dict[str, CaseVerdict], unanswered: tuple[str, ...], told: str
) -> None:
    assert sweep_cases(row("net", cases=cases, unanswered=unanswered)) == told


def test_hostile_names_stay_text_in_xml() -> None:
    hostile = row(HOSTILE, verdict="different", reason=HOSTILE, cases={HOSTILE: "differs"})
    change = Change(name=HOSTILE, what=HOSTILE, before=HOSTILE, now=HOSTILE)
    xml = sweep_xml(sweep(hostile, unfinished=(HOSTILE,)), (change,))
    ElementTree.fromstring(xml)  # raises for characters that XML may not have
    assert "\x1b" not in xml.decode()


def test_a_terminal_gets_the_table_the_changes_and_the_summary_last() -> None:
    lines = on_terminal(terminal_blocks(WHOLE, [CHANGE])).splitlines()
    assert lines[-1].startswith("7 jobs in 12 s: 1 as expected")
    assert "1 of them from the store" in lines[-1]
    assert "changed: apart: a: was match; is differs" in lines
    (stored,) = [line for line in lines if "tape-life" in line]
    assert "stored" in stored
    assert "measured" in stored
    said = on_terminal(terminal_blocks(WHOLE, []))
    assert "nothing has changed since the recorded sweep" in said
    assert "changed" not in on_terminal(terminal_blocks(WHOLE, None))


def test_the_document_is_as_its_schema_says() -> None:
    document = msgspec.json.decode(encode(sweep_document(WHOLE, [CHANGE])))
    jsonschema.Draft202012Validator(schema("sweep")).validate(document)
    document["rows"][0]["verdict"] = "fine"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema("sweep")).validate(document)


def test_environments_are_named_where_no_version_stands_beside_the_explorer() -> None:
    there = {"torch26": {"torch": "2.6.0"}}
    elsewhere = sweep(row("net"), versions={}, environments=there)
    shown = on_terminal(terminal_blocks(elsewhere, None))
    assert "environment torch26: torch 2.6.0" in shown
    page = sweep_html(elsewhere)
    assert "environment torch26: torch 2.6.0" in page
    assert f"Run on {elsewhere.date}<" in page
    assert sweep_document(elsewhere)["environments"] == there


def by_column(table: Table) -> list[dict[str, str]]:
    """The cells of each row by the names of their columns."""
    names = [column.name for column in table.columns]
    return [dict(zip(names, cells, strict=True)) for cells in table.texts]


def test_a_change_is_from_what_was_to_what_is() -> None:
    (table,) = (
        inner
        for block in page_blocks(sweep(row("apart")), (CHANGE,))
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
