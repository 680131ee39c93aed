"""The app in a real browser: a run, its two graphs, and its lines of code."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.support.browsers import AT_REST, watched
from tests.support.scenario_reports import Reports, graph

pytestmark = [pytest.mark.browser, pytest.mark.mindspore, pytest.mark.torch]

RUN_MILLISECONDS = 180_000
"""How long it may take to run a scenario."""


@pytest.fixture
def page(address: str, chromium: str) -> Iterator[Any]:
    """A fresh page of the app; at the end, nothing may have gone wrong, nor another host been asked."""
    with watched(chromium, address) as browser:
        browser.page.goto(address)
        yield browser.page
        browser.assert_unharmed()


def test_run_then_two_graphs_with_all_their_nodes(page: Any, report: Reports) -> None:
    whole = report("aliased_input")
    page.get_by_role("textbox", name="Search").fill("aliased")
    page.get_by_role("textbox", name="Search").press("Enter")
    page.get_by_role("link", name="aliased_input").click()
    page.get_by_role("heading", name="One tensor passed as two inputs").wait_for()
    page.get_by_text("all as expected").wait_for(timeout=RUN_MILLISECONDS)
    for text in ("[1, 2, 3]", "[2, 4, 6]"):
        answers = page.locator("[data-testid=stCode]", has_text=text)
        # The values of two engines, and perhaps their difference.
        expect(answers.nth(1)).to_be_visible()

    page.get_by_role("link", name="Graphs", exact=True).first.click()
    page.wait_for_url("**/graphs*")
    left, right = (page.locator(f".pane[data-side={side}]") for side in ("left", "right"))
    tape = graph(whole, "torch-tape")
    expect(left.locator(".pick")).to_have_count(len(tape.nodes))
    expect(right.locator(".pick")).to_have_count(len(graph(whole, "mindspore-graph").nodes))


@pytest.mark.whole
def test_a_line_of_code_lights_its_partner_and_opens_its_node_in_the_graphs(
    page: Any, address: str, report: Reports
) -> None:
    report("aliased_input")
    page.goto(f"{address}/code?scenario=aliased_input")
    line = page.locator(".net[data-side=left] .line.differs")
    line.wait_for(timeout=RUN_MILLISECONDS)
    expect(line.locator(".sign")).to_have_text("≠")
    right = page.locator(".net[data-side=right] .line.linked")
    expect(right).to_have_count(1)
    line.hover()
    expect(right).to_have_class(re.compile("lit"))
    page.mouse.move(0, 0)
    expect(right).not_to_have_class(re.compile("lit"))

    node = line.locator(".chip.differs")
    side_and_id = node.get_attribute("data-node")
    assert parse_qs(urlsplit(node.get_attribute("href")).query)["node"] == [side_and_id]
    node.click()
    page.wait_for_url(re.compile("/graphs"))
    page.locator(".pane[data-side=left]").wait_for()
    assert parse_qs(urlsplit(page.url).query)["scenario"] == ["aliased_input"]
    page.go_back()
    line.wait_for()


@pytest.mark.whole
def test_graphs_that_open_leave_the_server_in_peace(
    page: Any, address: str, report: Reports
) -> None:
    """A run that the drawings ask for by themselves may meet a visitor's way back.

    Streamlit then stays on a page of which nothing is shown.
    """
    report("aliased_input")
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append(page.url)))
    page.goto(f"{address}/graphs?scenario=aliased_input&node=left:n9")
    page.locator(".pane[data-side=left] .frame.chosen").wait_for(timeout=RUN_MILLISECONDS)
    page.locator(AT_REST).wait_for()
    assert sent
    sent.clear()
    page.wait_for_timeout(1_000)
    assert sent == []
