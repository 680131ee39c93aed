"""Runs mutants: each in a process of its own, with the tests that run the changed lines."""

import contextlib
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutation.areas import PURE, ROOT, Area
from tests.mutation.mutators import Mutant

HEAVY = ("numpy", "msgspec", "networkx", "hypothesis", "jinja2", "rich", "typer")
"""What the parent imports, so that its children need not: nothing of the explorer's own."""

OPTIONS = [
    *("-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"),
    *("-p", "tests.mutation.fewer_examples"),
]

IMPORTED = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
"""What a child is told of the modules that its parent has imported for it."""

OUTCOMES = {0: "survived", 1: "killed"}
"""By pytest's exit code; after any other, the changed module could not even be imported."""

ALONE = 20.0
"""A mutant may take this many seconds beyond five times what its tests took: it may loop."""


@dataclass(frozen=True)
class Base:
    """What the tests do without a mutant: which run a line of a file, and how long each takes."""

    tests: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def noticing(self, mutant: Mutant) -> list[str]:
        """The tests that run the lines of a mutant, the shortest first.

        What runs while a module is imported concerns every test.
        """
        by_line = self.tests.get(str(mutant.path), {})
        lines = [by_line[str(line)] for line in _lines(mutant) if str(line) in by_line]
        names = {name for tests in lines for name in tests}
        if lines and not names:
            names = set(self.seconds)
        return sorted(names, key=lambda name: (self.seconds.get(name, 0.0), name))


def _lines(mutant: Mutant) -> range:
    return range(mutant.first, mutant.last + 1)


KEPT = ROOT / "out" / "mutants"
"""Where reports are, with what is recorded for later runs."""


def environment(base_file: Path = KEPT) -> dict[str, str]:
    """The environment of the tests."""
    return {**os.environ, "MUTANTS_BASE": str(base_file)}


ARGUMENTS = (*OPTIONS, "-m", PURE)
"""What pytest is told, beside the tests."""


def base(area: Area) -> Base:
    """What an area's tests do, unchanged; kept until a file of the explorer or the tests changes.

    Raises RuntimeError when a test fails.
    """
    kept = KEPT / f"base-{_state(area)}.json"
    if not kept.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        arguments = [*ARGUMENTS, "-p", "tests.mutation.lines_run", *area.tests]
        status = _pytest(arguments, environment(kept))
        if status not in OUTCOMES:
            kept.unlink(missing_ok=True)
            raise RuntimeError(f"pytest ended with {status}: {KEPT / 'pytest.log'} says why")
    noted = json.loads(kept.read_text(encoding="utf-8"))
    if noted["failed"]:
        raise RuntimeError(f"these fail without any mutant: {', '.join(sorted(noted['failed']))}")
    return Base(noted["tests"], noted["seconds"])


def _state(area: Area) -> str:
    """A digest of all that the tests of an area depend on."""
    digest = hashlib.sha256(repr((area.tests, ARGUMENTS)).encode())
    for folder in ("explorer", "scenarios", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if ROOT / "tests" / "mutation" not in path.parents:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _pytest(arguments: list[str], variables: dict[str, str]) -> int:
    command = [sys.executable, "-m", "pytest", *arguments]
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / "pytest.log", "w", encoding="utf-8") as log:
        done = subprocess.run(command, cwd=ROOT, env=variables, stdout=log, stderr=log, check=False)
    return done.returncode


class _Changed(importlib.machinery.SourceFileLoader):
    """Loads a module from a changed text; the file stays as it is."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed text."""
        return compile(self._text, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module in its changed text."""

    def __init__(self, mutant: Mutant, text: str) -> None:
        parts = mutant.path.with_suffix("").parts
        self._name = ".".join(parts).removesuffix(".__init__")
        self._path = str(ROOT / mutant.path)
        self._text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The changed module; None for all others."""
        if fullname != self._name:
            return None
        loader = _Changed(fullname, self._path, self._text)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


def start(mutant: Mutant, text: str, tests: list[str], area: Area) -> int:
    """Starts the tests in a child that sees the changed module; its process id.

    The child ends with 0 when no test noticed anything.
    """
    process = os.fork()
    if process:
        return process
    status = 3
    # Whatever happens, the child must not go on as its parent does.
    with contextlib.suppress(BaseException):
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        os.environ.update(environment())
        sys.meta_path.insert(0, _Finder(mutant, text))
        status = int(pytest.main(["-x", *ARGUMENTS, *IMPORTED, *tests]))
    os._exit(status)


def check(chosen: Sequence[tuple[Mutant, str]], known: Base, area: Area) -> None:
    """Runs unchanged files as if they were mutants. Raises RuntimeError where that is noticed."""
    for mutant, _ in (*chosen[:1], *chosen[-1:]):
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        unchanged = [(mutant, text)]
        for _, outcome in run(unchanged, known, area, 1):
            if outcome not in ("survived", "not run"):
                raise RuntimeError(f"{mutant.path} unchanged: {outcome}; the runs prove nothing")


def run(
    chosen: Sequence[tuple[Mutant, str]], known: Base, area: Area, jobs: int
) -> Iterator[tuple[Mutant, str]]:
    """Yields each mutant with what became of it: one of OUTCOMES, "broken", "timed out", "not run"."""
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    waiting = list(chosen)[::-1]
    running: dict[int, tuple[Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, text = waiting.pop()
            tests = known.noticing(mutant)
            if not tests:
                yield mutant, "not run"
                continue
            limit = 5 * sum(known.seconds.get(name, 0.0) for name in tests) + ALONE
            process = start(mutant, text, tests, area)
            running[process] = mutant, time.monotonic() + limit
        for process in list(running):
            mutant, end = running[process]
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del running[process]
                yield mutant, OUTCOMES.get(os.waitstatus_to_exitcode(status), "broken")
            elif time.monotonic() > end:
                os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
                del running[process]
                yield mutant, "timed out"
        time.sleep(0.02)
