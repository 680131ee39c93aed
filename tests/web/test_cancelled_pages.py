"""Claims and studies that are cancelled in the middle: the page says so, and asks again when told to."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import streamlit as st

from explorer.web import shared_runs
from explorer.web.claims_page import claims
from explorer.web.shared_runs import SharedRun, SharedRuns
from explorer.web.studies_page import FIRST_STUDY, studies
from explorer.workers.workers import Workers
from tests.support.pages import said, shown
from tests.support.sample_board import BOARD
from tests.support.sample_study import RECORD

pytestmark = pytest.mark.slow

FOUND = "What was found at last"


class Work:
    """Work of two steps: cancelled after the first, the first time; then it goes through."""

    def __init__(self, answer: Any, visitor: str) -> None:
        self.answer = answer
        self.visitor = visitor
        self.finished_steps: list[int] = []

    def make(self, progress: Callable[[str, int, int], None]) -> Any:
        """The answer; as board() and study() are, it is told how far it is."""
        is_first = not self.finished_steps
        for step in (1, 2):
            progress("measurements", step, 2)
            self.finished_steps.append(step)
            if is_first:
                time.sleep(0.5)  # a page has its bar by then
                run = getattr(progress, "__self__")  # noqa: B009
                assert isinstance(run, SharedRun)
                run.give_up(self.visitor)
        return self.answer


@pytest.fixture
def runs() -> Iterator[SharedRuns]:
    """Questions of this test alone."""
    asked = SharedRuns(Workers(), Workers())
    yield asked
    asked.end()


@pytest.fixture
def visitor() -> str:
    """What a page without a browser calls its visitor."""
    return str(shown(lambda: st.text(shared_runs.visitor())).text[0].value)


@pytest.mark.parametrize(
    ("page", "made", "answer", "query", "words"),
    [
        (claims, "board", BOARD, {}, "2 claims: 1 holds, 1 was not run"),
        (
            studies,
            "study",
            msgspec.structs.replace(RECORD, study=FIRST_STUDY, findings=(FOUND,)),
            {"study": "devices", "on": "polynomial"},
            FOUND,
        ),
    ],
    ids=["board", "study"],
)
def test_what_is_cancelled_says_so_keeps_its_choice_and_runs_again(
    page: Callable[[], None],
    made: str,
    answer: Any,
    query: dict[str, str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    runs: SharedRuns,
    visitor: str,
) -> None:
    work = Work(answer, visitor)
    module = page.__module__
    monkeypatch.setattr(f"{module}.shared_runs", lambda: runs)
    monkeypatch.setattr(f"{module}.stored_{made}", lambda *_: None)
    monkeypatch.setattr(f"{module}.{made}", lambda *given: work.make(given[-2]))
    cancelled = shown(page, **query)
    assert not cancelled.exception
    assert work.finished_steps == [1], "nothing was begun after it was cancelled"
    assert ["stopped before" in block.value for block in cancelled.info] == [True]
    assert not cancelled.error
    recorded = [block for block in cancelled.caption if "Recorded with" in block.value]
    assert bool(recorded) is (made == "board"), "what is recorded is shown in its place"
    cancelled.button(key="run_again").click().run()
    assert not cancelled.exception
    assert work.finished_steps == [1, 1, 2]
    assert not cancelled.info
    assert words in said(cancelled)
    assert [box.value for box in cancelled.selectbox if box.key == "on"] == [
        value for name, value in query.items() if name == "on"
    ]
