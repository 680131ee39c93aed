"""The record of a study in its formats, also where something could not be measured."""

import json

import msgspec

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.model.study import Table
from explorer.report.json import encode
from explorer.report.schemas import study_document
from explorer.report.study import study_blocks, study_files, study_markdown
from tests.support.consoles import on_terminal
from tests.support.sample_study import RECORD


def test_what_could_not_be_measured_is_said_with_the_reason() -> None:
    shown = on_terminal(study_blocks(RECORD))
    assert "s.one: MissingFramework: No module named 'torch'" in shown
    assert "s.two:" not in shown
    page = study_markdown(RECORD)
    assert "## Not measured" in page
    assert "s.one" in page
    assert "A finding \\| with a bar." in page
    measured = json.loads(encode(study_document(RECORD)))["measured"]
    assert measured["s.one"]["error"]["type"] == "MissingFramework"
    assert measured["s.two"]["error"] is None
    assert measured["s.two"]["figures"] == {"a": 1}


def test_numbers_in_tables_have_six_digits_nothing_is_a_dash_and_no_rows_are_said() -> None:
    for shown in (on_terminal(study_blocks(RECORD)), study_markdown(RECORD)):
        assert "0.123457" in shown
        assert "—" in shown
        assert "yes" in shown
    bare = Table(title="bare", columns=("a", "b"), rows=(), note="MindSpore, graph: crashed.")
    record = msgspec.structs.replace(RECORD, tables=(bare,))
    for shown in (on_terminal(study_blocks(record)), study_markdown(record)):
        assert "MindSpore, graph: crashed." in shown
        assert "Nothing was measured for this table." in shown
    assert "Nothing was measured" not in study_markdown(RECORD)


def test_a_long_message_is_shortened_and_stands_once_for_all_that_it_kept_from_being_measured() -> (
    None
):
    trace = "Data-dependent branching\n  Explanation: Dynamo.\n" + "  File net.py\n" * 100
    lost = Measured(outcome="raised", error=Failure("Unsupported", trace))
    record = msgspec.structs.replace(RECORD, measured={"s.one": lost, "s.two": lost})
    for shown in (on_terminal(study_blocks(record)), study_markdown(record)):
        # Markdown escapes hyphens.
        assert "s.one, s.two: Unsupported: Data-dependent branching" in shown.replace("\\-", "-")
        assert "File net.py" not in shown
        assert "the record has the whole messages" in shown
    document = json.loads(encode(study_document(record)))
    assert document["measured"]["s.two"]["error"]["message"] == trace


def test_the_page_shows_svg_charts_where_there_is_a_choice() -> None:
    files = dict(study_files(RECORD, ("svg", "png", "markdown")))
    assert list(files) == ["s-chart.svg", "s-chart.png", "s.md"]
    assert b"(s-chart.svg)" in files["s.md"]()
    assert b"(s-chart.png)" in dict(study_files(RECORD, ("png", "markdown")))["s.md"]()
    assert b"](" not in dict(study_files(RECORD, ("markdown",)))["s.md"]()
