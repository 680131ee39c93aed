"""Source lines of a node, alike for every framework: "file:line", the user's first, and few of the
framework's own.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

LIBRARY_LINES = 3
"""How many lines of the framework's own code a node keeps."""

FileKind = Literal["user", "library", "plumbing", "engine"]
"""What a file on the stack is: the user's code, framework code that says something, framework code
through which every operator is called (or no file at all, like "<string>"), the engine itself.
"""


def file_kind(
    name: str, package: Path, engine: Path, is_plumbing: Callable[[str], bool]
) -> FileKind:
    """What the file ``name`` is to a reader of a framework that is installed in ``package``.

    ``engine`` is the folder of the engine's own modules, and ``is_plumbing`` is asked about paths
    relative to ``package``.
    """
    path = Path(name)
    if path.parent == engine:
        return "engine"
    if path.is_relative_to(package):
        inner = path.relative_to(package).as_posix()
        return "plumbing" if is_plumbing(inner) else "library"
    return "user" if path.suffix else "plumbing"


def display_name(name: str, package: Path) -> str:
    """How a file is shown: "torch/nn/functional.py" for one of the framework's, "net.py" for any
    other.
    """
    path = Path(name)
    if path.is_relative_to(package):
        return f"{package.name}/{path.relative_to(package).as_posix()}"
    return path.name


def user_first(users: Sequence[str], library: Sequence[str]) -> tuple[str, ...]:
    """A node's lines in the order in which it keeps them; each group has the innermost first."""
    return (*users, *library[:LIBRARY_LINES])
