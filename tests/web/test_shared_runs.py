"""Questions of the app: one for all who ask, failures are asked again, old ones are forgotten."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import UsageError
from explorer.store.store import Store
from explorer.web.offered_scenarios import digest_of_file
from explorer.web.report_page import ReportKey, report_run
from explorer.web.shared_runs import KEPT, SharedRun, SharedRuns, StoppedError
from explorer.workers.workers import Workers
from tests.support.nets import NETS

SECONDS = 10
"""How long a thread may take that has nothing to do."""


def nothing() -> None:
    """What an empty store has."""


def asked(runs: SharedRuns, key: str, calls: list[str]) -> str:
    """The answer to a question, which notes each time it is made."""

    def make(workers: Workers, run: SharedRun[str]) -> str:
        calls.append(key)
        return key

    run = runs.start(key, nothing, make)
    assert run.finished.wait(SECONDS)
    return run.result()


def test_an_answer_is_made_once_for_all_who_ask() -> None:
    runs, calls = SharedRuns(Workers()), list[str]()
    assert [asked(runs, key, calls) for key in "aab"] == ["a", "a", "b"]
    assert calls == ["a", "b"]


def test_an_error_is_raised_to_whoever_asked_and_the_next_one_tries_again() -> None:
    def refuse(workers: Workers, run: SharedRun[str]) -> str:
        raise UsageError("no such device")

    runs = SharedRuns(Workers())
    failed = runs.start("a", nothing, refuse)
    assert failed.finished.wait(SECONDS)
    with pytest.raises(UsageError, match="no such device"):
        failed.result()
    assert asked(runs, "a", []) == "a"


def test_the_answer_asked_for_longest_ago_is_forgotten_first() -> None:
    runs, calls = SharedRuns(Workers()), list[str]()
    keys = [str(number) for number in range(KEPT)]
    for key in keys:
        asked(runs, key, calls)
    asked(runs, keys[0], calls)
    asked(runs, "one more", calls)
    made = list(calls)
    # The first was asked for again, so the second was asked for longest ago.
    for key in (keys[0], keys[2], keys[1]):
        asked(runs, key, calls)
    assert calls == [*made, keys[1]]


@pytest.fixture
def slow() -> Iterator[Callable[[Workers, SharedRun[str]], str]]:
    """An answer that is not there before the end of the test."""
    go_on = threading.Event()

    def make(workers: Workers, run: SharedRun[str]) -> str:
        assert go_on.wait(SECONDS)
        return "slow"

    yield make
    go_on.set()


def test_what_is_stored_or_short_waits_for_nobody_s_turn(
    slow: Callable[[Workers, SharedRun[str]], str],
) -> None:
    runs = SharedRuns(Workers())
    waiting = runs.start("slow", nothing, slow)
    stored = runs.start("stored", lambda: "stored", slow)
    assert stored.finished.wait(SECONDS)
    assert stored.result() == "stored"
    assert not waiting.finished.is_set()
    # Nor does a long question keep a short one waiting.
    runs = SharedRuns(Workers(), Workers())
    long = runs.start("study", nothing, slow, "long")
    assert asked(runs, "scenario", []) == "scenario"
    assert not long.finished.is_set()


@pytest.mark.mindspore
@pytest.mark.torch
def test_what_one_server_has_asked_another_has_at_once(workers: Workers, tmp_path: Path) -> None:
    path = NETS / "square.py"
    key = ReportKey(path, digest_of_file(path), case=GradCase("grad", 0).label)
    first = report_run(key, SharedRuns(workers))
    assert first.finished.wait(60 * SECONDS)
    report = first.result()
    assert [entry.name for entry in Store().entries() if entry.kind == "scenario"] == ["square"]
    closed = Workers(job_seconds=1e-9)  # that can be asked nothing
    second = report_run(key, SharedRuns(closed))
    assert second.finished.wait(SECONDS)
    assert second.result() == report


def test_what_one_visitor_gives_up_goes_on_for_another() -> None:
    run = SharedRun[str]()
    run.see("one")
    run.see("two")
    run.give_up("one")
    assert not run.stopped.is_set()
    run.step("graphs", 1, 2)
    run.give_up("two")
    assert run.stopped.is_set()
    with pytest.raises(StoppedError):
        run.step("graphs", 2, 2)


def test_a_stopped_question_ends_at_once_and_can_be_asked_again() -> None:
    began = threading.Event()

    class Closable(Workers):
        closed = threading.Event()

        def close(self) -> None:
            self.closed.set()

    def waiting(workers: Workers, run: SharedRun[str]) -> str:
        began.set()
        assert Closable.closed.wait(SECONDS)  # as the answer of a worker that is killed
        run.step("graphs", 1, 1)
        return "all"

    runs = SharedRuns(Closable())
    run = runs.start("a", nothing, waiting)
    assert began.wait(SECONDS)
    run.give_up("")
    assert run.finished.wait(SECONDS)
    with pytest.raises(StoppedError):
        run.result()
    assert runs.start("a", nothing, waiting) is run, "who gave it up is asked first"
    run.resume("")
    assert asked(runs, "a", []) == "a"


@pytest.mark.slow
def test_a_page_that_was_left_keeps_no_place_in_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.web.shared_runs.UNWATCHED_SECONDS", 0.3)
    go_on = threading.Event()

    def slow(workers: Workers, run: SharedRun[str]) -> str:
        assert go_on.wait(SECONDS)
        return "slow"

    runs = SharedRuns(Workers())
    first = runs.start("first", nothing, slow)
    left = runs.start("left", nothing, slow)
    assert left.finished.wait(SECONDS)
    with pytest.raises(StoppedError):
        left.result()
    assert not first.finished.is_set()
    go_on.set()
    assert first.finished.wait(SECONDS)
    assert asked(runs, "left", []) == "left"


def test_an_asking_thread_s_answer_is_there_when_it_is_finished() -> None:
    runs = SharedRuns(Workers())
    for number in range(50):
        assert asked(runs, str(number), []) == str(number)


@pytest.mark.slow
def test_what_nobody_watches_makes_room_for_what_somebody_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def endless(workers: Workers, run: SharedRun[str]) -> str:
        assert run.stopped.wait(SECONDS)
        run.go_on()
        return "never"

    runs = SharedRuns(Workers())
    left = runs.start("left", nothing, endless)
    left.see("one")
    left.leave("two")
    assert not left.stopped.is_set(), "somebody watches it"
    monkeypatch.setattr("explorer.web.shared_runs.UNWATCHED_SECONDS", 0.0)
    assert not left.stopped.wait(0.5), "nobody else waits"
    monkeypatch.setattr(SharedRun, "is_watched", lambda run: run is not left)
    assert asked(runs, "wanted", []) == "wanted"
    with pytest.raises(StoppedError):
        left.result()
