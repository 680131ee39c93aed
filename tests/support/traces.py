"""What commands and workers leave behind: processes, scratch folders."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

GONE_SECONDS = 15.0
"""How long processes may take to notice that nobody waits for them."""


def own_scratch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new folder for all temporary files of this process and of those that it starts.

    Crews that are made meanwhile start all of their processes: none is left for other tests.
    """
    scratch = folder / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr("explorer.workers.workers._SHARED", [])
    return scratch


def processes_of(scratch: Path) -> list[psutil.Process]:
    """The processes, this one apart, whose temporary files are in a folder, whoever their parent is."""
    return [
        process
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _temporary_folder(process).startswith(str(scratch))
    ]


def _temporary_folder(process: psutil.Process) -> str:
    try:
        return process.environ().get("TMPDIR", "")
    except psutil.Error:  # gone, or a zombie
        return ""


def left_behind(scratch: Path) -> list[str]:
    """The processes and the files of a scratch folder that are still there after a while."""
    return _after_a_while(lambda: _living(scratch) + [str(path) for path in scratch.rglob("*")])


def still_alive(scratch: Path) -> list[str]:
    """The processes of a scratch folder that are still there after a while."""
    return _after_a_while(lambda: _living(scratch))


def _after_a_while(look: Callable[[], list[str]]) -> list[str]:
    end = time.monotonic() + GONE_SECONDS
    while (left := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _living(scratch: Path) -> list[str]:
    return [f"process {process.pid}" for process in processes_of(scratch) if _is_alive(process)]


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
