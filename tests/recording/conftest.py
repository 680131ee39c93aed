"""The programs of tests/nets/recorded_*.py, each run once: what they computed, traces and trainings."""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from explorer.api.results import Recorded as Loaded
from explorer.environments.known import home_of
from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework
from explorer.model.trace import Trace
from explorer.model.training import Training
from explorer.recording.files import read_trace, read_training
from explorer.workers.environments import program_environment
from tests.support.command_line import python, ran
from tests.support.kept import kept_run, key_of_run, texts
from tests.support.needs import skip_without
from tests.support.recorded_files import loaded_trace

NETS = Path(__file__).parents[1] / "nets"

SHAPES = {"first.weight": (16, 6), "first.bias": (16,), "last.weight": (3, 16), "last.bias": (3,)}
"""The parameters that programs of PyTorch and of JAX start from."""

STEPS: dict[Framework, str] = {
    "torch": "recorded_steps.py",
    "mindspore": "recorded_mindspore_steps.py",
    "jax": "recorded_jax_steps.py",
}

TRAININGS: dict[Framework, str] = {
    "torch": "recorded_trainings.py",
    "mindspore": "recorded_mindspore_trainings.py",
    "jax": "recorded_jax_trainings.py",
}


TELLING: dict[str, tuple[str, ...]] = {
    "recorded_mindspore_steps.py": ("plain", "micro_batches"),
    "recorded_mindspore_trainings.py": ("plain",),
}
"""The programs of a file that each run takes, where the whole run alone takes them all.

In MindSpore each of them compiles its optimizer, with and without the recorder: five seconds.
"""

CHOSEN = """
import sys
from importlib import import_module
from pathlib import Path

folder, module, out, *names = sys.argv[1:]
sys.path.insert(0, folder)
program = import_module(module)
if hasattr(program, "NAMES"):
    program.NAMES = names
else:
    program.PROGRAMS = {name: program.PROGRAMS[name] for name in names}
program.main(Path(out))
"""
"""Runs some of a file's programs."""


def weights(*layers: str) -> list[str]:
    """The parameters of layers, by PyTorch's names."""
    return [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]


def each(programs: dict[Framework, tuple[str, ...]], files: dict[Framework, str]) -> list[Any]:
    """A test's parameters for each program of each framework, with its markers."""
    parameters = []
    for framework, names in programs.items():
        for name in names:
            marks = [getattr(pytest.mark, framework)]
            if name not in TELLING.get(files[framework], names):
                marks.append(pytest.mark.whole)
            parameters.append(pytest.param(framework, name, marks=marks))
    return parameters


def marked(*frameworks: Framework) -> list[Any]:
    """A test's parameters for each of some frameworks, with its marker."""
    return [pytest.param(name, marks=getattr(pytest.mark, name)) for name in frameworks]


class Recordings(NamedTuple):
    """What a program has printed, and the folder in which its recordings are."""

    framework: Framework
    computed: dict[str, Any]
    folder: Path

    def trace(self, name: str) -> Trace:
        return read_trace(self.folder / f"{name}.trace")

    def training(self, name: str) -> Training:
        return read_training(self.folder / f"{name}.training")

    def of_program(self, name: str) -> tuple[Any, Any]:
        """What a program computed without the recorder, and with it."""
        if self.framework == "jax" and name not in self.computed["programs"]:
            pytest.skip("flax is not installed where JAX is")
        without, recorded = self.computed["programs"][name]
        return without, recorded


Recorded = Callable[[Framework], Recordings]
"""A fixture: the recordings of a framework's programs; the first who asks pays for it."""


@pytest.fixture(scope="session")
def steps(jax_weights: Path, pytestconfig: pytest.Config) -> Recorded:
    return _recorded(STEPS, jax_weights, pytestconfig.getoption("--whole"))


@pytest.fixture(scope="session")
def trainings(jax_weights: Path, pytestconfig: pytest.Config) -> Recorded:
    return _recorded(TRAININGS, jax_weights, pytestconfig.getoption("--whole"))


def _recorded(programs: dict[Framework, str], weights: Path, is_whole: bool) -> Recorded:
    @cache
    def recordings(framework: Framework) -> Recordings:
        program = NETS / programs[framework]
        names = () if is_whole else TELLING.get(program.name, ())

        def run(folder: Path) -> Any:
            if framework == "jax":
                skip_without("optax")
                home, scratch = home_of("jax"), folder / "scratch"
                scratch.mkdir()
                environment = program_environment(home, scratch)
                done = ran(home.python, program, folder, weights, env=environment)
                return json.loads(done.stdout.splitlines()[-1])
            if names:
                return printed_by("-c", CHOSEN, NETS, program.stem, folder, *names)
            return printed_by(program, folder)

        # (With all of the nets' folder: a program may take its net from another one.)
        key = key_of_run(framework, program.stem, names, texts(NETS.glob("*.py")))
        folder, computed = kept_run(key, run)
        return Recordings(framework, computed, folder)

    return recordings


def printed_by(*arguments: str | Path) -> Any:
    """What a program of Python prints as JSON, called with these arguments."""
    return json.loads(python(*arguments).splitlines()[-1])


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


@pytest.fixture(scope="session")
def beside_jax(jax_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what recorded_beside_jax.py records."""
    folder = tmp_path_factory.mktemp("beside_jax")
    python(NETS / "recorded_beside_jax.py", folder, jax_weights)
    return folder


OF_BOTH = {
    "first.weight": (16, 6),
    "first.bias": (16,),
    "norm.weight": (16,),
    "norm.bias": (16,),
    "middle.weight": (16, 16),
    "middle.bias": (16,),
    "last.weight": (3, 16),
    "last.bias": (3,),
}
"""The parameters of the net that step_in_torch.py and step_in_mindspore.py train."""


Steps = Callable[[Framework], dict[str, Loaded]]
"""A fixture: the first step in a framework, as it is there and with mistakes; who asks first pays."""


@pytest.fixture(scope="session")
def first_steps() -> Steps:
    draws = np.random.default_rng(0)
    given = {name: draws.standard_normal(shape) * 0.3 for name, shape in OF_BOTH.items()}
    given["x"] = draws.standard_normal((8, 6))
    arrays: dict[str, AnyArray] = {name: it.astype(np.float32) for name, it in given.items()}
    arrays["y"] = draws.integers(0, 3, 8)

    def run(program: Path, folder: Path) -> None:
        weights = folder / "weights.npz"
        np.savez(weights, **arrays)
        python(program, folder, weights)

    @cache
    def recorded(framework: Framework) -> dict[str, Loaded]:
        program = NETS / f"step_in_{framework}.py"
        key = key_of_run(framework, program.stem, texts([program, Path(__file__)]))
        folder, _ = kept_run(key, partial(run, program))
        return {path.stem: loaded_trace(path) for path in folder.glob("*.trace")}

    return recorded


@pytest.fixture(scope="session")
def of_both(first_steps: Steps) -> dict[str, Loaded]:
    return first_steps("torch") | first_steps("mindspore")
