"""The processes that descend from one, by Python alone: a worker's environment may lack psutil."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PROC = Path("/proc")
"""Where Linux shows its processes: a folder for each."""

LISTING = ("ps", "-A", "-o", "pid=,ppid=")
"""Lists processes with their parents where there is no such folder (POSIX)."""

PARENT = 1
"""The parent's place in /proc/PID/stat, counted from the name's closing bracket."""

STOPPING_SECONDS = 5.0
"""Seconds that killed processes may take to be gone."""

LOOKING_SECONDS = 0.01


def descendants(pid: int) -> list[int]:
    """The ids of all processes that ``pid`` has started, and those have, and so on."""
    children: dict[int, list[int]] = {}
    for process, parent in _parents():
        children.setdefault(parent, []).append(process)
    family: list[int] = []
    waiting = [pid]
    while waiting:
        own = children.get(waiting.pop(), [])
        family += own
        waiting += own
    return family


def _parents() -> Iterator[tuple[int, int]]:
    """Each process with its parent."""
    if PROC.is_dir():
        for folder in PROC.glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended
                # A name in brackets comes first, which may hold spaces and brackets.
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
                yield int(folder.name), int(fields[PARENT])
        return
    listed = subprocess.run(LISTING, capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        process, parent = line.split()
        yield int(process), int(parent)


def kill(processes: Iterable[int]) -> None:
    """Kill processes, and wait until they are gone, or STOPPING_SECONDS."""
    alive = set(processes)
    for process in alive:
        _send(process, signal.SIGKILL)
    latest = time.monotonic() + STOPPING_SECONDS
    while alive and time.monotonic() < latest:
        alive = {process for process in alive if _send(process, 0)}
        time.sleep(LOOKING_SECONDS)


def _send(process: int, number: int) -> bool:
    """Send a signal; whether there is such a process still."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True
