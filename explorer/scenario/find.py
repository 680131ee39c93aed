"""Finds scenario files: by name in folders, or by path."""

import os
from contextlib import suppress
from pathlib import Path

from explorer.model.errors import ScenarioError
from explorer.scenario.declaration import SENT
from explorer.shipped import scenarios_folder
from explorer.text.choices import refusal
from explorer.text.language import _

FOLDER = scenarios_folder()
"""The folder of the shipped scenarios."""

REAL = FOLDER / "real"
"""The folder of those modelled on published nets, which ``real/NAME`` names as well as ``NAME``."""

SHIPPED = (FOLDER, REAL)


def names(folders: tuple[Path, ...] = (FOLDER,)) -> dict[str, Path]:
    """The scenarios of some folders, sorted by name; of two with one name the first folder's counts.

    Files whose names begin with an underscore are not scenarios.
    """
    files: dict[str, Path] = {}
    for folder in folders:
        for file in _listed(folder):
            # The first folder's counts, so that no file can replace a shipped scenario.
            if file.endswith(".py") and not file.startswith(("_", ".")):
                files.setdefault(file.removesuffix(".py"), folder / file)
    return dict(sorted(files.items()))


def _listed(folder: Path) -> list[str]:
    # Not glob(), which takes ten times as long: names are looked up hundreds of times for a board.
    with suppress(OSError):
        return os.listdir(folder)
    return []


def real_names() -> dict[str, Path]:
    """The shipped scenarios modelled on published nets, by names with their folder: "real/gpt"."""
    return {f"{REAL.name}/{name}": path for name, path in names((REAL,)).items()}


def module_name(path: Path) -> str | None:
    """The name under which a shipped scenario is imported; None for any other file."""
    if path.parent not in SHIPPED:
        return None
    return ".".join((FOLDER.name, *path.relative_to(FOLDER).with_suffix("").parts))


def find(name_or_file: str, folders: tuple[Path, ...] = SHIPPED) -> Path:
    """The file of a scenario named in ``folders``, or the file itself.

    Raises ScenarioError, which names the nearest ones, when there is no such scenario.
    """
    # A name is looked up and never joined to a path: no name leads out of the folders.
    known = names(folders)
    by_name = {**known, **real_names()} if REAL in folders else known
    if name_or_file in by_name:
        return by_name[name_or_file]

    path = Path(name_or_file)
    if not _is_text(str(path.resolve())):
        text = _("the path {path!a} is not valid UTF-8; rename the file or its folder")
        raise ScenarioError(text, path=name_or_file)
    if path.suffix in (".py", SENT) and path.is_file():
        return path.resolve()
    is_folder = name_or_file != "" and path.is_dir()  # "" would be the current folder
    if path.suffix == ".py" or is_folder:
        fact = _("scenario file {file!r} does not exist; give a .py file or a scenario's name")
        if is_folder:
            fact = _("scenario file {file!r} is a folder; give a .py file or a scenario's name")
        raise ScenarioError(refusal(fact.format(file=name_or_file), path.stem, list(by_name)))
    fact = _("unknown scenario {name!r}, which is not the path of a .py file either")
    raise ScenarioError(refusal(fact.format(name=name_or_file), name_or_file, list(by_name)))


def _is_text(path: str) -> bool:
    """Whether a path is text in UTF-8; to the operating system, paths are bytes of any encoding."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
