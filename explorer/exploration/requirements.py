"""The versions that the explorer is tried with, and the pip line that installs one of them."""

import importlib.metadata
import re
import sys
from collections.abc import Iterable

from explorer.shipped import requirements_file

DISTRIBUTION = "autodiff-explorer"
"""The explorer's name in pip."""

PIN = re.compile(
    r"(?P<pin>(?P<name>[\w.-]+)==[\w.]+)"
    r"(?:\s*;\s*python_version\s*(?P<sign>>=|<)\s*[\"'](?P<version>[\d.]+)[\"'])?"
    r"(?:\s*#.*)?"
)
"""A requirement, and the versions of Python that it is for.

A test sees that every line of requirements.txt reads like this. What extras require has another
condition, and is no pin.
"""


def remedy(package: str) -> str:
    """The pip line that installs ``package`` at the version that the explorer is tried with."""
    return f'python -m pip install "{pins().get(package, package)}"'


def pins(python: tuple[int, ...] = sys.version_info[:2]) -> dict[str, str]:
    """The pins for a version of Python: "mindspore" gives "mindspore==2.10.0"."""
    pinned: dict[str, str] = {}
    for requirement in _requirements():
        # Where a version dropped a Python, two lines pin one package, each for some Pythons.
        match = PIN.fullmatch(requirement)
        if match and _is_for(python, match["sign"], match["version"]):
            pinned[match["name"]] = match["pin"]
    return pinned


def _requirements() -> Iterable[str]:
    """The lines of requirements.txt, or what the installed package says in its metadata."""
    file = requirements_file()
    if file:
        return file.read_text(encoding="utf-8").splitlines()
    try:
        return importlib.metadata.requires(DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return ()  # the package lies on a path without having been installed


def _is_for(python: tuple[int, ...], sign: str | None, version: str | None) -> bool:
    if sign is None or version is None:
        return True
    bound = tuple(int(part) for part in version.split("."))
    return python >= bound if sign == ">=" else python < bound
