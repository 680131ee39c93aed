"""The scenarios of the app: the shipped ones, and the folders and files that its owner named."""

import hashlib
import os
from collections.abc import Container
from functools import lru_cache
from pathlib import Path

from explorer.model.errors import ScenarioError
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import SHIPPED, files_read, names
from explorer.scenario.reader import read
from explorer.text.language import code

VARIABLE = "EXPLORER_SCENARIOS"
"""Names further folders with scenarios, and single files, separated as in PATH."""

FIRST = "dense_mse"
"""The scenario that pages open with where the owner has named no file."""


def configured() -> list[Path]:
    """The folders and files in the environment."""
    return [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]


def offered() -> dict[str, Path]:
    """The scenarios by name; one added to a folder is there at the next look.

    Of files with one name, all but the first are called after their folders too: "folder/name".
    """
    # The shipped ones first, so that nobody can put a file in the place of one.
    files = names(SHIPPED)
    for place in configured():
        for path in _files(place):
            if path not in files.values():
                files[_free_name(path, files)] = path
    return dict(sorted(files.items()))


def first_scenario() -> str:
    """The name of the scenario that pages open with: the owner's first file, where one was named."""
    named = [path for path in configured() if path.suffix == ".py"]
    for name, path in offered().items():
        if named and path == named[0]:
            return name
    return FIRST


def is_shipped(path: Path) -> bool:
    """Whether a scenario came with the explorer, and does not change while the app runs."""
    return path.parent in SHIPPED


def _files(place: Path) -> list[Path]:
    # A file that an editor replaces is not there for a moment.
    return [place] if place.suffix == ".py" else list(names((place,)).values())


def _free_name(path: Path, taken: Container[str]) -> str:
    """The file's name, preceded by as many of its folders as tell it from all others."""
    name = path.stem
    for folder in path.parents:
        if name not in taken:
            break
        name = f"{folder.name}/{name}"
    return name


def digest_of_file(path: Path) -> str:
    """The digest of a scenario file, and of what it imports from its folder, as a key.

    A file that cannot be read has a key too; loading it says what is wrong.
    """
    try:
        if is_shipped(path):
            return hashlib.sha256(path.read_bytes()).hexdigest()
        return hashlib.sha256(repr(sorted(files_read(path).items())).encode()).hexdigest()
    except OSError as error:
        return repr(error)


def scenario(path: Path) -> Declaration:
    """The scenario in a file, read anew only when its text has changed; raises ScenarioError."""
    known = _read(path, digest_of_file(path), code())
    if isinstance(known, ScenarioError):
        raise known
    return known


@lru_cache(maxsize=1024)  # more than are shipped: Home reads all of them
def _read(path: Path, _digest: str, _language: str) -> Declaration | ScenarioError:
    # A refusal is kept too: a text that never ends is not to hold up every page.
    try:
        return read(path)
    except ScenarioError as error:
        return error
