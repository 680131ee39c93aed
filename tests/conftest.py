"""What the tests share: one crew of workers, each scenario's report made once, and a browser where
there is one.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

from explorer.exploration.explore import explore
from explorer.model.engines import Kind
from explorer.model.report import Report
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.scenario.contract import find, load, names
from explorer.workers.protocol import Lost
from explorer.workers.workers import Reply, Workers

NETS = Path(__file__).resolve().parent / "nets"
"""Nets written for the tests: mistakes, and what a shipped scenario has no place for."""

SHIPPED = frozenset(names())

CHROMIUM = shutil.which("chromium")


class Remembering(Workers):
    """Workers that keep what they captured, by scenario, engine and case: the answer that comes
    with a graph is in no report.
    """

    def __init__(self) -> None:
        super().__init__()
        self.captured: dict[tuple[str, str, str], Captured] = {}

    def call(
        self, kind: Kind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        """As Workers.call."""
        made = super().call(kind, target, argument, reply)
        if isinstance(argument, CaseRequest) and isinstance(made, Captured):
            self.captured[
                Path(argument.net.scenario).stem, argument.net.engine, argument.case.label
            ] = made
        return made


@pytest.fixture(scope="session")
def workers() -> Iterator[Remembering]:
    """The worker processes of the whole session; a test that harms its workers makes its own."""
    crew = Remembering()
    with crew:
        yield crew


@pytest.fixture(scope="session")
def report(workers: Workers) -> Callable[[str], Report]:
    """Gives the full report of a shipped scenario by its name; the first who asks pays for it."""

    @cache
    def made(name: str) -> Report:
        return explore(load(find(name)), workers)

    return made


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; tests that ask for it carry the ``browser`` marker, which sees to it that
    it is there.
    """
    assert CHROMIUM
    return CHROMIUM


class ByTopic(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Of several processes, one runs all tests on a scenario, and one all others on a topic: what
    they share is made once.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        topic = Path(file).stem.removeprefix("test_study_").removeprefix("test_claims_")
        return next((part for part in re.split(r"[][-]", test) if part in SHIPPED), topic)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByTopic:
    """Called by xdist; its own grouping by marks does nothing under pytest 9.2."""
    return ByTopic(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") is None or CHROMIUM:
        return
    missing = (
        f"{item.name} needs Chromium, and there is none on the PATH: `apt-get install chromium`"
    )
    if os.environ.get("CI"):
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
