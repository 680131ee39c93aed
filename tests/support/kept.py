"""What programs of the tests have computed in this working copy, and need not compute again."""

import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock, Timeout

from explorer.environments.known import home_of
from explorer.model.engines import Framework
from explorer.shipped import PACKAGE
from explorer.store.code import code_in_worker
from explorer.store.keys import Key, key_in

KEPT = PACKAGE.parent / "out" / "tests"
"""The store of what workers have replied in this working copy, which a fresh clone has not."""

PLACES = Path(tempfile.gettempdir()) / f"explorer-tests-{zlib.crc32(bytes(KEPT))}"
"""The folder of files that tests write for frameworks: outside of this project, whose settings count."""

RUNS = KEPT / "runs"
"""What programs have written, a folder a run."""

PRINTED = "printed.json"


def key_of_run(framework: Framework, name: str, *parts: Any) -> Key:
    """The key of what a program has recorded in a framework; ``parts`` tell the program."""
    recorder = sorted((PACKAGE / "recording").glob("*.py"))
    code = [code_in_worker(f"explorer.recording.{path.stem}", framework) for path in recorder]
    return key_in(home_of(framework), "run", name, code, parts)


def texts(paths: Iterable[Path]) -> list[str]:
    """The texts of a program's files."""
    return [path.read_text(encoding="utf-8") for path in sorted(paths)]


def kept_run(key: Key, run: Callable[[Path], Any]) -> tuple[Path, Any]:
    """The folder that a program has filled, and what it printed as JSON; it runs where neither is kept."""
    folder = RUNS / key.digest
    if not (folder / PRINTED).exists():
        RUNS.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=RUNS))
        (unfinished / PRINTED).write_text(json.dumps(run(unfinished)), encoding="utf-8")
        try:
            os.replace(unfinished, folder)
        except OSError:  # another process has run the same meanwhile
            shutil.rmtree(unfinished)
    return folder, json.loads((folder / PRINTED).read_text(encoding="utf-8"))


@contextmanager
def place(name: str, others: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder that has the same path in every run: replies on a net are those on a file there.

    It is one of ``others`` while another run of this working copy uses it.
    """
    folder = PLACES / name
    PLACES.mkdir(exist_ok=True)
    try:
        with FileLock(f"{folder}.lock", blocking=False):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            yield folder
            shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        yield others.mktemp(name)
