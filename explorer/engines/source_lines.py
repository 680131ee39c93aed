"""Source lines of a node ("file:line"), alike for every framework, the user's first."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from explorer.scenario.find import module_name

Line = tuple[str, int]
"""The name of a file, as the framework gives it, and the number of a line."""

LIBRARY_LINES = 3
"""The greatest number of lines of the framework's own code that a node keeps."""

FileKind = Literal["user", "library", "plumbing", "engine"]
"""The kind of a file on the stack.

"user" is the user's code, "library" framework code that says something, "plumbing" framework code
through which every operator is called (or no file at all, like "<string>"), "engine" the engine
itself.
"""


RECORDING = Path(__file__).resolve().parents[1] / "recording"
"""The folder of the blocks that stand around functions of the user's own."""


def file_kind(
    name: str, package: Path, engine: Path, is_plumbing: Callable[[str], bool]
) -> FileKind:
    """The kind of the file ``name``, where a framework is installed in ``package``.

    ``engine`` is the folder of the engine's own modules, and ``is_plumbing`` is called with paths
    relative to ``package``. Both folders are resolved.
    """
    path = _resolved(name)
    if path.parent == engine:
        return "engine"
    if path.parent == RECORDING:
        return "plumbing"
    if path.is_relative_to(package):
        inner = path.relative_to(package).as_posix()
        return "plumbing" if is_plumbing(inner) else "library"
    # Code without a file ("<string>", "<frozen runpy>") has no line that a reader could look up.
    return "user" if path.suffix else "plumbing"


@cache
def _resolved(name: str) -> Path:
    # An environment may be reached through a symbolic link, and its files then have other names.
    return Path(name).resolve()


@cache
def display_name(name: str, package: Path) -> str:
    """A file's name as shown: "torch/nn/functional.py" for the framework's, else as ``users_name``."""
    path = _resolved(name)
    if path.is_relative_to(package):
        return f"{package.name}/{path.relative_to(package).as_posix()}"
    return users_name(name)


def users_name(name: str) -> str:
    """A user's file by its name, and in a package by the path in it: "net.py", "own/torch/models.py".

    Two packages, or two folders of one, may each have a file of the same name.
    """
    path = _resolved(name)
    if module_name(path) is not None:  # a shipped scenario
        return path.name
    parts = max((_parts_of(module, path) for module in _modules_named(path)), key=len, default=())
    return "/".join((*parts, path.name))


def _modules_named(path: Path) -> list[str]:
    """The names under which a file is imported."""
    names = []
    for name, module in list(sys.modules.items()):
        # Not by getattr: a lazy module would import what it stands for.
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and file.endswith(path.name) and _resolved(file) == path:
            names.append(name)
    return names


def _parts_of(module: str, path: Path) -> tuple[str, ...]:
    """The folders of a module's name that its file lies in; none where they do not fit."""
    parts = tuple(module.split("."))
    if path.stem != "__init__":
        if parts[-1] != path.stem:
            return ()
        parts = parts[:-1]
    fits = path.parent.parts[len(path.parent.parts) - len(parts) :] == parts
    return parts if fits else ()


def kept_lines(
    lines: Iterable[Line], scenario: str, package: Path, kind_of: Callable[[str], FileKind]
) -> tuple[str, ...]:
    """Lines as a node keeps them, the user's own first.

    Those of the file ``scenario`` stand before other code of the user; then come a few of the
    library's, which is installed in ``package``.
    """
    own: list[str] = []
    others: list[str] = []
    library: list[str] = []
    for name, line in lines:
        shown = f"{display_name(name, package)}:{line}"
        if name == scenario:
            own.append(shown)
        elif kind_of(name) == "user":
            others.append(shown)
        else:
            library.append(shown)
    return user_first(own + others, library)


def user_first(users: Sequence[str], library: Sequence[str]) -> tuple[str, ...]:
    """A node's lines in the order in which it keeps them; each group has the innermost first."""
    return (*users, *library[:LIBRARY_LINES])
