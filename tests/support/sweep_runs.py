"""Sweeps: written by hand, and in processes of their own that can be watched and stopped."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from explorer.sweep.records import PairRow, Sweep, SweepRow
from tests.support.command_line import environment
from tests.support.scenario_files import written

TORCH_NET = '''"""A sum of squares, NAME."""

import numpy as np


def inputs():
    return {"x": np.array([1, 2, 3], np.float32)}


def torch_net():
    def net(x):
        return (x * x).sum()

    return net
'''
"""The text of a small net for PyTorch alone."""

GONE_SECONDS = 20.0
"""How long processes may take to notice that nobody waits for them."""

AT_WORK_SECONDS = 60.0
"""How long the first of several processes may take to begin a job."""


def nets(folder: Path, *names: str) -> list[str]:
    """The files of small nets of these names."""
    files = []
    for name in names:
        text = TORCH_NET.replace("NAME", name)
        files.append(str(written(folder, text, f"{name}.py")))
    return files


@contextmanager
def sweeping(*arguments: str, cwd: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A running ``explorer sweep``, whose stderr has a line for each job that is done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "explorer", "sweep", *arguments],
        cwd=cwd,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until_first_is_done(process: subprocess.Popen[str]) -> None:
    """Wait until a sweep has said that its first job is done."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("1/"):
            return
    raise AssertionError("the sweep ended before its first job was done")


def descendants(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    """All processes that a process has started, and those that these have."""
    return psutil.Process(process.pid).children(recursive=True)


def one_at_work(processes: list[subprocess.Popen[Any]]) -> subprocess.Popen[Any]:
    """One of them that has processes of its own, as soon as any has."""
    end = time.monotonic() + AT_WORK_SECONDS
    while time.monotonic() < end:
        for process in processes:
            if descendants(process):
                return process
        time.sleep(0.01)
    raise AssertionError("none of them began to work")


def are_gone(processes: list[psutil.Process]) -> bool:
    """Whether all of them end before long."""
    end = time.monotonic() + GONE_SECONDS
    while time.monotonic() < end:
        if not any(
            each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes
        ):
            return True
        time.sleep(0.1)
    return False


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of the report in a folder by the scenarios' stems; none is there twice."""
    document = json.loads((folder / "sweep.json").read_text())
    found = {Path(row["scenario"]).stem: row for row in document["rows"]}
    assert len(found) == len(document["rows"])
    return found


PAIR = PairRow(left="12/14", right="12/12", divergences=("they part at relu",), expected=False)


def row(scenario: str, **told: Any) -> SweepRow:
    """A row that is as expected, but for what is ``told``."""
    return SweepRow(**{"scenario": scenario, "study": "", "verdict": "as_expected", **told})


def sweep(*rows: SweepRow, **told: Any) -> Sweep:
    """A sweep with these rows."""
    head = {"date": "2026-01-02T03:04:05+00:00", "seconds": 12.5, "versions": {"torch": "2.13.0"}}
    return Sweep(**{**head, **told}, rows=rows)
