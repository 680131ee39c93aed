"""One worker process as its parent handles it: start, request, wait, stop."""

import contextlib
import math
import os
import selectors
import shutil
import tempfile
import time
from pathlib import Path
from typing import Literal

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.environments import Environment
from explorer.model.failures import Loss
from explorer.workers.children import MEGABYTE, Child, Started, memory_limit, memory_of
from explorer.workers.environments import worker_environment
from explorer.workers.nursery import Nursery
from explorer.workers.protocol import HEADER, Answer, Call, Lost, write

STDERR_TAIL = 2000
"""The number of bytes from the end of a lost worker's stderr that are quoted."""

STDERR_MOST = 50 * MEGABYTE
"""The bytes of a worker's stderr that are kept; beyond them what was written so far is dropped."""

WATCHING_SECONDS = 0.1
"""Seconds between two checks of a busy worker: whether it is alive, and how much memory it uses."""

GRACE_SECONDS = 30.0
"""Seconds that a first call gets beyond its limit, for the process to import its framework."""

CLOSING_SECONDS = 5.0
"""Seconds that a worker which has closed its pipe may take to die."""

CHUNK = 1 << 20
"""Bytes read from a worker's pipe at a time."""


class WorkerProcess:
    """One running worker: its pipes, its scratch folder, and what it wrote to stderr.

    It ``is_fresh`` until its first call, for which it may have to import a framework.
    """

    def __init__(self, kind: WorkerKind, home: Environment, nursery: Nursery | None) -> None:
        """Start a worker in the environment ``home``: forked from a ``nursery`` where it is given one."""
        self._most_memory = memory_limit()
        with contextlib.ExitStack() as opened, contextlib.ExitStack() as its:
            self.scratch = Path(tempfile.mkdtemp(prefix="explorer-"))
            opened.callback(shutil.rmtree, self.scratch, ignore_errors=True)
            # Both processes write at its end: what was dropped leaves no hole.
            self._errors = opened.enter_context((self.scratch / "stderr").open("a+b"))
            its_requests, requests = os.pipe()
            its.callback(os.close, its_requests)
            self._requests = opened.enter_context(os.fdopen(requests, "wb"))
            self._replies, its_replies = os.pipe()
            its.callback(os.close, its_replies)
            opened.callback(os.close, self._replies)
            its_lifeline, lifeline = os.pipe()
            its.callback(os.close, its_lifeline)
            opened.callback(os.close, lifeline)
            environment = worker_environment(kind, self.scratch, home)
            streams = (its_requests, its_replies, self._errors.fileno())
            if nursery:
                self._child: Child = nursery.fork(environment, self.scratch, streams, its_lifeline)
            else:
                command = ("explorer.workers.serving",)
                self._child = Started(
                    command, environment, self.scratch, streams, its_lifeline, home.python
                )
            self._opened = opened.pop_all()
        self.is_fresh = True

    def request(self, call: Call, seconds: float, latest: float = math.inf) -> Answer | Lost:
        """Send one request and wait up to ``seconds`` for its answer, and no longer than ``latest``.

        The first one gets GRACE_SECONDS more; ``latest`` is on the clock of time.monotonic(). After
        a Lost the process is of no more use.
        """
        deadline = time.monotonic() + seconds
        if self.is_fresh:
            deadline += GRACE_SECONDS
            self.is_fresh = False
        late = Loss(kind="no_answer", amount=seconds)
        if latest < deadline:
            deadline = latest
            late = Loss(kind="out_of_time")
        try:
            write(self._requests, call)
        except BrokenPipeError:
            return self._crashed()
        del call  # a large net's weights, which nobody needs while the worker is busy
        # The deadline is one for the whole answer: a worker that dribbles must not outlive it.
        header = self._read(HEADER.size, deadline, late)
        if isinstance(header, Lost):
            return header
        body = self._read(HEADER.unpack(header)[0], deadline, late)
        if isinstance(body, Lost):
            return body
        try:
            return msgspec.msgpack.decode(body, type=Answer)
        except msgspec.DecodeError:  # a net has written to the pipe
            return self._lost("crashed", Loss(kind="unreadable"))

    def _read(self, count: int, deadline: float, late: Loss) -> bytes | Lost:
        parts = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._replies, selectors.EVENT_READ)
            while len(parts) < count:
                left = deadline - time.monotonic()
                if left <= 0:
                    return self._lost("timed_out", late)
                # Before waiting: what a process has written, it has written before it died.
                is_dead = self._child.is_gone()
                if not selector.select(0 if is_dead else min(left, WATCHING_SECONDS)):
                    # The pipe of a dead process stays open in those that it has forked.
                    loss = self._crashed() if is_dead else self._excess()
                    if loss:
                        return loss
                    continue
                chunk = os.read(self._replies, min(count - len(parts), CHUNK))
                if not chunk:
                    return self._crashed()
                parts += chunk
        return bytes(parts)

    def _excess(self) -> Lost | None:
        """The loss of a worker that uses more memory than it may; drops too long a stderr."""
        if os.fstat(self._errors.fileno()).st_size > STDERR_MOST:
            os.ftruncate(self._errors.fileno(), 0)
        if self.memory() <= self._most_memory:
            return None
        megabytes = self._most_memory / MEGABYTE
        return self._lost("crashed", Loss(kind="memory", amount=megabytes))

    def memory(self) -> int:
        """The bytes of memory that the process holds; 0 once it is gone."""
        return memory_of(self.pid)

    @property
    def pid(self) -> int:
        """The id of the process; 0 as long as it is not there yet."""
        return self._child.pid

    def _crashed(self) -> Lost:
        try:
            code = self._child.end(CLOSING_SECONDS)
        except TimeoutError:
            return self._lost("crashed", Loss(kind="closed"))
        return self._lost("crashed", Loss(kind="died", code=code))

    def _lost(self, outcome: Literal["crashed", "timed_out"], loss: Loss) -> Lost:
        """A loss, with the end of what the worker wrote to stderr."""
        # Through the open file: a net may have removed the folder.
        errors = self._errors.fileno()
        start = max(0, os.fstat(errors).st_size - STDERR_TAIL)
        text = os.pread(errors, STDERR_TAIL, start).decode(errors="replace").strip()
        text = text or self._child.last_words(STDERR_TAIL)
        return Lost(outcome, msgspec.structs.replace(loss, output=text))

    def kill(self) -> None:
        """Kill the process with all that it has started; a pending request returns a Lost."""
        self._child.kill()

    def stop(self) -> None:
        """Kill the process and remove its scratch folder."""
        self.kill()
        self._child.end()
        # Closing flushes what was still unsent to a process that is gone.
        with contextlib.suppress(BrokenPipeError):
            self._opened.close()
