"""The record of a run of benchmarks, which is kept as JSON."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from benchmarks._figures import Figure

ROOT = Path(__file__).resolve().parent.parent

SCHEMA = 1

PACKAGES = ("mindspore", "torch", "numpy", "streamlit", "pygraphviz", "msgspec")
"""The packages on which times depend."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured when, and on what.

    ``others`` is the share of all cores, from 0 to 1, that other programs took while a benchmark ran.
    """

    schema: int = SCHEMA
    began: str
    commit: str
    machine: str
    versions: dict[str, str]
    seconds: dict[str, float]
    others: dict[str, float]
    figures: tuple[Figure, ...]


class RecordError(Exception):
    """A file that is no record of a run; the message says what to do."""


def read(file: Path) -> Run:
    """The run in a file; raises RecordError for what is none."""
    remedy = "`python -m benchmarks --json FILE` writes such a file"
    try:
        run = msgspec.json.decode(file.read_bytes(), type=Run)
    except OSError as error:
        raise RecordError(f"{file}: {error.strerror}; {remedy}") from None
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise RecordError(f"{file} is no record of a run: {error}; {remedy}") from None
    if run.schema != SCHEMA:
        raise RecordError(f"{file} has schema {run.schema}, and {SCHEMA} is read; {remedy}")
    return run


def write(run: Run, file: Path) -> None:
    """Keep a run; folders are made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(run)))


def machine() -> str:
    """What the times were measured on."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {system}"


def versions() -> dict[str, str]:
    """The versions of PACKAGES that are installed."""
    installed = {package: _version(package) for package in PACKAGES}
    return {package: number for package, number in installed.items() if number}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def commit() -> str:
    """The commit of this checkout, "" outside of one; a "+" says that files were changed since."""
    described = ("git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*")
    try:
        done = subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
