"""The app: what it offers, what it shows of a real report, and its two graphs in a real browser."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright
from streamlit.testing.v1 import AppTest

from explorer.compare.align import align
from explorer.model.cases import GradCase
from explorer.model.report import CaseReport, Report
from explorer.scenario.contract import FOLDER
from explorer.web.agreement import letters
from explorer.web.configured import VARIABLE, folders, offered
from explorer.web.pair_view import pairs
from explorer.web.shown import Shown, translated
from tests.sample_report import case_report, graph

ROOT = FOLDER.parent
MARKUP = "<img src=x onerror=alert(1)>"

PLAIN = f'''"""A net called {MARKUP} and **bold**."""
import numpy as np

def inputs():
    return {{"x": np.array([2.0], np.float32)}}

def mindspore_net():
    def square(x):
        return (x * x).sum()
    return square
'''


def test_only_scenarios_of_configured_folders_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(PLAIN)
    assert "mine" not in offered()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert folders() == (FOLDER, tmp_path)
    assert offered()["mine"] == tmp_path / "mine.py"


def test_engines_with_the_same_answer_share_a_letter() -> None:
    case = GradCase("grad", 0)
    assert set(letters(case_report(case)).values()) == {"A"}
    split = letters(case_report(case, wrong="tape"))
    assert {name for name, letter in split.items() if letter == "A"} == {
        "mindspore-tape",
        "torch-tape",
    }
    assert {name for name, letter in split.items() if letter == "B"} == {
        "mindspore-graph",
        "torch-graph",
    }


def test_an_engine_that_cannot_answer_has_no_letter() -> None:
    unsupported: CaseReport = case_report(GradCase("grad", 0, "all"))
    assert "torch-graph" not in letters(unsupported)


def test_pairs_inside_merged_modules_pair_the_modules() -> None:
    left, right = graph("torch-tape"), graph("mindspore-graph")
    alignment = align(left, right)
    whole, merged = Shown.of(left, None), Shown.of(left, 0)
    assert translated(alignment, whole, Shown.of(right, None)) == alignment
    seen = translated(alignment, merged, Shown.of(right, 0))
    links = pairs(seen)
    assert 0 < len(seen.pairs) <= len(alignment.pairs)
    assert set(links["left"]) <= set(merged.graph.by_id())


@pytest.fixture
def offered_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "markup.py").write_text(PLAIN)
    (tmp_path / "broken.py").write_text("def inputs(:\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def opened(scenario: str) -> Any:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    return page.selectbox(key="scenario").set_value(scenario).run()


def test_a_scenario_s_title_is_shown_as_it_is(offered_markup: Path) -> None:
    page = opened("markup")
    assert not page.exception
    assert "\\<img src=x onerror=alert\\(1\\)\\> and \\*\\*bold\\*\\*" in page.subheader[0].value


def test_a_broken_scenario_is_one_message_and_no_traceback(offered_markup: Path) -> None:
    page = opened("broken")
    assert not page.exception
    assert [error.value for error in page.error if "syntax error" in error.value.replace("\\", "")]
    assert len(page.error) == 1


def test_a_device_that_an_engine_cannot_use_is_one_message_with_those_it_can() -> None:
    page = opened("dense_mse")
    page.selectbox(key="device").set_value("mps").run()
    page.sidebar.button[0].click().run(timeout=120)
    assert not page.exception
    assert len(page.error) == 1
    assert "mindspore has no mps devices" in page.error[0].value
    assert "its engines can use: cpu" in page.error[0].value


def test_no_framework_is_imported_in_the_app_s_process() -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; page = AppTest.from_file('app.py', default_timeout=60).run(); "
        "assert not page.exception; sys.exit(bool({'torch', 'mindspore'} & set(sys.modules)))"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, timeout=120
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of the app, as `make app` starts it, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "explorer",
        "app",
        "--server.address=127.0.0.1",
        f"--server.port={port}",
    ]
    server = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while not _answers(url):
        assert time.monotonic() < deadline, "the app did not start within a minute"
        time.sleep(0.2)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture
def page(address: str, chromium: str) -> Iterator[Any]:
    """A fresh page of the app, 1400 pixels wide; at the end, nothing may have gone wrong in it."""
    switches = [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=switches)
        opened = browser.new_page(viewport={"width": 1400, "height": 1000})
        opened.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        wrong: list[str] = []
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.goto(address)
        yield opened
        browser.close()
    assert wrong == []


@pytest.mark.browser
def test_run_then_two_graphs_in_which_a_click_shows_a_node_and_its_pair(
    page: Any, report: Callable[[str], Report]
) -> None:
    page.get_by_role("combobox", name="Scenario").click()
    page.get_by_role("option", name="aliased_input", exact=True).click()
    page.get_by_role("heading", name="One tensor passed as two inputs").wait_for()
    page.get_by_role("button", name="Run").click()
    page.get_by_text("0 unexpected").wait_for(timeout=180_000)
    for text in ("[1, 2, 3]", "[2, 4, 6]"):
        expect(page.locator("[data-testid=stCode]", has_text=text)).to_have_count(2)

    page.get_by_role("link", name="Graphs").first.click()
    left, right = (page.locator(f".pane[data-side={side}]") for side in ("left", "right"))
    captured = report("aliased_input").graphs
    graphs = {each.engine: each for each in captured}
    expect(left.locator(".pick")).to_have_count(len(graphs["torch-tape"].nodes))
    expect(right.locator(".pick")).to_have_count(len(graphs["mindspore-graph"].nodes))

    total = next(node for node in graphs["torch-tape"].nodes if node.op.startswith("aten.sum"))
    left.locator(f"#left-{total.id}").click()
    for pane in (left, right):
        expect(pane.locator(".frame.chosen")).to_have_count(1)
    expect(page.get_by_text("recognised by")).to_be_visible()
    expect(page.locator("[data-testid=stCode]", has_text="forward op")).to_have_count(2)

    page.get_by_role("searchbox", name="Find nodes").fill("mul")
    expect(page.locator(".found")).to_contain_text("found")
    hits = page.locator(".pick.hit").count()
    assert 0 < hits < page.locator(".pick").count()
    assert page.locator(".found").inner_text() == f"{hits} found"

    page.get_by_role("combobox", name="Stage").click()
    page.get_by_role("option", name="1 forward program").click()
    forward = next(each for each in captured if each.stage == "type_inference")
    expect(right.locator(".pick")).to_have_count(len(forward.nodes))
    expect(right.locator(".legend")).to_contain_text("This stage was not run")
    expect(page.get_by_text("mindspore-graph, type_inference")).to_be_visible()
