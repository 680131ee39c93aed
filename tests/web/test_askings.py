"""Questions of the app: one for all who ask, failures are asked again, old ones are forgotten."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import UsageError
from explorer.store.store import Store
from explorer.web.askings import KEPT, Askings
from explorer.web.explorations import ReportKey, ask_report
from explorer.web.offered_scenarios import digest_of_file
from explorer.workers.queue import Progress
from explorer.workers.workers import Workers
from tests.support.nets import NETS

SECONDS = 10
"""How long a thread may take that has nothing to do."""


def nothing() -> None:
    """What an empty store has."""


def saying(words: str, calls: list[str]) -> Callable[[Workers, Progress], str]:
    """An answer that notes each time it is made."""

    def make(workers: Workers, progress: Progress) -> str:
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
    def refuse(workers: Workers, progress: Progress) -> str:
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

    def slow(workers: Workers, progress: Progress) -> str:
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
    assert [entry.name for entry in Store().entries()] == ["square"]
    closed = Workers(job_seconds=1e-9)  # that can be asked nothing
    second = ask_report(key, Askings(closed))
    assert second.finished.wait(SECONDS)
    assert second.result() == report
