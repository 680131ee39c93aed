"""The text of source lines that nodes name: of the user's folders and packages, and of the frameworks."""

import linecache
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from explorer.model.graph import FRAMEWORK_PACKAGES

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


def source_lines(place: str, code: Iterable[Path]) -> SourceLines:
    """The lines around a place ("file:line") in the user's code or in a framework.

    ``code`` are folders, packages and single files; those of a package are named by the path in it.
    """
    name, _, number = place.rpartition(":")
    file = source_file(name, code)
    if file is None or not number.isdecimal():
        return SourceLines(place)
    linecache.checkcache(str(file))
    texts = linecache.getlines(str(file))
    at = int(number)
    first, last = max(1, at - AROUND), min(len(texts), at + AROUND)
    lines = [(line, texts[line - 1].rstrip()[:LONGEST]) for line in range(first, last + 1)]
    return SourceLines(place, at, tuple(lines))


def source_file(name: str, code: Iterable[Path]) -> Path | None:
    """The file that a node calls ``name``; None for one that is neither the user's nor a framework's."""
    package = name.partition("/")[0]
    # Python finds a package by that name before any folder of the user's.
    own = _package_folder(package) if package in FRAMEWORK_PACKAGES else None
    for place in [own] if own else code:
        inside = place.resolve()
        # A package's own name begins the names of its files.
        for root in (inside, inside.parent):
            file = (root / name).resolve()
            # Names come from a framework: none may lead out of the place.
            if file.suffix == ".py" and file.is_relative_to(inside) and file.is_file():
                return file
    return None


@cache
def _package_folder(package: str) -> Path | None:
    # Finding a top-level package does not import it.
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None
