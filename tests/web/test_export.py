"""The page of exports: a command, snippets and files for what the address says."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.model.report import Report
from explorer.scenario.find import find
from explorer.text.language import said_in
from explorer.web.export_page import (
    REPORT_FORMATS,
    export,
    in_language,
    name_in_shell,
    report_bytes,
)
from explorer.web.report_page import ReportKey
from tests.support.deep_nets import deep_report
from tests.support.pages import address, called, opened, shown
from tests.support.sample_report import report

pytestmark = pytest.mark.slow

KEY = ReportKey(Path("net.py"), "digest")

SAMPLE = (export, KEY, report())
STAGES = (export, KEY, deep_report(1))
"""The page of a report, and of one on a graph with an earlier stage."""


def test_the_address_says_which_picture_and_each_kind_of_document_has_a_snippet() -> None:
    page = shown(*SAMPLE)
    assert not page.exception
    assert address(page) == {}
    texts = [block.value for block in page.code]
    assert "--engine torch-tape --engine mindspore-graph -o" in texts[0]
    assert sum("net_py" in text or "net-torch" in text for text in texts) >= 4
    assert any(text.startswith(".. figure::") for text in texts)
    query = {"left": "mindspore-graph", "right": "alone", "view": "flow", "format": "dot"}
    page = shown(*SAMPLE, **query)
    assert not page.exception
    assert "--engine mindspore-graph --view flow -o" in page.code[0].value
    assert address(page) == query
    # Two graphs are offered in formats for two alone.
    page = shown(*SAMPLE, format="dot")
    assert page.selectbox(key="format").options == ["svg", "png"]
    assert page.selectbox(key="format").value == "svg"


def test_the_picture_is_of_the_case_that_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = report()
    captured = sample.graphs[0].case
    other = next(case.case for case in sample.cases if case.case.label != captured)
    asked: list[str] = []

    def graphs_of(_key: ReportKey, case: str) -> Report:
        asked.append(case)
        graphs = tuple(msgspec.structs.replace(graph, case=case) for graph in sample.graphs)
        return msgspec.structs.replace(sample, graphs=graphs, alignments=())

    monkeypatch.setattr("explorer.web.export_page.graphs_of", graphs_of)
    page = shown(*SAMPLE, case=other.short)
    assert not page.exception
    assert set(asked) == {other.label}
    assert other.short in page.code[0].value
    assert address(page)["case"] == other.short


def test_the_shell_knows_a_scenario_of_one_s_own_by_its_file_without_its_folder() -> None:
    assert name_in_shell(ReportKey(find("dense_mse"), "")) == "dense_mse"
    assert name_in_shell(ReportKey(Path("/home/somebody/mine.py"), "")) == "mine.py"


@pytest.mark.parametrize("file_format", list(REPORT_FORMATS))
def test_the_whole_report_is_one_file(file_format: str) -> None:
    content = report_bytes(report(), file_format, "en")
    assert b"Dense layer with mean squared error" in content


def picture_on(page: Any) -> str:
    (picture,) = (html.proto.body for html in page.get("html") if "<img" in html.proto.body)
    return str(picture)


def test_one_engine_alone_is_pictured_at_each_of_its_stages() -> None:
    page = shown(*STAGES, left="mindspore-graph", right="alone")
    assert not page.exception
    stages = page.selectbox(key="stage")
    assert len(stages.options) == 2
    assert "--stage" not in page.code[0].value
    drawn = picture_on(page)
    page = shown(*STAGES, left="mindspore-graph", right="alone", stage="opt_a")
    assert not page.exception
    assert "--stage opt_a" in page.code[0].value
    assert picture_on(page) != drawn
    assert address(page)["stage"] == "opt_a"


def test_a_picture_begins_with_what_the_graphs_showed_and_says_what_it_lacks() -> None:
    seen = {"shown on graphs": {"depth": "2", "view": "flow", "opened": "blocks.0", "step": "3"}}
    page = opened(called, {"called": STAGES, **seen})
    assert not page.exception
    assert "--view flow --depth 2" in page.code[0].value
    assert (address(page)["depth"], address(page)["view"]) == ("2", "flow")
    (lacking,) = (block.value for block in page.caption if "does not have" in block.value)
    assert "opened" in lacking
    assert "step" in lacking
    assert "filter" not in lacking
    # What is chosen here then stays, until the graphs show something else.
    page.selectbox(key="depth").set_value("fit").run()
    assert "--depth" not in page.code[0].value


@pytest.mark.parametrize(
    ("seen", "query", "there", "absent"),
    [
        # A link says more than what the graphs showed.
        ({"depth": "2"}, {"view": "flow"}, "--view flow", "--depth"),
        # Of two stages of one engine, the left one is pictured.
        (
            dict.fromkeys(("left", "right"), "mindspore-graph") | {"left_stage": "opt_a"},
            {},
            "--engine mindspore-graph --stage opt_a -o",
            "--engine torch-tape",
        ),
        # Two engines side by side have no stage.
        ({}, {"stage": "opt_a"}, "--engine mindspore-graph -o", "--stage"),
    ],
)
def test_what_is_pictured_where_the_graphs_and_the_link_say_different_things(
    seen: dict[str, str], query: dict[str, str], there: str, absent: str
) -> None:
    page = opened(called, {"called": STAGES, "shown on graphs": seen}, **query)
    assert not page.exception
    assert there in page.code[0].value
    assert absent not in page.code[0].value


@pytest.mark.parametrize(
    ("file_format", "command"),
    [
        ("svg", "explorer graph a --lang zh"),
        ("html", "explorer graph a --lang zh"),
        ("png", "explorer graph a"),
    ],
)
def test_a_command_writes_the_file_in_the_reader_s_language(file_format: str, command: str) -> None:
    assert in_language("explorer graph a", file_format) == "explorer graph a"
    with said_in("zh"):
        assert in_language("explorer graph a", file_format) == command
