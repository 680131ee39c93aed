"""Source lines of a node ("file:line"), alike for every framework, the user's first."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

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


def file_kind(
    name: str, package: Path, engine: Path, is_plumbing: Callable[[str], bool]
) -> FileKind:
    """The kind of the file ``name``, where a framework is installed in ``package``.

    ``engine`` is the folder of the engine's own modules, and ``is_plumbing`` is asked about paths
    relative to ``package``. Both folders are resolved.
    """
    path = _resolved(name)
    if path.parent == engine:
        return "engine"
    if path.is_relative_to(package):
        inner = path.relative_to(package).as_posix()
        return "plumbing" if is_plumbing(inner) else "library"
    # Code without a file ("<string>", "<frozen runpy>") has no line that a reader could look up.
    return "user" if path.suffix else "plumbing"


@cache
def _resolved(name: str) -> Path:
    # An environment may be reached through a symbolic link, and its files then have other names.
    return Path(name).resolve()


def display_name(name: str, package: Path) -> str:
    """A file's name as shown: "torch/nn/functional.py" for the framework's, else "net.py"."""
    path = _resolved(name)
    if path.is_relative_to(package):
        return f"{package.name}/{path.relative_to(package).as_posix()}"
    return Path(name).name


def user_first(users: Sequence[str], library: Sequence[str]) -> tuple[str, ...]:
    """A node's lines in the order in which it keeps them; each group has the innermost first."""
    return (*users, *library[:LIBRARY_LINES])


def is_users(shown: str) -> bool:
    """Whether a node's line, as ``display_name`` shows it, lies in the user's code."""
    return "/" not in shown  # a user's file is shown by its name alone, a framework's by its path
