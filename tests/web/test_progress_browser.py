"""Long work in a real browser: it shows itself, it can be cancelled, and it survives a lost worker."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from explorer.exploration.options import Wanted
from explorer.exploration.stored import key
from explorer.scenario.find import FOLDER
from explorer.scenario.load import load
from explorer.store.store import Store
from tests.support.app_servers import server_at, workers_of
from tests.support.scenario_reports import Reports
from tests.support.servers import SWITCHES, serving

pytestmark = [pytest.mark.browser, pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

MILLISECONDS = 180_000
"""How long a page may take to show what is expected; the machine may be busy."""

NAME = "not_asked_yet"
"""A copy of a shipped scenario, which no store has an answer to."""

ROWS = re.compile(r"^(\d+) cases?:")

MORE_CASES = """first => [...document.querySelectorAll('[data-testid=stAlert]')]
    .some(box => parseInt(box.innerText) > first)"""
"""Whether a page says that it shows more cases than so many."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server that offers a scenario which nobody has asked."""
    text = (FOLDER / "dense_mse.py").read_text(encoding="utf-8")
    (tmp_path / f"{NAME}.py").write_text(text, encoding="utf-8")
    with serving(["explorer", "app"], {"EXPLORER_SCENARIOS": str(tmp_path)}) as url:
        yield url
    shutil.rmtree(tmp_path)


@pytest.fixture
def browser(chromium: str) -> Iterator[Any]:
    """A browser; each of its contexts is a visitor."""
    with sync_playwright() as driver:
        expect.set_options(timeout=MILLISECONDS)
        opened = driver.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        yield opened
        opened.close()


def visit(browser: Any, url: str) -> Any:
    """A page of a new visitor."""
    page = browser.new_context().new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto(url)
    return page


def test_work_shows_itself_is_cancelled_survives_its_workers_and_blocks_nobody(
    browser: Any, address: str, report: Reports
) -> None:
    stored = load(FOLDER / "aliased_input.py")
    Store().put(key(stored, Wanted()), report(stored.name))
    page = visit(browser, f"{address}/semantics?scenario={NAME}")
    cancel, again = (page.get_by_role("button", name=name) for name in ("Cancel", "Run again"))
    bar = page.get_by_test_id("stProgress")
    expect(bar).to_contain_text(re.compile(r"\d s$"))

    # What is stored waits for nobody.
    other = visit(browser, f"{address}/semantics?scenario=aliased_input")
    other.get_by_text("all as expected").wait_for()
    expect(cancel).to_be_visible()
    other.context.close()

    # The first rows come before the last.
    counted = ROWS.match(page.get_by_text(ROWS).first.inner_text())
    assert counted
    expect(cancel).to_be_visible()

    cancel.click()
    page.get_by_text("This was stopped").wait_for()
    expect(bar).to_have_count(0)
    again.click()
    page.get_by_text(ROWS).first.wait_for()
    for worker in workers_of(server_at(address)):
        worker.kill()
    page.get_by_text("a worker process died").wait_for()
    again.click()
    # What is there so far has nothing unexpected either: the end has more cases.
    page.wait_for_function(MORE_CASES, arg=int(counted[1]))
    expect(page.get_by_text("all as expected")).to_be_visible()
    expect(cancel).to_have_count(0)
    expect(again).to_have_count(0)
