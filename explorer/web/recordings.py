"""The recorded steps and trainings that the app offers: those in its owner's folders, by default traces/."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from explorer.model.trace import Trace
from explorer.model.training import Training
from explorer.recording.files import TRACE, TRAINING, read_trace, read_training

VARIABLE = "EXPLORER_TRACES"
"""Names the folders with recorded files, separated as in PATH."""

USUAL = "traces"
"""The folder that explorer.recorder() writes to, in the one where the app was started."""

MOST = 1000
"""So many files are offered at most."""


def folders() -> list[Path]:
    """The folders with recorded files."""
    named = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    return named or [Path(USUAL)]


def offered_files() -> dict[str, Path]:
    """The files by their names, in order; of two with one name, each has its folder's before it."""
    files = [path for folder in folders() for path in _files(folder)][:MOST]
    alike = [path.name for path in files]
    names: dict[str, Path] = {}
    for path in files:
        is_alone = alike.count(path.name) == 1
        name = path.name if is_alone else f"{path.parent.name}/{path.name}"
        names.setdefault(name, path)
    return dict(sorted(names.items()))


def _files(folder: Path) -> Iterator[Path]:
    """The recorded files in a folder and in those within it."""
    for path in sorted(folder.glob("**/*")):
        if path.suffix not in (TRACE.ending, TRAINING.ending):
            continue
        # A link may lead out of the folder.
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            yield path


def is_training(path: Path) -> bool:
    """Whether a file is one of a training."""
    return path.suffix == TRAINING.ending


def trace_in(path: Path) -> Trace:
    """The trace in a file, read anew only when the file has changed; raises TraceError."""
    return _trace(path, *_changed(path))


def training_in(path: Path) -> Training:
    """The training in a file, read anew only when the file has changed; raises TraceError."""
    return _training(path, *_changed(path))


def _changed(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=16)
def _trace(path: Path, _changed: int, _size: int) -> Trace:
    return read_trace(path)


@lru_cache(maxsize=16)
def _training(path: Path, _changed: int, _size: int) -> Training:
    return read_training(path)
