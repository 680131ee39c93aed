"""What a worker needs beside its framework: in a folder of the user's caches, never in the environment."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from pathlib import Path

from explorer.environments.interpreters import interpreter
from explorer.folders import caches
from explorer.model.environments import Environment
from explorer.model.errors import UsageError
from explorer.shipped import PACKAGE
from explorer.text.language import _

NEEDED = "msgspec"
"""The one package that a worker needs beside numpy and its framework: records travel by it."""

OLDEST = "0.18.5"
"""The oldest version of it that reads and writes the same records."""

SECONDS = 300.0
"""The time limit of pip."""

INSTALL = ("install", "--quiet", "--no-deps", "--target")
"""What pip is told: neither the environment nor anything but one folder is written to."""

FOLDER = "overlays"


def overlay(environment: Environment) -> Path:
    """The folder with what a worker in an environment needs, made if need be; UsageError if it cannot be."""
    found = interpreter(environment)
    folder = caches() / FOLDER / f"{NEEDED}-{version(NEEDED)}{found.suffix}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        if found.suffix == EXTENSION_SUFFIXES[0]:
            _copy(made)
        else:
            _install(environment, made)
        _compile(environment)
        with contextlib.suppress(OSError):  # another process has made it meanwhile
            os.replace(made, folder)
    return folder


def _copy(folder: Path) -> None:
    """The package of the explorer's own Python, which takes the same compiled modules."""
    spec = importlib.util.find_spec(NEEDED)
    if spec is None or spec.origin is None:
        raise UsageError(_("{package} is not installed"), package=NEEDED)
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(spec.origin).parent, folder / NEEDED, ignore=leave_out)


def _install(environment: Environment, folder: Path) -> None:
    """Let pip put the package into a folder, for the environment's Python."""
    said = ""
    for pip in _pips(environment):
        for requirement in (f"{NEEDED}=={version(NEEDED)}", f"{NEEDED}>={OLDEST}"):
            complaint = _complaint([*pip, *INSTALL, str(folder), requirement])
            if complaint is None:
                return
            said = complaint or said
            shutil.rmtree(folder, ignore_errors=True)
    text = _(
        "environment {name}: {package} for Python {version} could not be put into {folder!r}:"
        " {reason}; without a network, let PIP_FIND_LINKS name a folder with its wheel"
    )
    raise UsageError(
        text,
        name=repr(environment.name or environment.python),
        package=NEEDED,
        version=interpreter(environment).version,
        folder=str(folder.parent.parent),
        reason=said.splitlines()[-1] if said else _("pip is not there"),
    )


def _complaint(command: list[str]) -> str | None:
    """What a pip says that cannot do its work; None of one that can."""
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ran.stderr.strip() if ran.returncode else None


def _pips(environment: Environment) -> Iterator[list[str]]:
    """The environment's own pip, and the explorer's for that Python: some environments have none."""
    yield [environment.python, "-m", "pip"]
    yield [sys.executable, "-m", "pip", "--python", environment.python]


def _compile(environment: Environment) -> None:
    """Compile the explorer's modules for another Python, in whose process nothing may be written."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [environment.python, "-m", "compileall", "-q", str(PACKAGE)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
