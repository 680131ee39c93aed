"""Pages for everybody: axe finds nothing serious, the keyboard reaches everything, names are there."""

import os
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from tests.support.browsers import watched
from tests.support.sample_pages import PAGES
from tests.support.samples import some

pytestmark = pytest.mark.browser

AXE = "axe_playwright_python"

if find_spec(AXE) is None and not os.environ.get("CI"):
    pytest.skip(
        "axe-playwright-python is not here: `make test` installs it", allow_module_level=True
    )

SERIOUS = ("serious", "critical")

MOST_TABS = 60
"""The number of times that the Tab key is pressed at most until a control has the focus."""


def violations(page: Any) -> list[str]:
    """What axe calls serious or critical, with the first element of each kind."""
    from axe_playwright_python.sync_playwright import Axe

    serious = []
    for violation in Axe().run(page).response["violations"]:
        elements = [node["html"] for node in violation["nodes"]]
        # Streamlit 1.65, the newest for Python 3.10, has one in its sidebar; 1.66 has it no more.
        is_sidebars = all("stSidebar" in html for html in elements)
        is_old = sys.version_info < (3, 11) and violation["id"] == "aria-allowed-attr"
        if violation["impact"] in SERIOUS and not (is_old and is_sidebars):
            serious.append(f"{violation['id']}: {elements[0]}")
    return serious


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", some([*PAGES, "first"], "graphs"))
def test_axe_finds_nothing_serious(
    name: str, theme: str, chromium: str, request: pytest.FixtureRequest
) -> None:
    is_first = name == "first"
    url: str = request.getfixturevalue("address" if is_first else "samples")
    with watched(chromium, url, theme=theme) as browser:
        page = browser.page
        page.goto(url if is_first else f"{url}/?sample={name}")
        if is_first:
            page.get_by_role("radiogroup", name="Language").wait_for()
        else:
            page.locator("#all-is-shown").wait_for(state="attached")
        if name == "graphs":
            page.locator(".pick").nth(3).click()
            page.locator(".panel h3").first.wait_for()
        page.wait_for_timeout(1000)  # Streamlit fades in what has changed
        assert violations(page) == []


@pytest.mark.whole
def test_axe_notices_what_has_no_name_and_what_cannot_be_read(samples: str, chromium: str) -> None:
    with watched(chromium, samples) as browser:
        page = browser.page
        page.goto(f"{samples}/?sample=study")
        page.locator("#all-is-shown").wait_for(state="attached")
        page.evaluate(
            """() => {
              const text = document.querySelector('[data-testid=stMarkdownContainer] li')
              text.style.color = '#bbbbbb'
              text.append(document.createElement('button'))
            }"""
        )
        found = " ".join(violations(page))
        assert "button-name" in found
        assert "color-contrast" in found


def focused(page: Any) -> str:
    """The name of what has the focus, also inside a component."""
    name: str = page.evaluate(
        """() => {
          let element = document.activeElement
          while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
          const label = element?.getAttribute('aria-label') || element?.labels?.[0]?.textContent
          return label || element?.textContent || ''
        }"""
    )
    return name


@pytest.mark.whole
@pytest.mark.parametrize(
    ("name", "controls"),
    [
        ("semantics", ["API", "Weights", "Search", "Tensor", "Engines, devices and versions"]),
        ("graphs", ["Case", "Right", "Find nodes", "Panes follow each other", "Left graph"]),
        ("claims", ["Topic", "Verdict", "Search", "What was run"]),
        ("export", ["Case", "Format", "Download", "JSON"]),
    ],
)
def test_the_keyboard_alone_reaches_every_control(
    name: str, controls: list[str], samples: str, chromium: str
) -> None:
    with watched(chromium, samples) as browser:
        page = browser.page
        page.goto(f"{samples}/?sample={name}")
        page.locator("#all-is-shown").wait_for(state="attached")
        page.wait_for_timeout(500)
        reached = []
        for _ in range(MOST_TABS):
            page.keyboard.press("Tab")
            reached.append(focused(page))
        missing = [control for control in controls if not any(control in text for text in reached)]
        assert missing == [], reached
