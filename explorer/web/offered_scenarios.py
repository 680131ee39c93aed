"""The scenarios of the app: those in the folders that its owner configured, and no others."""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from explorer.scenario.contract import Scenario
from explorer.scenario.find import SHIPPED, names
from explorer.scenario.load import load

VARIABLE = "EXPLORER_SCENARIOS"
"""Names further folders with scenarios, separated as in PATH."""


def folders() -> tuple[Path, ...]:
    """The folders of the shipped scenarios, and those in the environment."""
    configured = os.environ.get(VARIABLE, "").split(os.pathsep)
    return (*SHIPPED, *(Path(folder) for folder in configured if folder))


def offered() -> dict[str, Path]:
    """The scenarios by name; one added to a folder is there at the next look."""
    return names(folders())


def digest_of_file(path: Path) -> str:
    """The digest of a scenario file, as a key.

    A file that cannot be read has a key too; loading it says what is wrong.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return repr(error)


def scenario(path: Path) -> Scenario:
    """The scenario in a file, loaded anew only when its text has changed; raises ScenarioError."""
    return _loaded(path, digest_of_file(path))


@lru_cache(maxsize=64)
def _loaded(path: Path, _digest: str) -> Scenario:
    return load(path)
