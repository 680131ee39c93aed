"""Recorded results on pages: all of them on a new installation, said once, and replaced by one's own."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import msgspec
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.exploration.options import Wanted
from explorer.exploration.stored import key
from explorer.report.recorded.results import recording
from explorer.report.scenario.card import card, card_of
from explorer.scenario.find import SHIPPED, find, names
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.topics import STUDIES
from explorer.web import home_page, progress
from explorer.web.progress import page_recorded_with, recorded_with, show_or_await
from explorer.web.shared_runs import SharedRun, StoppedError
from tests.support.pages import opened
from tests.support.sample_report import report
from tests.web.test_home import cards, home

RECORDED = "were recorded with"


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    """Each test has a store of its own, and pages keep what they read of one for a while."""
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def recorded_lines(page: AppTest) -> list[str]:
    return [block.value for block in page.caption if RECORDED in block.value]


@pytest.mark.slow
def test_a_new_installation_shows_all_that_is_shipped_and_says_once_with_what() -> None:
    page = home()
    assert not page.exception
    shown = {shown["name"]: shown for shown in cards(page)}
    for name in names(SHIPPED):
        assert shown[name]["picture"].startswith("data:image/svg+xml"), name
        assert shown[name]["badge"]["text"], name
    assert [name for name in STUDIES if not shown[name]["point"]] == []
    assert [name for name, shown_card in shown.items() if shown_card["note"]] == []
    (line,) = recorded_lines(page)
    assert recording().date in line.replace("\\", "")
    drawn = " ".join(block.proto.body for block in page.get("html"))
    assert 'class="introduction"' in drawn
    assert 'class="counts"' in drawn


@pytest.mark.slow
def test_a_result_of_one_s_own_takes_the_recorded_one_s_place_and_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = load(find("kinks"))
    own = msgspec.structs.replace(report(unexpected=True), scenario="kinks")
    Store().put(key(scenario, Wanted()), own)
    assert card(scenario, Store()) == card_of(own)
    page = home(words="kinks")
    assert not page.exception
    marked = {shown["name"]: shown for shown in cards(page) if shown["note"]}
    assert list(marked) == ["kinks"]
    assert marked["kinks"]["note"] == "run here"
    assert "unexpected" in marked["kinks"]["badge"]["text"]
    assert recorded_lines(page)
    # Where everything is of this machine, nothing is said of recorded results.
    monkeypatch.setattr(home_page, "_shows_recorded", lambda: False)
    page.run()
    assert recorded_lines(page) == []
    assert {shown["note"] for shown in cards(page)} == {""}


@pytest.mark.parametrize("text", [recorded_with, page_recorded_with])
def test_other_versions_than_the_recorded_ones_are_said_plainly(
    text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "other_versions", dict)
    assert "Installed here" not in text()
    assert f"torch {recording().versions['torch']}" in text()
    others = {"torch": "2.99.0", "mindspore": "none"}
    monkeypatch.setattr(progress, "other_versions", lambda: others)
    assert "Installed here: torch 2.99.0, no mindspore." in text()


def waiting_page() -> None:
    import streamlit as st

    from explorer.web.progress import show_or_await

    def show(text: str, is_recorded: bool) -> None:
        st.caption("recorded" if is_recorded else "own")
        st.markdown(text)

    run = st.session_state["run"]
    if run.partial is not None:
        run.value = "now"  # between two runs of the page
        run.finished.set()
    show_or_await(run, lambda: "before", show)


@pytest.mark.slow
def test_a_page_shows_what_is_recorded_until_its_own_answer_is_there() -> None:
    run: SharedRun[str] = SharedRun()
    shown: list[tuple[str, bool]] = []

    def show(text: str, is_recorded: bool) -> None:
        shown.append((text, is_recorded))
        raise KeyboardInterrupt  # the page would wait now

    with pytest.raises(KeyboardInterrupt):
        show_or_await(run, lambda: "before", show)
    assert shown == [("before", True)]
    page = opened(waiting_page, {"run": run})
    assert [block.value for block in page.caption] == ["own"]
    assert [block.value for block in page.markdown] == ["now"]


@pytest.mark.parametrize(
    ("error", "shown"), [(None, ("now", False)), (StoppedError("stopped"), ("before", True))]
)
def test_an_answer_that_is_there_is_shown_and_what_is_recorded_after_a_run_was_stopped(
    error: StoppedError | None, shown: tuple[str, bool]
) -> None:
    run: SharedRun[str] = SharedRun()
    run.set_partial("before")
    run.error = error
    run.value = None if error else "now"
    run.finished.set()
    said: list[tuple[str, bool]] = []

    def read() -> str | None:
        assert error, "there is an answer"
        return None

    with pytest.raises(StoppedError) if error else nullcontext():
        show_or_await(run, read, lambda *what: said.append(what))
    assert said == [shown]
