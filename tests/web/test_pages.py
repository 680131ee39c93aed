"""The app's pages without a browser: titles, errors, and a process free of frameworks."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.cli.app import ENTRY
from explorer.web.offered_scenarios import VARIABLE
from tests.support.command_line import ROOT
from tests.support.scenario_files import written

MARKUP = "<img src=x onerror=alert(1)>"

MARKUP_IN_TITLE = f'''"""A net called {MARKUP} and **bold**."""
import numpy as np

def inputs():
    return {{"x": np.array([2.0], np.float32)}}

def mindspore_net():
    def square(x):
        return (x * x).sum()
    return square
'''

SECONDS = 60


@pytest.fixture
def configured_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a title full of markup and a file that is no Python."""
    written(tmp_path, MARKUP_IN_TITLE, "markup.py")
    written(tmp_path, "def inputs(:\n", "broken.py")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def opened(scenario: str) -> Any:
    page = AppTest.from_file(str(ENTRY), default_timeout=SECONDS).run()
    return page.selectbox(key="scenario").set_value(scenario).run()


@pytest.mark.usefixtures("configured_folder")
def test_a_scenario_s_title_is_shown_as_it_is() -> None:
    page = opened("markup")
    assert not page.exception
    assert "\\<img src=x onerror=alert\\(1\\)\\> and \\*\\*bold\\*\\*" in page.subheader[0].value


@pytest.mark.usefixtures("configured_folder")
def test_a_broken_scenario_is_one_message_and_no_traceback() -> None:
    page = opened("broken")
    assert not page.exception
    (error,) = page.error
    assert "syntax error" in error.value.replace("\\", "")


@pytest.mark.mindspore
@pytest.mark.torch
def test_a_device_that_an_engine_cannot_use_is_one_message_with_those_it_can() -> None:
    page = opened("dense_mse")
    page.selectbox(key="device").set_value("mps").run()
    page.sidebar.button[0].click().run(timeout=2 * SECONDS)
    assert not page.exception
    (error,) = page.error
    assert "mindspore has no mps devices" in error.value
    assert "its engines can use: cpu" in error.value


def drawn_case() -> None:
    import msgspec

    from explorer.model.cases import GradCase
    from explorer.web.case_detail import detail
    from tests.support.sample_report import case_report, report

    case = msgspec.structs.replace(case_report(GradCase("grad", 0)), drawn=("dx",))
    detail(case, report())


def test_a_case_says_what_is_drawn() -> None:
    page = AppTest.from_function(drawn_case, default_timeout=SECONDS).run()
    assert not page.exception
    assert "Not compared by value: dx" in page.markdown[1].value


def remarked() -> None:
    from explorer.model.findings import ReportFinding
    from explorer.web.messages import say_finding

    say_finding(ReportFinding(kind="conditioning", sentence="`Sub` multiplies rounding"))


def test_a_remark_is_information_and_no_warning() -> None:
    page = AppTest.from_function(remarked, default_timeout=SECONDS).run()
    assert [len(page.info), len(page.warning), len(page.exception)] == [1, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("script", ["app.py", str(ENTRY)])
def test_no_framework_is_imported_in_the_app_s_process(script: str) -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        f"page = AppTest.from_file({script!r}, default_timeout={SECONDS}).run(); "
        "assert not page.exception; assert page.selectbox; "
        "sys.exit(bool({'torch', 'mindspore'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=2 * SECONDS)


def test_streamlit_s_settings_are_the_same_with_and_without_a_checkout() -> None:
    packaged = ENTRY.parent / ".streamlit" / "config.toml"
    assert (ROOT / ".streamlit" / "config.toml").resolve() == packaged.resolve()
