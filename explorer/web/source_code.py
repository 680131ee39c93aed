"""The text of source lines that nodes name: those of the scenario's folder and of the frameworks."""

import linecache
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

PACKAGES = ("mindspore", "torch", "keras")
"""The packages whose files a line may be in, named by their path: "torch/nn/functional.py"."""

AROUND = 2
"""Lines that are shown before and after one."""

LONGEST = 300
"""Characters of a line that are shown."""


class SourceLines(msgspec.Struct, frozen=True):
    """A line of source with those around it; without any where the file cannot be read.

    ``place`` is "file:line" as a node names it, ``at`` the number of its own line.
    """

    place: str
    at: int = 0
    lines: tuple[tuple[int, str], ...] = ()


def source_lines(place: str, folder: Path) -> SourceLines:
    """The lines around a place ("file:line") in a scenario's folder or in a framework."""
    name, _, number = place.rpartition(":")
    file = _file(name, folder)
    if file is None or not number.isdecimal():
        return SourceLines(place)
    linecache.checkcache(str(file))
    texts = linecache.getlines(str(file))
    at = int(number)
    first, last = max(1, at - AROUND), min(len(texts), at + AROUND)
    lines = [(line, texts[line - 1].rstrip()[:LONGEST]) for line in range(first, last + 1)]
    return SourceLines(place, at, tuple(lines))


def _file(name: str, folder: Path) -> Path | None:
    """The file that a node calls ``name``; None for one that is neither the user's nor a framework's."""
    # Names come from a framework: none may lead out of the folder or the package.
    package, _, inner = name.partition("/")
    root = _package_folder(package) if inner else folder
    if root is None:
        return None
    file = (root / (inner or name)).resolve()
    is_source = file.suffix == ".py" and file.is_relative_to(root.resolve())
    return file if is_source and file.is_file() else None


@cache
def _package_folder(package: str) -> Path | None:
    # Finding a top-level package does not import it.
    spec = find_spec(package) if package in PACKAGES else None
    return Path(spec.origin).parent if spec and spec.origin else None
