"""Pythons of other environments: found by a path or a conda name, and asked what they are."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import DistributionFinder, MetadataPathFinder
from pathlib import Path

import msgspec

from explorer.model.environments import Environment, Interpreter
from explorer.model.errors import UsageError
from explorer.text.language import _

PACKAGES = (
    *("mindspore", "torch", "jax", "jaxlib", "flax", "optax", "equinox"),
    *("numpy", "keras", "scipy", "networkx"),
)
"""The packages whose versions results depend on."""

OLDEST = (3, 10)
"""The oldest Python in which a worker runs: the records are written for it."""

SECONDS = 60.0
"""The time limit of a Python that is asked what it is: some lie on a network."""

PROGRAM = Path(__file__).with_name("answering.py")
"""The program by which a Python says what it is."""

MARK = "explorer:"
"""What stands in front of its answer, behind whatever the start of Python prints."""


def own() -> Environment:
    """The Python that the explorer runs in."""
    return Environment("", sys.executable, "here")


def is_own(environment: Environment) -> bool:
    """Whether an environment is the one that the explorer runs in."""
    # The executables of two environments may be links to one file: only the path tells them apart.
    return os.path.abspath(environment.python) == os.path.abspath(sys.executable)


# Where it is


def python_at(place: str) -> str:
    """The executable at a place: its own path, an environment's folder, or the name of a conda environment.

    Raises UsageError where there is none.
    """
    for candidate in _candidates(place):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)  # links are kept: they tell environments apart
    text = _(
        "no Python at {place!r}; give the path of its executable, the folder of an environment,"
        " or the name of a conda environment"
    )
    raise UsageError(text, place=place)


def _candidates(place: str) -> Iterator[Path]:
    path = Path(place).expanduser()
    yield path
    yield from _inside(path)
    if os.sep in place:
        return
    for folder in _conda_folders():
        if folder.name == place:
            yield from _inside(folder)
    on_path = shutil.which(place)
    if on_path:
        yield Path(on_path)


def _inside(folder: Path) -> Iterator[Path]:
    """Where an environment has its executable; the last two on Windows."""
    yield folder / "bin" / "python"
    yield folder / "python.exe"
    yield folder / "Scripts" / "python.exe"


def _conda_folders() -> Iterator[Path]:
    """The folders of conda's environments, as conda itself lists them."""
    listed = Path.home() / ".conda" / "environments.txt"
    if listed.is_file():
        yield from map(Path, listed.read_text(encoding="utf-8").split("\n"))
    base = os.environ.get("CONDA_EXE", "")
    if base:
        yield from (Path(base).parent.parent / "envs").glob("*")


# What it is


def interpreter(environment: Environment) -> Interpreter:
    """What an environment's Python is; UsageError where it cannot run, or is too old."""
    if is_own(environment):
        return _own_interpreter()
    try:
        changed = os.stat(environment.python).st_mtime_ns
    except OSError:
        text = _(
            "environment {name}: no Python at {python!r}; `env add` it anew, or `env remove` it"
        )
        name = environment.name or environment.python
        raise UsageError(text, name=repr(name), python=environment.python) from None
    return _asked(environment.python, changed)


def _own_interpreter() -> Interpreter:
    version = ".".join(map(str, sys.version_info[:3]))
    return Interpreter(version, EXTENSION_SUFFIXES[0], tuple(sys.path), sys.prefix)


@functools.cache
def _asked(python: str, changed: int) -> Interpreter:
    """What a Python says of itself; ``changed`` is when its file was."""
    del changed
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    surroundings["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        ran = subprocess.run(
            [python, str(PROGRAM)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        answer = ran.stdout.rpartition(MARK)[2]
        found = msgspec.json.decode(answer, type=Interpreter)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        text = _("{python!r} is no Python that runs: {reason}")
        raise UsageError(text, python=python, reason=_why(error)) from error
    if tuple(map(int, found.version.split(".")[:2])) < OLDEST:
        text = _("{python!r} is Python {version}; workers need {oldest} or newer")
        oldest = ".".join(map(str, OLDEST))
        raise UsageError(text, python=python, version=found.version, oldest=oldest)
    return found


def _why(error: Exception) -> str:
    if isinstance(error, msgspec.MsgspecError):
        return _("it does not answer")
    return str(error).splitlines()[0]


# What is installed in it


def versions(environment: Environment, packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The versions of packages that are installed in an environment, read from its folders.

    Nothing is started or imported for it, so it is right after an upgrade too.
    """
    paths = tuple((path, _changed(path)) for path in interpreter(environment).paths)
    return dict(_versions(paths, tuple(packages)))


def _changed(path: str) -> int:
    """When something was last installed in a folder or removed from it, in nanoseconds."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache
def _versions(paths: tuple[tuple[str, int], ...], packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for package in packages:
        context = DistributionFinder.Context(name=package, path=[path for path, __ in paths])
        first = next(iter(MetadataPathFinder.find_distributions(context)), None)
        if first is not None:
            found[package] = first.version
    return found
