"""Scenario files: found by name or by path, and the files of its folder that each imports."""

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

from explorer.model.errors import ScenarioError
from explorer.scenario.declaration import SENT
from explorer.shipped import scenarios_folder
from explorer.text.choices import refusal
from explorer.text.language import _, later
from explorer.text.parsing import parsed
from explorer.text.program_name import program

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
    if name_or_file and path.exists():  # "" would be the current folder
        text = _("scenario file {file!r} is no .py file; give a .py file or a scenario's name")
        if path.is_dir():
            text = _("scenario file {file!r} is a folder; give a .py file or a scenario's name")
        raise ScenarioError(text, file=name_or_file)
    # Whoever gives a path means a file of their own: a name that is like it is no help.
    if (path.suffix == ".py" and path.stem not in by_name) or _is_path(path):
        text = _("scenario file {file!r} does not exist; give a .py file or a scenario's name")
        raise ScenarioError(text, file=name_or_file)
    fact = _("unknown scenario {name!r}, which is not the path of a .py file either")
    given = path.stem if path.suffix == ".py" else name_or_file
    see = all_scenarios(len(known))  # each once, though by two names
    raise ScenarioError(refusal(fact.format(name=name_or_file), given, list(by_name), see))


def all_scenarios(number: int) -> str:
    """How to see the names of all scenarios, as a refusal says it."""
    return _("`{program} scenario` lists all {n}").format(n=number, program=program())


def _is_path(path: Path) -> bool:
    """Whether a name has folders in it, and is not meant for one of real/."""
    return len(path.parts) > 1 and (path.suffix == ".py" or path.parts[0] != REAL.name)


def _is_text(path: str) -> bool:
    """Whether a path is text in UTF-8; to the operating system, paths are bytes of any encoding."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


_IMPORTED: dict[Path, str] = {}
"""The digest of each imported file when a scenario that imports it was loaded last."""


LITERAL = re.compile(rb"""["'](\w+)["']""")
"""A word between quotes in a text."""


def digest_of(content: bytes) -> str:
    """The digest of a text, and of the environment variables that are set and that a word in it names."""
    digest = hashlib.sha256(content)
    for name in sorted({word.decode(errors="replace") for word in LITERAL.findall(content)}):
        if name in os.environ:
            digest.update(f"\0{name}={os.environ[name]}".encode(errors="surrogateescape"))
    return digest.hexdigest()


def files_read(path: Path) -> dict[str, str]:
    """The digest of a scenario's file and of those that it imports from its folder, by their paths.

    Environment variables that a text names count as part of it. Paths are relative to the folder: the
    same files elsewhere have the same results.
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
        digests[name] = digest_of(content)
        # A declaration is data, with digests of the files that its nets are made of.
        if file.suffix != SENT:
            waiting.extend(imported_from(folder, content))
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


def imported_from(folder: Path, content: bytes) -> Iterator[Path]:
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
    names = set(map(str, files))
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in names:
            del sys.modules[name]
    importlib.invalidate_caches()
