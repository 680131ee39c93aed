"""The component of two graphs in a browser where Streamlit puts it on other elements."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from playwright.sync_api import expect

from explorer.drawing.formats import draw_shown
from explorer.drawing.shown import Shown, show_both
from explorer.pair.alignments import both_marks, merged_alignment
from explorer.pair.component import code, markup, style
from explorer.pair.records import Side, pair_record, sources
from explorer.web.pair_view import ADAPTER, ViewState
from tests.support.browsers import watched
from tests.support.deep_nets import SPOILED, deep_report

pytestmark = [pytest.mark.browser, pytest.mark.whole]

PRODUCT = '.pane[data-side=left] .pick[data-op="aten.mm"]'
"""The nodes of the left graph that the test chooses one of."""

START = """async ([code, markup, state, record]) => {
  const blob = new Blob([code], { type: 'text/javascript' })
  const { default: adapter } = await import(URL.createObjectURL(blob))
  window.told = []
  window.put = () => {
    const host = document.createElement('div')
    host.innerHTML = markup
    document.body.replaceChildren(host)
    return host
  }
  window.give = (host, isWhole, revision = state.revision) => {
    const head = JSON.stringify({ state: { ...state, revision }, key: 'of the record' })
    const text = `${head}\\n${isWhole ? record : ''}`
    const setStateValue = (_, value) => window.told.push(value)
    adapter({ data: new TextEncoder().encode(text), parentElement: host, setStateValue })
  }
  window.host = window.put()
  window.give(window.host, true)
}"""
"""Does what Streamlit does: puts elements on the page, and gives them data at every run of it."""


def record() -> bytes:
    """Two graphs that part, as the app's page sends them."""
    report = deep_report(2, SPOILED)
    left, _, right = report.graphs
    (alignment,) = report.alignments
    shown = show_both(left, right)
    marks = both_marks(shown, alignment)

    def side(place: int, prefix: str) -> Side:
        of_side: Shown = shown[place]
        svg = draw_shown(of_side, format="svg", marks=marks[place], prefix=prefix).decode()
        return Side(prefix, svg, prefix, of_side, (left, right)[place], prefix)

    whole = pair_record(
        side(0, "left-"), side(1, "right-"), alignment, merged_alignment(alignment, *shown)
    )
    return msgspec.json.encode({"pair": whole, "sources": sources(*shown, ())})


@pytest.fixture
def page(chromium: str) -> Iterator[Any]:
    """A page with the component on it; at the end, nothing may have gone wrong in it."""
    script = f"{code()}\n{ADAPTER.read_text(encoding='utf-8')}"
    state = msgspec.to_builtins(ViewState(revision=3))
    with watched(chromium, "about:blank") as browser:
        elements = f"<style>{style()}</style>{markup()}"
        browser.page.evaluate(START, [script, elements, state, record().decode()])
        yield browser.page
        assert browser.errors == []


def told(page: Any) -> list[dict[str, Any]]:
    """What the component has said that is chosen."""
    said: list[dict[str, Any]] = page.evaluate("window.told")
    return said


def test_what_was_chosen_a_moment_before_is_chosen_on_the_new_elements(page: Any) -> None:
    chosen = page.locator(PRODUCT).first.get_attribute("data-pick")
    page.evaluate(
        """selector => {
          const node = document.querySelector(selector)
          const press = { bubbles: true, pointerId: 1 }
          node.dispatchEvent(new PointerEvent('pointerdown', press))
          node.dispatchEvent(new PointerEvent('pointerup', press))
          window.host = window.put()
          window.give(window.host, false)
        }""",
        PRODUCT,
    )
    # Without their record the new elements ask for it, and say what was chosen.
    asked = told(page)[-1]
    assert (asked["has"], asked["node"]) == ("", f"left:{chosen}")
    page.evaluate("window.give(window.host, true)")
    expect(page.locator(".frame.chosen")).to_have_count(2)
    expect(page.locator(".panel")).to_contain_text("aten.mm")
    page.wait_for_function("window.told.length > 1")
    page.wait_for_timeout(500)
    # The elements that are gone say nothing any more.
    assert {state["node"] for state in told(page)} == {f"left:{chosen}"}
    assert [state["has"] for state in told(page)] == ["", "of the record"]


def test_a_pointer_over_elements_that_show_nothing_yet_does_nothing(page: Any) -> None:
    page.evaluate("window.host = window.put(); window.give(window.host, false)")
    for pane in page.locator(".pane").all():
        for kind in ("pointerover", "pointerleave", "pointerdown", "pointermove", "pointerup"):
            pane.dispatch_event(kind, {"pointerId": 1})
        pane.dispatch_event("wheel", {"deltaY": 1})
    page.locator(".explorer").dispatch_event("keydown", {"key": "n"})
    expect(page.locator(".pick")).to_have_count(0)


def test_elements_of_other_graphs_begin_as_the_page_says(page: Any) -> None:
    page.locator(PRODUCT).first.click()
    expect(page.locator(".frame.chosen")).to_have_count(2)
    page.evaluate("window.host = window.put(); window.give(window.host, true, 4)")
    expect(page.locator(".pick").first).to_be_visible()
    expect(page.locator(".frame.chosen")).to_have_count(0)
    page.wait_for_timeout(500)
    # What the page has just said is not told to it, nor what was chosen in the graphs before.
    assert [state for state in told(page) if state["revision"] == 4] == []


def test_two_elements_in_the_page_at_once_keep_their_drawings_and_ask_for_nothing(
    page: Any,
) -> None:
    # Streamlit keeps the old elements for a while beside the new ones, and calls both.
    page.evaluate(
        """() => {
          const other = document.createElement('div')
          other.innerHTML = window.host.innerHTML
          for (const pane of other.querySelectorAll('.pane')) pane.replaceChildren()
          document.body.append(other)
          window.give(other, true)
          for (const host of [window.host, other, window.host, other]) window.give(host, false)
        }"""
    )
    page.wait_for_timeout(500)
    assert "" not in [state["has"] for state in told(page)]
    assert page.locator(".pane svg .pick").count() > 0
