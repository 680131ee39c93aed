"""One worker process as its parent sees it: started, asked, waited for, stopped."""

import contextlib
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from explorer.model.engines import WorkerKind
from explorer.shipped import PACKAGE
from explorer.workers import lifeline, memory
from explorer.workers.environments import ENVIRONMENTS
from explorer.workers.protocol import HEADER, Answer, Call, Lost, write

ROOT = PACKAGE.parent
"""The folder that holds the package ``explorer``, which workers must be able to import."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""One thread for numerical libraries.

Sums change by 1e-6 with the number of threads, and two threads on a loaded machine can be a
thousand times slower.
"""

QUIET = {"GLOG_v": "4", "PYTHONWARNINGS": "ignore", "TORCH_CPP_LOG_LEVEL": "ERROR"}
"""MindSpore logs only what is fatal; what matters arrives as an exception."""

STDERR_TAIL = 2000
"""The number of bytes from the end of a lost worker's stderr that are quoted."""

STDERR_MOST = 50 * memory.MEGABYTE
"""The bytes of a worker's stderr that are kept; beyond them what was written so far is dropped."""

WATCHING_SECONDS = 0.1
"""Seconds between two looks at a worker that is at work: whether it lives, and what it uses."""

GRACE_SECONDS = 30.0
"""Seconds that a first call gets beyond its limit, for the process to import its framework."""

CLOSING_SECONDS = 5.0
"""Seconds that a worker which has closed its pipe may take to die."""

OUT_OF_TIME = "the time limit of the whole job had passed; raise --timeout to get further"
"""Why a request was not asked, or not answered."""

CHUNK = 1 << 20
"""Bytes read from a worker's pipe at a time."""


class WorkerProcess:
    """One running worker: its pipes, its scratch folder, and what it wrote to stderr."""

    def __init__(self, kind: WorkerKind) -> None:
        self._most_memory = memory.limit()
        self.scratch = Path(tempfile.mkdtemp(prefix="explorer-"))
        its_end, self._lifeline = os.pipe()
        try:
            # Both processes write at its end: what was dropped leaves no hole.
            self._errors = (self.scratch / "stderr").open("a+b")
            self._child = self._started(kind, its_end)
        except BaseException:  # Ctrl-C too
            os.close(self._lifeline)
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise
        finally:
            os.close(its_end)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._requests = self._child.stdin
        self._replies = self._child.stdout
        self._fresh = True

    def _started(self, kind: WorkerKind, its_end: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "explorer.workers.serving"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self.scratch,
            env={**self._environment(kind), lifeline.VARIABLE: str(its_end)},
            pass_fds=(its_end,),
            # Ctrl-C reaches the parent alone, which stops its workers in order.
            start_new_session=True,
        )

    def _environment(self, kind: WorkerKind) -> dict[str, str]:
        path = str(ROOT)
        if os.environ.get("PYTHONPATH"):
            path += os.pathsep + os.environ["PYTHONPATH"]
        environment = {**os.environ, **ONE_THREAD, **QUIET, "PYTHONPATH": path}
        # What frameworks, nets and nested workers leave in temporary folders goes with the worker's own.
        environment["TMPDIR"] = str(self.scratch)
        if kind in ENVIRONMENTS:
            environment.update(ENVIRONMENTS[kind](self.scratch))
        return environment

    def ask(self, call: Call, seconds: float, latest: float = math.inf) -> Answer | Lost:
        """Send one request and wait up to ``seconds`` for its answer, and no longer than ``latest``.

        The first one gets GRACE_SECONDS more; ``latest`` is on the clock of time.monotonic(). A
        Lost is told apart from an answer by its type; after one the process is of no more use.
        """
        deadline = time.monotonic() + seconds
        if self._fresh:
            deadline += GRACE_SECONDS
            self._fresh = False
        advice = f"no answer within {seconds:g} s; raise --request-timeout to wait longer"
        if latest < deadline:
            deadline = latest
            advice = f"no answer yet when {OUT_OF_TIME}"
        try:
            # A pipe of Popen is a BinaryIO in all but name.
            write(self._requests, call)  # type: ignore[arg-type]
        except BrokenPipeError:
            return self._crashed()
        # The deadline is one for the whole answer: a worker that dribbles must not outlive it.
        header = self._read(HEADER.size, deadline, advice)
        if isinstance(header, Lost):
            return header
        body = self._read(HEADER.unpack(header)[0], deadline, advice)
        if isinstance(body, Lost):
            return body
        try:
            return msgspec.msgpack.decode(body, type=Answer)
        except msgspec.DecodeError:  # a net has written to the pipe
            return Lost("crashed", f"the worker's answer cannot be read{self._last_words()}")

    def _read(self, count: int, deadline: float, advice: str) -> bytes | Lost:
        # Read below the buffer of the file object: what lies in there no selector sees.
        pipe = self._replies.fileno()
        parts = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while len(parts) < count:
                left = deadline - time.monotonic()
                if left <= 0:
                    return Lost("timed_out", advice + self._last_words())
                # Before waiting: what a process has written, it has written before it died.
                is_dead = self._child.poll() is not None
                if not selector.select(0 if is_dead else min(left, WATCHING_SECONDS)):
                    # The pipe of a dead process stays open in those that it has forked.
                    loss = self._crashed() if is_dead else self._excess()
                    if loss:
                        return loss
                    continue
                chunk = os.read(pipe, min(count - len(parts), CHUNK))
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
        megabytes = self._most_memory / memory.MEGABYTE
        return Lost(
            "crashed",
            f"the worker used more than {megabytes:.0f} MB; {memory.LIMIT} allows more"
            + self._last_words(),
        )

    def memory(self) -> int:
        """The bytes of memory that the process holds; 0 once it is gone."""
        return memory.used(self._child.pid)

    def _crashed(self) -> Lost:
        try:
            code = self._child.wait(CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            return Lost("crashed", f"the worker closed its pipe but lives on{self._last_words()}")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Lost("crashed", f"the worker process died ({how}){self._last_words()}")

    def _last_words(self) -> str:
        # Through the open file: a net may have removed the folder.
        errors = self._errors.fileno()
        start = max(0, os.fstat(errors).st_size - STDERR_TAIL)
        text = os.pread(errors, STDERR_TAIL, start).decode(errors="replace").strip()
        return f"; its last words:\n{text}" if text else ""

    def kill(self) -> None:
        """Kill the process with all that it has started; whoever waits for an answer gets a Lost."""
        # The worker leads a session of its own, and msrun and the like run in it as well.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Kill the process and remove its scratch folder."""
        self.kill()
        self._child.wait()
        for pipe in (self._requests, self._replies, self._errors):
            # Closing flushes what was still unsent to a process that is gone.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        os.close(self._lifeline)
        shutil.rmtree(self.scratch, ignore_errors=True)
