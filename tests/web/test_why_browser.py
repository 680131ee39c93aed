"""Why two graphs differ, in a real browser: the list of places, the panel, and what is copied."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browsers import watched
from tests.support.deep_nets import SPOILED
from tests.support.servers import serving_graphs

pytestmark = [pytest.mark.browser, pytest.mark.whole]


@pytest.fixture
def page(
    chromium: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Any]:
    """The page of graphs that differ in one place, which is explained or was tried in vain."""
    folder = str(tmp_path_factory.mktemp("net"))
    explained, _, mended = request.param.partition(", behind it ")
    serving = serving_graphs(2, SPOILED, folder, explained, mended)
    with serving as url, watched(chromium, url) as browser:
        browser.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        browser.page.goto(f"{url}/?depth=all")
        browser.page.locator(".pane[data-side=right] .pick").first.wait_for()
        yield browser.page


@pytest.mark.parametrize("page", ["yes, behind it yes"], indirect=True)
def test_a_place_is_a_click_away_with_its_cause_and_its_code_is_copied(page: Any) -> None:
    panel = page.locator(".panel")
    panel.get_by_text("2 places where the graphs differ").click()
    expect(panel.locator(".divergences + .quiet")).to_contain_text("As if mended: torch-tape goes")
    panel.get_by_role("button", name="As if mended, further divergence in forward").click()
    expect(panel.locator("[data-card=left] h3")).to_have_text("aten.tanh")
    expect(panel.locator("[data-card=right] h3")).to_have_text("Tanh")
    expect(panel.locator(".why")).to_contain_text("eps=0.1")
    expect(panel.locator(".difference")).to_have_count(0)
    page.get_by_role("button", name="First divergence").click()
    expect(panel.locator("[data-card=left] h3")).to_have_text("aten.mm")
    expect(panel.locator(".why")).to_contain_text("Cause, tried: ")
    expect(panel.locator(".tried")).to_contain_text("61 changes were tried")
    copy = panel.get_by_role("button", name="Copy: nn.BatchNorm2d(eps=1e-05)")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "nn.BatchNorm2d(eps=1e-05)"


@pytest.mark.parametrize("page", ["no"], indirect=True)
def test_what_was_tried_in_vain_stands_at_its_op_alone(page: Any) -> None:
    panel = page.locator(".panel")
    page.get_by_role("button", name="First divergence").click()
    tried = panel.locator("[data-card=left] .tried")
    expect(tried).to_contain_text("none gives the other side's value")
    expect(tried.locator("li")).to_have_count(2)
    expect(panel.locator("[data-card=right] .tried")).to_have_count(0)
    expect(panel.locator(".why")).to_have_count(0)
