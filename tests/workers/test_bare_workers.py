"""Workers in an environment that has a framework, numpy and msgspec, and nothing else of the explorer's."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.errors import MissingFrameworkError
from explorer.model.measurement import Measured, Measurement
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.scenario.reader import read
from explorer.topics import study_topic
from explorer.topics.measurements import measure
from explorer.topics.question import Target
from explorer.workers.descendants import descendants, kill
from explorer.workers.workers import Workers
from tests.support.hidden import FOREIGN, hiding
from tests.support.standard_engines import ENGINES
from tests.support.worker_targets import Word

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in hiding(FOREIGN, tmp_path).items():
        monkeypatch.setenv(name, value)


def test_what_is_hidden_is_missing_in_a_worker() -> None:
    with Workers() as workers, pytest.raises(MissingFrameworkError, match=r"psutil.* \(hidden\)"):
        # The parent's own module, which no worker loads.
        workers.call("scenario", "explorer.workers.children:memory_of", Word(""), Word)


def test_a_scenario_s_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sum.py"
    path.write_text(
        '"""A sum"""\nimport numpy as np\n\n\n'
        "def inputs():\n    return {'x': np.ones(3, np.float32)}\n\n\n"
        "def torch_net():\n    return sum\n",
        encoding="utf-8",
    )
    assert read(path, fresh=True).title == "A sum"


@pytest.mark.mindspore
@pytest.mark.torch
def test_all_engines_answer_and_capture() -> None:
    with Workers(300.0) as workers:
        report = explore(load(find("dense_mse")), workers, selection="main")
    assert [left_out.cause for left_out in report.left_out] == ["selected"]
    assert {graph.engine for graph in report.graphs} == set(ENGINES)
    (case,) = report.cases
    assert {result.outcome for result in case.results.values()} == {"ok"}


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", ["loss-scale", "data-parallel"])
def test_measurements_run(name: str) -> None:
    topic = study_topic(name)
    wanted: list[Measurement] = list(topic.measurements(Target()))
    with Workers(topic.seconds) as workers:
        measured: dict[str, Measured] = measure(wanted[:2], workers)
    assert [outcome.error for outcome in measured.values()] == [None, None]


# Processes of processes

NEST = """
import subprocess, sys, time
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
else:
    subprocess.Popen([sys.executable, __file__, "again"])
time.sleep(100)
"""


def test_all_that_descends_from_a_process_is_found_and_killed(tmp_path: Path) -> None:
    script = tmp_path / "nest.py"
    script.write_text(NEST, encoding="utf-8")
    with subprocess.Popen([sys.executable, script]) as process:
        latest = time.monotonic() + 60
        while len(descendants(process.pid)) < 2 and time.monotonic() < latest:
            time.sleep(0.05)
        family = descendants(process.pid)
        process.kill()
        process.wait()
    assert len(family) == 2
    kill(family)
    for pid in family:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_without_proc_processes_are_listed_by_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.workers.descendants.PROC", Path("/absent"))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process.pid in descendants(os.getpid())
        process.communicate(b"")
