"""Child processes as their parent handles them, each the leader of its own process group."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from explorer.workers import lifeline

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


class Started:
    """A Child that this process has started itself: Python on a module."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        streams: Streams,
        its_lifeline: int,
    ) -> None:
        """Start ``python -m command`` in a folder; the caller closes the descriptors."""
        stdin, stdout, stderr = streams
        self._process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={**environment, lifeline.VARIABLE: str(its_lifeline)},
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


def kill_group(pid: int) -> None:
    """Kill the group that a process leads: msrun and the like run in it as well."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
