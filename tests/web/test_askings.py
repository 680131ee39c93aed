"""Questions of the app: one for all who ask, failures are asked again, old ones are forgotten."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import UsageError
from explorer.store.store import Store
from explorer.web.asking import Asking, StoppedError
from explorer.web.askings import KEPT, Askings
from explorer.web.explorations import ReportKey, ask_report
from explorer.web.offered_scenarios import digest_of_file
from explorer.workers.workers import Workers
from tests.support.nets import NETS

SECONDS = 10
"""How long a thread may take that has nothing to do."""


def nothing() -> None:
    """What an empty store has."""


def saying(words: str, calls: list[str]) -> Callable[[Workers, Asking[str]], str]:
    """An answer that notes each time it is made."""

    def make(workers: Workers, asking: Asking[str]) -> str:
        calls.append(words)
        return words

    return make


def asked(askings: Askings, key: str, calls: list[str]) -> str:
    asking = askings.ask(key, nothing, saying(key, calls))
    assert asking.finished.wait(SECONDS)
    return asking.result()


def test_an_answer_is_made_once_for_all_who_ask() -> None:
    askings, calls = Askings(Workers()), list[str]()
    assert [asked(askings, key, calls) for key in "aab"] == ["a", "a", "b"]
    assert calls == ["a", "b"]


def test_an_error_is_raised_to_whoever_asked_and_the_next_one_tries_again() -> None:
    def refuse(workers: Workers, asking: Asking[str]) -> str:
        raise UsageError("no such device")

    askings = Askings(Workers())
    failed = askings.ask("a", nothing, refuse)
    assert failed.finished.wait(SECONDS)
    with pytest.raises(UsageError, match="no such device"):
        failed.result()
    assert asked(askings, "a", []) == "a"


def test_the_answer_asked_for_longest_ago_is_forgotten_first() -> None:
    askings, calls = Askings(Workers()), list[str]()
    keys = [str(number) for number in range(KEPT)]
    for key in keys:
        asked(askings, key, calls)
    asked(askings, keys[0], calls)
    asked(askings, "one more", calls)
    made = list(calls)
    # The first was asked for again, so the second was asked for longest ago.
    for key in (keys[0], keys[2], keys[1]):
        asked(askings, key, calls)
    assert calls == [*made, keys[1]]


def test_what_is_stored_waits_for_nobody_s_turn() -> None:
    go_on = threading.Event()

    def slow(workers: Workers, asking: Asking[str]) -> str:
        assert go_on.wait(SECONDS)
        return "slow"

    askings = Askings(Workers())
    waiting = askings.ask("slow", nothing, slow)
    stored = askings.ask("stored", lambda: "stored", slow)
    assert stored.finished.wait(SECONDS)
    assert stored.result() == "stored"
    assert not waiting.finished.is_set()
    go_on.set()
    assert waiting.finished.wait(SECONDS)


@pytest.mark.mindspore
@pytest.mark.torch
def test_what_one_server_has_asked_another_has_at_once(workers: Workers, tmp_path: Path) -> None:
    path = NETS / "square.py"
    key = ReportKey(path, digest_of_file(path), case=GradCase("grad", 0).label)
    first = ask_report(key, Askings(workers))
    assert first.finished.wait(60 * SECONDS)
    report = first.result()
    assert [entry.name for entry in Store().entries() if entry.kind == "scenario"] == ["square"]
    closed = Workers(job_seconds=1e-9)  # that can be asked nothing
    second = ask_report(key, Askings(closed))
    assert second.finished.wait(SECONDS)
    assert second.result() == report


def test_what_one_visitor_gives_up_goes_on_for_another() -> None:
    asking = Asking[str]()
    asking.see("one")
    asking.see("two")
    asking.give_up("one")
    assert not asking.stopped.is_set()
    asking.step("graphs", 1, 2)
    asking.give_up("two")
    assert asking.stopped.is_set()
    with pytest.raises(StoppedError):
        asking.step("graphs", 2, 2)


def test_a_stopped_question_ends_at_once_and_can_be_asked_again() -> None:
    began = threading.Event()

    class Closable(Workers):
        closed = threading.Event()

        def close(self) -> None:
            self.closed.set()

    def waiting(workers: Workers, asking: Asking[str]) -> str:
        began.set()
        assert Closable.closed.wait(SECONDS)  # as the answer of a worker that is killed
        asking.step("graphs", 1, 1)
        return "all"

    askings = Askings(Closable())
    asking = askings.ask("a", nothing, waiting)
    assert began.wait(SECONDS)
    asking.give_up("")
    assert asking.finished.wait(SECONDS)
    with pytest.raises(StoppedError):
        asking.result()
    assert askings.ask("a", nothing, waiting) is asking, "who gave it up is asked first"
    asking.resume("")
    assert asked(askings, "a", []) == "a"


def test_a_long_question_keeps_no_short_one_waiting() -> None:
    go_on = threading.Event()

    def slow(workers: Workers, asking: Asking[str]) -> str:
        assert go_on.wait(SECONDS)
        return "slow"

    askings = Askings(Workers(), Workers())
    slow_one = askings.ask("study", nothing, slow, "long")
    assert asked(askings, "scenario", []) == "scenario"
    assert not slow_one.finished.is_set()
    go_on.set()
    assert slow_one.finished.wait(SECONDS)


def test_a_page_that_was_left_keeps_no_place_in_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.web.asking.UNWATCHED_SECONDS", 0.5)
    go_on = threading.Event()

    def slow(workers: Workers, asking: Asking[str]) -> str:
        assert go_on.wait(SECONDS)
        return "slow"

    askings = Askings(Workers())
    first = askings.ask("first", nothing, slow)
    left = askings.ask("left", nothing, slow)
    assert left.finished.wait(SECONDS)
    with pytest.raises(StoppedError):
        left.result()
    assert not first.finished.is_set()
    go_on.set()
    assert first.finished.wait(SECONDS)
    assert asked(askings, "left", []) == "left"


def test_an_asking_thread_s_answer_is_there_when_it_is_finished() -> None:
    askings = Askings(Workers())
    for number in range(50):
        assert asked(askings, str(number), []) == str(number)


def test_what_nobody_watches_makes_room_for_what_somebody_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def endless(workers: Workers, asking: Asking[str]) -> str:
        assert asking.stopped.wait(SECONDS)
        asking.go_on()
        return "never"

    askings = Askings(Workers())
    left = askings.ask("left", nothing, endless)
    left.see("one")
    left.leave("two")
    assert not left.stopped.is_set(), "somebody watches it"
    monkeypatch.setattr("explorer.web.asking.UNWATCHED_SECONDS", 0.0)
    assert not left.stopped.wait(0.5), "nobody else waits"
    monkeypatch.setattr(Asking, "is_watched", lambda asking: asking is not left)
    assert asked(askings, "wanted", []) == "wanted"
    with pytest.raises(StoppedError):
        left.result()
