"""The code that an answer is made by: a module and all that it imports, as one digest."""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from explorer.model.engines import Framework
from explorer.shipped import PACKAGE

IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(explorer[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)"
    rb"|import[ \t]+(explorer[\w.]*))",
    re.MULTILINE,
)
"""An import of a module of the explorer, anywhere in a text; ruff keeps one module a statement.

Not by Python's parser, which takes ten times as long for the hundred modules that a worker loads.
"""

NAME = re.compile(rb"\w+")

SERVING = ("explorer.workers.serving", "explorer.workers.forking")
"""The modules that a worker process is started on."""

TOP = PACKAGE / "__init__.py"
"""It loads the public functions when somebody asks for them, which no worker does."""


@functools.cache
def code_behind(*modules: str) -> str:
    """The digest of the text of some modules of the explorer and of all that they import.

    A module that is not there adds nothing.
    """
    digest = hashlib.sha256()
    for path in sorted(_reached(modules)):
        digest.update(path.relative_to(PACKAGE.parent).as_posix().encode())
        digest.update(_text(path))
    return digest.hexdigest()


def code_in_worker(target: str, framework: Framework | None) -> str:
    """The digest of the code that runs in a framework's worker for a target.

    Engines import modules of their framework's folder by name: all of it counts.
    """
    folder = PACKAGE / "engines" / (framework or "none")
    inside = [f"explorer.engines.{framework}.{path.stem}" for path in folder.glob("*.py")]
    return code_behind(module_of(target), *SERVING, *sorted(inside))


def module_of(target: str) -> str:
    """The module of a target: "a.b" of "a.b:function"."""
    return target.partition(":")[0]


def _reached(modules: Iterable[str]) -> set[Path]:
    waiting = list(modules)
    seen: set[str] = set()
    paths: set[Path] = set()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        path = _file(module)
        if path is None:
            continue  # a name that a module defines
        waiting.append(module.rpartition(".")[0])  # Python runs the package first
        paths.add(path)
        waiting.extend(_imported_by(path))
    return paths


def _file(module: str) -> Path | None:
    place = PACKAGE.parent.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if module and path.is_file():
            return path
    return None


@functools.cache
def _imported_by(path: Path) -> tuple[str, ...]:
    if path == TOP:
        return ()
    return tuple(dict.fromkeys(_imports(_text(path))))


def _imports(text: bytes) -> Iterator[str]:
    """The modules that a text imports, or may: "from a import b" may import a.b."""
    for source, names, plain in IMPORT.findall(text):
        module = (source or plain).decode()
        yield module
        for name in NAME.findall(names):
            yield f"{module}.{name.decode()}"


@functools.cache
def _text(path: Path) -> bytes:
    return path.read_bytes()
