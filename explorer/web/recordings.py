"""The recorded steps that the app offers: those in the folders that its owner named, by default traces/."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from explorer.model.trace import Trace
from explorer.recording.files import ENDING, read_trace

VARIABLE = "EXPLORER_TRACES"
"""Names the folders with traces, separated as in PATH."""

USUAL = "traces"
"""The folder that explorer.recorder() writes to, in the one where the app was started."""

MOST = 1000
"""So many files are offered at most."""


def folders() -> list[Path]:
    """The folders with traces."""
    named = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    return named or [Path(USUAL)]


def offered_traces() -> dict[str, Path]:
    """The traces by their names, in order; of two with one name, each has its folder's before it."""
    files = [path for folder in folders() for path in _files(folder)][:MOST]
    stems = [path.stem for path in files]
    names: dict[str, Path] = {}
    for path in files:
        is_alone = stems.count(path.stem) == 1
        name = path.stem if is_alone else f"{path.parent.name}/{path.stem}"
        names.setdefault(name, path)
    return dict(sorted(names.items()))


def _files(folder: Path) -> Iterator[Path]:
    """The traces in a folder and in those within it."""
    for path in sorted(folder.glob(f"**/*{ENDING}")):
        # A link may lead out of the folder.
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            yield path


def trace_in(path: Path) -> Trace:
    """The trace in a file, read anew only when the file has changed; raises TraceError."""
    changed = path.stat()
    return _read(path, changed.st_mtime_ns, changed.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, _changed: int, _size: int) -> Trace:
    return read_trace(path)
