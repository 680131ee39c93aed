"""What a person sees on small and large screens, and on the way back."""

import re
from typing import Any

import pytest

from explorer.web.widgets import HEAD_HEIGHT, ROW_HEIGHT, table_height
from tests.support.browsers import AT_REST, watched
from tests.support.sample_pages import PAGES

pytestmark = pytest.mark.browser

TOO_WIDE = """() => {
  const main = document.querySelector('[data-testid=stMain]')
  return Math.max(main.scrollWidth - main.clientWidth, document.body.scrollWidth - innerWidth)
}"""
"""By how many pixels a page is wider than its window."""


def show(page: Any, url: str, name: str) -> None:
    page.goto(f"{url}/?sample={name}")
    page.locator("#all-is-shown").wait_for(state="attached")
    page.wait_for_timeout(500)


@pytest.mark.whole
@pytest.mark.parametrize("width", [390, 1400, 2560])
def test_no_page_is_wider_than_its_window(width: int, samples: str, chromium: str) -> None:
    with watched(chromium, samples, width=width) as browser:
        for name in PAGES:
            show(browser.page, samples, name)
            assert browser.page.evaluate(TOO_WIDE) <= 0, name
        assert browser.errors == []


@pytest.mark.whole
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("claims", "44. ", "1. "), ("semantics", "grad((0,))", "grad(None)")],
)
def test_the_way_back_chooses_in_a_table_what_was_chosen_before(
    name: str, first: str, second: str, samples: str, chromium: str
) -> None:
    with watched(chromium, samples) as browser:
        page = browser.page
        show(page, samples, name)
        title = page.locator("h4").first
        assert title.inner_text().startswith(first)
        address = page.url
        # A row's box, in a table that is drawn and has no elements: the head and a row above it.
        row = 1 if name == "claims" else 0
        table = page.get_by_test_id("stDataFrame").first
        at = {"x": 18, "y": 38 + 35 * row + 17}
        # What is above the table has moved it for the last time when the app is at rest.
        box = None
        while box is None or table.bounding_box() != box:
            page.locator(AT_REST).wait_for()
            table.locator("canvas").first.wait_for()
            box = table.bounding_box()
            page.wait_for_timeout(2000)
        table.click(position=at)
        page.wait_for_function(
            "text => document.querySelector('h4')?.innerText.startsWith(text)", arg=second
        )
        page.wait_for_function("address => location.href !== address", arg=address)
        page.go_back()
        page.wait_for_function(
            "text => document.querySelector('h4')?.innerText.startsWith(text)", arg=first
        )
        page.wait_for_timeout(500)
        assert title.inner_text().startswith(first)


@pytest.mark.whole
def test_on_a_phone_filters_stand_in_two_columns(samples: str, chromium: str) -> None:
    with watched(chromium, samples, width=390) as browser:
        show(browser.page, samples, "semantics")
        names = ("Position", "Weights", "has_aux", "Verdict")
        boxes = []
        for name in names:
            bar = browser.page.locator("[class*=st-key-bar-filters] > div")
            boxes.append(bar.filter(has_text=re.compile(f"^{name}")).bounding_box())
        assert len({round(box["width"]) for box in boxes}) == 1
        assert len({round(box["x"]) for box in boxes}) == 2


def test_a_table_ends_below_a_whole_row() -> None:
    assert table_height(100, 10) == table_height(10, 10) == HEAD_HEIGHT + 10 * ROW_HEIGHT
    assert table_height(3, 10) == HEAD_HEIGHT + 3 * ROW_HEIGHT
