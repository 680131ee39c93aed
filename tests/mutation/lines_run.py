"""A pytest plugin: which lines each test runs, and for how long, written where MUTANTS_BASE says."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

_recorder = coverage.Coverage(data_file=None, include=["explorer/*"], config_file=False)
_seconds: dict[str, float] = {}
_failed: list[str] = []

# Not in pytest_configure: conftest.py has imported half of the explorer by then.
_recorder.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Notes the lines of one test under its id."""
    _recorder.switch_context(item.nodeid)
    yield
    _recorder.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes how long a test took, and whether it passed."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.failed:
        _failed.append(report.nodeid)


def pytest_sessionfinish() -> None:
    """Writes what was noted, by file and line."""
    _recorder.stop()
    data = _recorder.get_data()
    tests: dict[str, dict[int, list[str]]] = {}
    for path in data.measured_files():
        relative = os.path.relpath(path)
        by_line = data.contexts_by_lineno(path)
        tests[relative] = {line: sorted(set(names) - {""}) for line, names in by_line.items()}
    noted = {"tests": tests, "seconds": _seconds, "failed": _failed}
    Path(os.environ["MUTANTS_BASE"]).write_text(json.dumps(noted), encoding="utf-8")
