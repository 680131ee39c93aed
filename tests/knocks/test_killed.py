"""A worker that is killed at whatever moment: a word or the right answer, and nothing is left."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.knocks.kills import COMMANDS, disturbed, undisturbed
from tests.support.command_line import environment
from tests.support.traces import own_scratch, processes_of, still_alive

PARENT = """
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word
workers = Workers()
workers.call("torch", "tests.support.worker_targets:echo", Word(""), Word)
print("started", flush=True)
workers.call("torch", "tests.support.worker_targets:forks_and_hangs", Word(""), Word)
"""
"""A program that has a worker hang beside a child of its own."""


@pytest.mark.slow
def test_neither_a_worker_nor_its_child_outlives_a_killed_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = own_scratch(tmp_path, monkeypatch)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], env=environment(TMPDIR=str(scratch)), stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        assert processes_of(scratch)
        parent.send_signal(signal.SIGKILL)
    # Its folders stay: nobody is left to remove them.
    assert still_alive(scratch) == []


@pytest.mark.torch
@pytest.mark.mindspore
@pytest.mark.whole
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_that_its_worker_was_killed_or_answers_as_ever(
    name: str, tmp_path: Path
) -> None:
    usual = undisturbed(name, tmp_path / "usual")
    for part in (0.2, 0.5, 0.8):
        choice = random.Random(f"{name} {part}")
        outcome = disturbed(name, tmp_path / str(part), usual, choice, at=part * usual.seconds)
        assert not outcome.problem, outcome
