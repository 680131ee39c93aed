"""The programs of tests/nets/recorded_*steps.py, run once: what they computed, and their traces."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from explorer.model.trace import Trace
from explorer.recording.files import read_trace
from tests.support.command_line import environment

NETS = Path(__file__).parents[1] / "nets"


class Recordings(NamedTuple):
    computed: dict[str, Any]
    folder: Path

    def trace(self, name: str) -> Trace:
        return read_trace(self.folder / f"{name}.trace")


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    return recorded("recorded_steps.py", tmp_path_factory.mktemp("traces"))


@pytest.fixture(scope="session")
def mindspore_recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    return recorded("recorded_mindspore_steps.py", tmp_path_factory.mktemp("mindspore_traces"))


def recorded(program: str, folder: Path) -> Recordings:
    command = [sys.executable, str(NETS / program), str(folder)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return Recordings(json.loads(done.stdout.splitlines()[-1]), folder)
