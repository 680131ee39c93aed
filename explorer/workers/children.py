"""Child processes as their parent handles them: each leads a process group, within a memory limit."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import psutil

from explorer.model.errors import UsageError
from explorer.model.failures import MEMORY_LIMIT
from explorer.text.language import _
from explorer.workers.protocol import LIFELINE

SHARE = 0.5
"""The share of the machine's memory that a worker may use if the variable is not set."""

MEGABYTE = 10**6

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""What a container may use: a number of bytes, or "max"."""

Streams = tuple[int, int, int]
"""The descriptors of a process's stdin, stdout and stderr."""


class Child(Protocol):
    """A process that leads a group of its own, in which all that it has started is."""

    @property
    def pid(self) -> int:
        """Its id; 0 as long as it is not there yet."""

    def is_gone(self) -> bool:
        """Whether it has ended."""

    def end(self, seconds: float | None = None) -> int | None:
        """Its exit code once it has ended, None if unknown; TimeoutError if it lives on."""

    def kill(self) -> None:
        """Kill it with all that it has started."""

    def last_words(self, most: int) -> str:
        """The end of what was written to stderr on its way there, ``most`` bytes of it."""


class Started:
    """A Child that this process has started itself: Python on a module."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        streams: Streams,
        its_lifeline: int,
        python: str,
    ) -> None:
        """Start ``python -m command`` in a folder; the caller closes the descriptors."""
        stdin, stdout, stderr = streams
        self._process = subprocess.Popen(
            [python, "-m", *command],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={**environment, LIFELINE: str(its_lifeline)},
            pass_fds=(its_lifeline,),
            # Ctrl-C reaches the parent alone, which stops its children in order.
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Its id."""
        return self._process.pid

    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def end(self, seconds: float | None = None) -> int | None:
        """Its exit code once it has ended; TimeoutError if it lives on."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error

    def kill(self) -> None:
        """Kill it with all that it has started."""
        kill_group(self.pid)

    def last_words(self, most: int) -> str:
        """Nothing: its own stderr has everything."""
        return ""


def kill_group(pid: int) -> None:
    """Kill the group that a process leads: msrun and the like run in it as well."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


# Memory


def memory_limit() -> int:
    """The bytes that a worker may use; UsageError if the variable is not a number."""
    text = os.environ.get(MEMORY_LIMIT, "")
    if not text:
        return int(SHARE * _memory())
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = 0.0
    if not 0 < megabytes < float("inf"):
        message = _("{variable} must be a positive number of megabytes, got {value}")
        raise UsageError(message.format(variable=MEMORY_LIMIT, value=repr(text)))
    return int(megabytes * MEGABYTE)


@cache
def _memory() -> int:
    """The memory of the machine in bytes, or of the container where that has less."""
    machine = psutil.virtual_memory().total
    try:
        return min(machine, int(CONTAINER.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        return int(machine)


def memory_of(pid: int) -> int:
    """The bytes of memory that a process holds; 0 of one that is gone."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
