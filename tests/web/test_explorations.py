"""Explorations of the app: one for all who ask, failures are tried again, old ones are forgotten."""

from pathlib import Path
from typing import Any

import pytest

from explorer.model.errors import UsageError
from explorer.model.report import Report
from explorer.web import explorations as module
from explorer.web.explorations import KEPT, Explorations, ReportKey
from explorer.workers.workers import Workers
from tests.support.sample_report import report
from tests.support.scenario_files import MINIMAL, written

SECONDS = 10
"""How long a thread may take that has nothing to do."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path, MINIMAL)


def asked(explorations: Explorations, key: ReportKey) -> Report:
    exploration = explorations.ask(key)
    assert exploration.finished.wait(SECONDS)
    return exploration.result()


def test_a_report_is_made_once_for_all_who_ask(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    def explore(*_: object, **options: Any) -> Report:
        calls.append(options)
        return report()

    monkeypatch.setattr(module, "explore", explore)
    explorations = Explorations(Workers())
    assert explorations.find(ReportKey(path, "a")) is None
    assert asked(explorations, ReportKey(path, "a")) is asked(explorations, ReportKey(path, "a"))
    assert asked(explorations, ReportKey(path, "a", case="grad(net)")) is report()
    assert [call["selection"] for call in calls] == ["all", "main"]


def test_an_error_is_raised_to_whoever_asked_and_the_next_one_tries_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Report:
        raise UsageError("no such device")

    key = ReportKey(path, "a")
    explorations = Explorations(Workers())
    monkeypatch.setattr(module, "explore", refuse)
    with pytest.raises(UsageError, match="no such device"):
        asked(explorations, key)
    monkeypatch.setattr(module, "explore", lambda *_, **__: report())
    assert asked(explorations, key) is report()


def test_the_report_asked_for_longest_ago_is_forgotten_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "explore", lambda *_, **__: report())
    explorations = Explorations(Workers())
    keys = [ReportKey(path, str(number)) for number in range(KEPT)]
    for key in keys:
        asked(explorations, key)
    asked(explorations, keys[0])
    asked(explorations, ReportKey(path, "one more"))
    assert explorations.find(keys[0])
    assert explorations.find(keys[1]) is None
    assert explorations.find(keys[2])
