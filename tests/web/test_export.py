"""The page of exports: a command, snippets and files for what the address says."""

from pathlib import Path
from typing import Any

import pytest

from explorer.scenario.find import find
from explorer.web.explorations import ReportKey
from explorer.web.export_page import REPORT_FORMATS, name_in_shell, report_bytes
from tests.support.pages import address, opened
from tests.support.sample_report import report


def export_of_sample() -> None:
    from pathlib import Path

    from explorer.web.explorations import ReportKey
    from explorer.web.export_page import export
    from tests.support.sample_report import report

    export(ReportKey(Path("net.py"), "digest"), report())


@pytest.mark.slow
def test_the_address_says_which_picture() -> None:
    page = opened(export_of_sample)
    assert not page.exception
    assert address(page) == {}
    both = page.code[0].value
    assert "--engine torch-tape --engine mindspore-graph -o" in both
    query = {"left": "mindspore-graph", "right": "alone", "view": "flow", "format": "dot"}
    page = opened(export_of_sample, **query)
    assert not page.exception
    assert "--engine mindspore-graph --view flow -o" in page.code[0].value
    assert address(page) == query


def test_two_graphs_are_offered_in_formats_for_two_alone() -> None:
    page = opened(export_of_sample, format="dot")
    assert page.selectbox(key="format").options == ["svg", "png"]
    assert page.selectbox(key="format").value == "svg"


def test_a_snippet_for_each_kind_of_document() -> None:
    page = opened(export_of_sample)
    texts = [block.value for block in page.code]
    assert sum("net_py" in text or "net-torch" in text for text in texts) >= 4
    assert any(text.startswith(".. figure::") for text in texts)


def test_the_shell_knows_a_scenario_of_one_s_own_by_its_file_without_its_folder() -> None:
    assert name_in_shell(ReportKey(find("dense_mse"), "")) == "dense_mse"
    assert name_in_shell(ReportKey(Path("/home/somebody/mine.py"), "")) == "mine.py"


@pytest.mark.parametrize("file_format", list(REPORT_FORMATS))
def test_the_whole_report_is_one_file(file_format: str) -> None:
    content = report_bytes(report(), file_format)
    assert b"Dense layer with mean squared error" in content


def export_of_stages() -> None:
    from pathlib import Path

    from explorer.web.explorations import ReportKey
    from explorer.web.export_page import export
    from tests.support.deep_nets import deep_report

    export(ReportKey(Path("net.py"), "digest"), deep_report(1))


def picture_on(page: Any) -> str:
    (picture,) = (html.proto.body for html in page.get("html") if "<img" in html.proto.body)
    return str(picture)


def test_one_engine_alone_is_pictured_at_each_of_its_stages() -> None:
    page = opened(export_of_stages, left="mindspore-graph", right="alone")
    assert not page.exception
    stages = page.selectbox(key="stage")
    assert len(stages.options) == 2
    assert "--stage" not in page.code[0].value
    drawn = picture_on(page)
    page = opened(export_of_stages, left="mindspore-graph", right="alone", stage="opt_a")
    assert not page.exception
    assert "--stage opt_a" in page.code[0].value
    assert picture_on(page) != drawn
    assert address(page)["stage"] == "opt_a"


def test_two_engines_side_by_side_have_no_stage() -> None:
    page = opened(export_of_stages, stage="opt_a")
    assert "stage" not in [box.key for box in page.selectbox]
    assert "--stage" not in page.code[0].value
