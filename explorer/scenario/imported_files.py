"""The files that a scenario consists of: its own, and those of its folder that it imports."""

import ast
import hashlib
import importlib.util
import linecache
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from explorer.scenario.declaration import SENT
from explorer.text.language import _, later
from explorer.text.parsing import parsed

_IMPORTED: dict[Path, str] = {}
"""The digest of each imported file when a scenario that imports it was loaded last."""


def files_read(path: Path) -> dict[str, str]:
    """The digest of a scenario's file and of those that it imports from its folder, by their paths.

    Paths are relative to the folder: the same files elsewhere have the same results.
    """
    folder = path.resolve().parent
    digests: dict[str, str] = {}
    waiting = [path.resolve()]
    while waiting:
        file = waiting.pop()
        name = os.path.relpath(file, folder)
        if name in digests:
            continue
        content = file.read_bytes()
        digests[name] = hashlib.sha256(content).hexdigest()
        if (
            file.suffix != SENT
        ):  # which is data, with digests of the files that its nets are made of
            waiting.extend(_imported_from(folder, content))
    return digests


MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")
"""Python's message about a module that it does not find."""


def remedy_for_import(path: Path, message: str) -> str:
    """How a scenario imports the module that a message misses, where it lies in the scenario's folder.

    Begins with a semicolon; "" for any other message.
    """
    missing = MISSING_MODULE.search(message)
    if not missing:
        return ""
    place = path.resolve().parent.joinpath(*missing[1].split("."))
    # A folder is a package even without an __init__.py.
    there = [file for file in (place.with_suffix(".py"), place) if file.exists()]
    if not there:
        return ""
    return _(
        "; {file} is in the scenario's folder, which is not on Python's path: write"
        " `import os, sys; sys.path.append(os.path.dirname(__file__))` above the import"
    ).format(file=there[0].name)


CHANGED = later("the file, or one that it imports, was changed during the run; run it again")
"""Why the results of a scenario are discarded: some may belong to its earlier text."""


def has_changed(path: Path, since: Mapping[str, str]) -> bool:
    """Whether a scenario's files have changed since files_read() returned ``since``."""
    try:
        return files_read(path) != since
    except OSError:
        return True


def _imported_from(folder: Path, content: bytes) -> Iterator[Path]:
    """The files of a folder that a file's text imports, anywhere in it."""
    for module in _modules_of(content):
        # "real.blocks" is imported from real/blocks.py, and of a package comes its __init__.py.
        place = folder.joinpath(*module.split("."))
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                yield file


@lru_cache(maxsize=1024)
def _modules_of(content: bytes) -> tuple[str, ...]:
    """The modules that a file's text imports, or may, each once."""
    try:
        tree = parsed(content)
    except SyntaxError:  # whoever loads the scenario says so
        return ()
    return tuple(dict.fromkeys(name for node in ast.walk(tree) for name in _modules(node)))


def _modules(node: ast.AST) -> list[str]:
    """The modules that a statement imports, or may: "from a import b" may import a.b."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        start = [node.module] if node.module else []
        members = [".".join([*start, alias.name]) for alias in node.names]
        return [*start, *members]
    return []


def forget_changed(path: Path) -> None:
    """Have a scenario's file import anew what has changed of the files that it imports.

    Processes outlive a file's text: Python would give the module as it was imported first.
    """
    folder = path.resolve().parent
    files = {(folder / name).resolve(): digest for name, digest in files_read(path).items()}
    del files[path.resolve()]
    if any(_IMPORTED.get(file, digest) != digest for file, digest in files.items()):
        # All of them: one that has not changed may hold what it took from one that has.
        _forget(files)
    _IMPORTED.update(files)


def _forget(files: Collection[Path]) -> None:
    for file in files:
        # Python keeps their lines and their code, and takes them for those of another text of the same
        # second and length.
        linecache.cache.pop(str(file), None)
        with suppress(OSError):
            Path(importlib.util.cache_from_source(str(file))).unlink()
    names = {str(file) for file in files}
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in names:
            del sys.modules[name]
    importlib.invalidate_caches()
