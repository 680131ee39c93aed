"""The app's pages without a browser: titles, errors, and a process free of frameworks."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from explorer.model.cases import GradCase
from explorer.model.findings import ReportFinding, Unmet
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.web import ENTRY
from explorer.web.case_detail import detail
from explorer.web.cases_page import cases
from explorer.web.claims_page import show_board
from explorer.web.language import NAME
from explorer.web.offered_scenarios import VARIABLE
from explorer.web.report_page import _introduce, report_page
from explorer.web.studies_page import studies
from explorer.web.widgets import show_finding
from tests.support.command_line import ROOT
from tests.support.pages import opened, said, shown
from tests.support.sample_board import BOARD
from tests.support.sample_pages import PAGES
from tests.support.sample_report import case_report, report
from tests.support.scenario_files import MINIMAL, written

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=alert(1)>"

SECONDS = 60


@pytest.fixture
def configured_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a title full of markup and a file that is no Python."""
    written(tmp_path, f'"""A net called {MARKUP} and **bold**."""\n{MINIMAL}', "markup.py")
    written(tmp_path, "def inputs(:\n", "broken.py")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_a_scenario_s_title_is_shown_as_it_is(configured_folder: Path) -> None:
    page = shown(_introduce, configured_folder / "markup.py")
    assert not page.exception
    assert "\\<img src=x onerror=alert\\(1\\)\\> and \\*\\*bold\\*\\*" in page.subheader[0].value


@pytest.mark.parametrize(
    ("page", "query", "words"),
    [
        (report_page(cases), {"order": "99"}, "allowed: 1 to"),
        (report_page(cases), {"scenario": "<img src=x onerror=alert(1)>\x00\u202e"}, "img"),
        (studies, {"study": "divices"}, "did you mean 'devices'"),
        (studies, {"study": "devices", "on": "nets"}, "unknown scenario"),
    ],
)
def test_an_unknown_name_in_the_address_is_one_message(
    page: Callable[[], None], query: dict[str, str], words: str
) -> None:
    made = shown(page, **query)
    assert not made.exception
    (error,) = made.error
    assert words in error.value.replace("\\", "")
    assert "<img" not in error.value.replace("\\<", "")


@pytest.mark.usefixtures("configured_folder")
def test_after_an_unknown_name_another_can_be_chosen_and_the_way_back_is_that_of_the_address() -> (
    None
):
    page = shown(report_page(cases), scenario="none of them", order="2")
    page.selectbox(key="scenario").set_value("broken").run()
    (error,) = page.error
    assert "syntax error" in error.value.replace("\\", "")
    assert page.query_params["scenario"] == "broken"
    assert page.number_input(key="order").value == 2
    page.query_params["order"] = "1"
    page.run()
    assert page.number_input(key="order").value == 1
    assert page.selectbox(key="scenario").value == "broken"


def test_a_link_opens_its_claim_in_full_and_markup_is_text() -> None:
    page = shown(show_board, BOARD, claim="1")
    assert not page.exception
    assert "2 claims: 1 holds, 1 was not run" in said(page)
    assert "#### 1. A gradient" in said(page)
    assert "Go on." in said(page)
    assert "\\<script\\>" in said(page)
    assert [block.value for block in page.code][:2] == ["a = vaild\n# ```", "a = valid"]
    assert page.query_params["claim"] == "1"


@pytest.mark.parametrize(
    ("query", "is_there"),
    [
        ({"topic": "gradients"}, "#### 1."),
        pytest.param({"topic": "operators"}, "#### 44.", marks=pytest.mark.whole),
        pytest.param({"verdict": "holds"}, "#### 1.", marks=pytest.mark.whole),
        ({"words": "TRANSPOSE permutes"}, "#### 44."),
        pytest.param({"claim": "7"}, "#### 44.", marks=pytest.mark.whole),
        ({"words": "nowhere"}, "No claim fits"),
    ],
)
def test_the_address_filters_the_board(query: dict[str, str], is_there: str) -> None:
    page = shown(show_board, BOARD, **query)
    assert not page.exception
    assert any(is_there in block.value for block in (*page.markdown, *page.caption))


def test_a_case_says_what_is_drawn() -> None:
    case = msgspec.structs.replace(case_report(GradCase("grad", 0)), drawn=("dx",))
    page = shown(detail, case, report(), {})
    assert not page.exception
    assert "Not compared by value: dx" in page.markdown[1].value


def test_what_a_shipped_scenario_says_is_shown_in_the_visitor_s_language() -> None:
    path = find("integer_input")
    page = shown(_introduce, path, **{NAME: "zh"})
    assert not page.exception
    assert page.subheader[0].value == "用于取行的整数输入"
    assert "按行查表" in page.sidebar.markdown[0].value
    reason = load(path).expected[0].reason
    finding = ReportFinding(fact=Unmet(("w",), ""), expected=True, reason=reason)
    assert "MindSpore 返回零" in shown(show_finding, finding, **{NAME: "zh"}).info[0].value


@pytest.mark.whole
@pytest.mark.parametrize("script", ["app.py", str(ENTRY)], ids=["app", "entry"])
def test_no_framework_is_imported_in_the_app_s_process(script: str) -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        f"page = AppTest.from_file({script!r}, default_timeout={SECONDS}).run(); "
        "assert not page.exception; assert page.title; "
        "sys.exit(bool({'torch', 'mindspore'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=2 * SECONDS)


def test_streamlit_s_settings_are_the_same_with_and_without_a_checkout() -> None:
    packaged = ENTRY.parent / ".streamlit" / "config.toml"
    assert (ROOT / ".streamlit" / "config.toml").resolve() == packaged.resolve()


@pytest.mark.parametrize(
    ("name", "side", "asked", "words"),
    [
        ("graphs", "left", "torch-tpae", "did you mean 'torch-tape'"),
        ("code", "right", "<img src=x>\x00", "allowed:"),
        pytest.param("export", "left", "<img src=x>\x00", "allowed:", marks=pytest.mark.whole),
    ],
)
def test_an_unknown_engine_in_the_address_is_told_and_the_page_is_there(
    name: str, side: str, asked: str, words: str
) -> None:
    page = opened(PAGES[name], {"label": "net"}, **{side: asked})
    assert not page.exception
    (error,) = page.error
    assert words in error.value.replace("\\", "")
    assert "<img" not in error.value.replace("\\<", "")
    # Both sides show engines that there are.
    assert {page.selectbox(key="left").value, page.selectbox(key="right").value} == {
        "torch-tape",
        "mindspore-graph",
    }
    assert len(page.get("bidi_component")) == (name != "export")
