"""In a real browser a label runs nothing and asks nobody, wherever a scenario puts one."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.browsers import watched
from tests.support.hostile_labels import LABELS, TOGETHER
from tests.support.sample_pages import PAGES
from tests.support.samples import some
from tests.support.scenario_files import MINIMAL, written
from tests.support.servers import serving_app

pytestmark = pytest.mark.browser

RUN_MILLISECONDS = 180_000
"""How long the app may take to run a scenario."""

# What MindSpore and PyTorch differ in here is foreseen, for a reason with a label.
SCENARIO = f"""{TOGETHER!r} "\\n\\n" {TOGETHER!r}
import numpy as np

LABEL = {TOGETHER!r}
EXPECTED_DIFFERENCES = [{{"engines": ("torch",), "reason": LABEL}}]


def inputs():
    return {{LABEL: np.array([2.0, 3.0], np.float32)}}


def mindspore_net():
    def square(x):
        return (x * x).sum()
    return square


def torch_net():
    def twice(x):
        return (2 * x * x).sum()
    return twice
"""

FILE_NAME = f"{LABELS['tag'].text} {LABELS['icon'].text.replace('/', '-')}.py"


@pytest.mark.parametrize("name", some(PAGES, "graphs"))
def test_a_label_runs_nothing_on_any_page(name: str, samples: str, chromium: str) -> None:
    with watched(chromium, samples) as browser:
        page = browser.page
        page.goto(f"{samples}/?sample={name}&hostile")
        page.locator("#all-is-shown").wait_for(state="attached")
        for box in page.locator("[data-testid=stExpander] summary").all():
            box.click()
        if name == "graphs":
            # The panel has all texts of a node and of its pair.
            page.locator(".pick").nth(3).click()
            page.locator(".panel h3").first.wait_for()
        page.wait_for_timeout(500)  # what a picture of another host would take to be asked for
        assert "harmed" in page.locator("body").inner_text()
        browser.assert_unharmed()
        assert page.locator("[data-testid=stMarkdownContainer] [role=img]").count() == 0


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    """The app with two scenarios full of labels, one of them in its file's name."""
    folder = tmp_path / "scenarios"
    folder.mkdir()
    written(folder, SCENARIO, "hostile.py")
    written(folder, MINIMAL, FILE_NAME)
    with serving_app({"EXPLORER_SCENARIOS": str(folder)}) as url:
        yield url


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_a_hostile_scenario_harms_no_page_of_the_app(app: str, chromium: str) -> None:
    asked = {"scenario": "hostile", "words": TOGETHER, "case": TOGETHER, "left": TOGETHER}
    with watched(chromium, app) as browser:
        page = browser.page
        page.goto(app)
        page.get_by_text("onerror=window.harmed=1").first.wait_for()
        browser.assert_unharmed()
        page.goto(f"{app}/semantics?scenario=hostile")
        whole = page.get_by_test_id("stAlert").filter(has_text="as expected")
        whole.first.wait_for(timeout=RUN_MILLISECONDS)
        browser.assert_unharmed()
        for name in ("semantics", "graphs", "code", "export", "studies"):
            page.goto(f"{app}/{name}?{urlencode({**asked, 'study': TOGETHER})}")
            page.get_by_role("radiogroup", name="Language").wait_for(timeout=RUN_MILLISECONDS)
            browser.assert_unharmed()
        page.goto(f"{app}/semantics?{urlencode({'scenario': TOGETHER, 'lang': TOGETHER})}")
        page.get_by_text("unknown scenario").wait_for()
        browser.assert_unharmed()
