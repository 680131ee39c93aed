"""One's own files in a real browser: watched, run again when they are saved, told apart by folder."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browsers import watched
from tests.support.scenario_files import written
from tests.support.servers import serving

pytestmark = [pytest.mark.browser, pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

SCENARIO = '''"""A product."""
import numpy as np

def inputs():
    return {{"x": np.array([2.0], np.float32)}}

def mindspore_net():
    def net(x):
        return (x * x * {factor}).sum()
    return net

def torch_net():
    def net(x):
        return (x * x * {factor}).sum()
    return net
'''


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files of one name, in two folders."""
    made = []
    for factor, folder in ((1, "a"), (2, "b")):
        (tmp_path / folder).mkdir()
        made.append(written(tmp_path / folder, SCENARIO.format(factor=factor), "net.py"))
    return made


@pytest.fixture
def page(files: list[Path], chromium: str) -> Iterator[Any]:
    """A page of a server that was started with both files."""
    with (
        serving(["explorer", "app", *map(str, files)], {}) as url,
        watched(chromium, url) as opened,
    ):
        opened.page.goto(f"{url}/semantics?api=grad")
        yield opened.page


def four_answers(page: Any, gradient: int) -> None:
    """Wait until every engine says this gradient."""
    answers = page.get_by_test_id("stCode").filter(has_text=re.compile(rf"dx = \[{gradient}\]"))
    expect(answers).to_have_count(4)
    # All is there: nothing waits any more.
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_what_is_saved_is_run_again_and_what_was_looked_at_stays(
    page: Any, files: list[Path]
) -> None:
    watched = files[0]
    four_answers(page, 4)
    address = page.url
    watched.write_text(SCENARIO.format(factor=3), encoding="utf-8")
    four_answers(page, 12)
    assert page.url == address

    watched.write_text(SCENARIO.format(factor=5).replace("inputs():", "inputs(:"), encoding="utf-8")
    page.get_by_text("net.py:4: syntax error in the scenario file").wait_for()
    watched.write_text(SCENARIO.format(factor=5), encoding="utf-8")
    four_answers(page, 20)
    assert page.url == address

    # Of a long list only what can be seen is in the page: typing brings the other file there.
    page.get_by_role("combobox", name="Scenario").fill("b/net")
    page.get_by_role("option", name="b/net", exact=True).click()
    four_answers(page, 8)
