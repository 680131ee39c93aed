"""The programs of tests/nets/recorded_*steps.py, run once: what they computed, and their traces."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from explorer.environments.known import home_of
from explorer.model.trace import Trace
from explorer.recording.files import read_trace
from explorer.workers.environments import program_environment
from tests.support.command_line import environment
from tests.support.jax_packages import skip_without

NETS = Path(__file__).parents[1] / "nets"

SHAPES = {
    "first.weight": (16, 6),
    "first.bias": (16,),
    "last.weight": (3, 16),
    "last.bias": (3,),
}
"""The parameters that programs of PyTorch and of JAX start from."""


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


@pytest.fixture(scope="session")
def jax_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the parameters, and a batch ``x`` and ``y``."""
    draws = np.random.default_rng(0)
    arrays = {
        name: draws.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()
    }
    path = tmp_path_factory.mktemp("weights") / "weights.npz"
    x = draws.standard_normal((8, 6)).astype(np.float32)
    np.savez(path, x=x, y=draws.integers(0, 3, 8), **arrays)
    return path


def recorded_in_jax(program: str, folder: Path, weights: Path) -> Recordings:
    """What a program computes where JAX is; skips where optax is not there."""
    skip_without("optax")
    home = home_of("jax")
    scratch = folder / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [home.python, str(NETS / program), str(folder), str(weights)],
        env=program_environment(home, scratch),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Recordings(json.loads(done.stdout.splitlines()[-1]), folder)
