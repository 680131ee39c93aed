"""Claims and studies that are cancelled in the middle: the page says so, and asks again when told to."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from explorer.model.measurement import Measured
from explorer.model.study import StudyRecord
from explorer.web.shared_runs import SharedRun, SharedRuns
from explorer.web.studies_page import FIRST_STUDY
from explorer.workers.workers import Workers
from tests.support.pages import opened, said
from tests.support.sample_board import BOARD

pytestmark = pytest.mark.slow

RECORD = StudyRecord(
    study=FIRST_STUDY,
    title="t",
    question="q",
    scenario="",
    device="cpu",
    versions={"torch": "2.13"},
    measured={"one": Measured(outcome="ok", date="2026-02-01")},
    findings=("What was found at last",),
    tables=(),
    charts=(),
)


def who_visits() -> None:
    import streamlit as st

    from explorer.web.shared_runs import visitor

    st.session_state["visitor"] = visitor()


def claims_page() -> None:
    from explorer.web.claims_page import claims

    claims()


def studies_page() -> None:
    from explorer.web.studies_page import studies

    studies()


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
    return str(opened(who_visits).session_state["visitor"])


def stopped_and_run_again(page: Any, work: Work) -> None:
    assert not page.exception
    assert work.finished_steps == [1], "nothing was begun after it was cancelled"
    assert ["stopped before" in block.value for block in page.info] == [True]
    assert not page.error
    page.button(key="run_again").click().run()
    assert not page.exception
    assert work.finished_steps == [1, 1, 2]
    assert not page.info


def test_a_board_that_is_cancelled_says_so_and_runs_again(
    monkeypatch: pytest.MonkeyPatch, runs: SharedRuns, visitor: str
) -> None:
    work = Work(BOARD, visitor)
    module = "explorer.web.claims_page"
    monkeypatch.setattr(f"{module}.shared_runs", lambda: runs)
    monkeypatch.setattr(f"{module}.stored_board", lambda claims, store: None)
    monkeypatch.setattr(
        f"{module}.board", lambda claims, workers, progress, store: work.make(progress)
    )
    page = opened(claims_page)
    assert "94 claims" in said(page), "what is recorded is shown in its place"
    assert "Recorded with" in page.caption[0].value
    stopped_and_run_again(page, work)
    assert "2 claims: 1 holds, 1 was not run" in said(page)


def test_a_study_that_is_cancelled_says_so_keeps_its_choice_and_runs_again(
    monkeypatch: pytest.MonkeyPatch, runs: SharedRuns, visitor: str
) -> None:
    work = Work(RECORD, visitor)
    module = "explorer.web.studies_page"
    monkeypatch.setattr(f"{module}.shared_runs", lambda: runs)
    monkeypatch.setattr(f"{module}.stored_study", lambda topic, on, store: None)
    monkeypatch.setattr(
        f"{module}.study", lambda topic, on, workers, progress, store: work.make(progress)
    )
    page = opened(studies_page, study="devices", on="polynomial")
    stopped_and_run_again(page, work)
    assert "What was found at last" in said(page)
    assert page.selectbox(key="on").value == "polynomial"
