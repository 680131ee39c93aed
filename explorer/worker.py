"""Worker processes: one long-lived process a framework, in which all engine code runs.

``Workers.call`` sends one request and waits for one reply. A worker that crashes, or outlives its time, is an outcome of that
request alone: the next one runs in a fresh process. Run as ``python -m explorer.worker``, this module is the worker itself.
"""

import atexit
import contextlib
import importlib
import os
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import typing
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, TypeVar

import msgspec

from explorer.engines import Kind
from explorer.engines.mindspore_environment import ENVIRONMENTS
from explorer.errors import MissingFrameworkError

Reply = TypeVar("Reply")

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""Sums change by 1e-6 with the number of threads, and two threads on a loaded machine can be a thousand times slower."""

QUIET = {"GLOG_v": "4", "PYTHONWARNINGS": "ignore", "TORCH_CPP_LOG_LEVEL": "ERROR"}
"""MindSpore logs only what is fatal; what matters arrives as an exception."""

HEADER = struct.Struct("<Q")
STDERR_TAIL = 2000
GRACE_SECONDS = 30.0
"""What a first call gets on top of its own limit, for the process to start and import its framework."""


class Lost(msgspec.Struct, frozen=True):
    """A request that got no reply: its worker crashed or ran out of time; ``detail`` says how, with the tail of its stderr."""

    outcome: Literal["crashed", "timed_out"]
    detail: str


class Call(msgspec.Struct, frozen=True):
    """One request on the wire: "module:function" and the MessagePack of its argument."""

    target: str
    argument: bytes


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reply on the wire: the MessagePack of what the function returned, what cannot be imported, or a traceback of ours."""

    value: bytes = b""
    missing: str = ""
    fault: str = ""


class WorkerFaultError(RuntimeError):
    """A fault of the explorer itself inside a worker; carries the worker's traceback."""


class Workers:
    """The worker processes of one run; a context manager that leaves no process and no scratch folder behind.

    ``timeout`` is the limit of one request, in seconds. Safe to share between threads: a request waits for its worker.
    """

    def __init__(self, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._processes: dict[Kind, _Process] = {}
        self._locks: dict[Kind, threading.Lock] = {kind: threading.Lock() for kind in typing.get_args(Kind)}
        atexit.register(self.close)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def call(self, kind: Kind, target: str, argument: msgspec.Struct, reply: type[Reply]) -> Reply | Lost:
        """Run ``target`` ("module:function") on ``argument`` in the worker of ``kind``; a Lost when there is no reply.

        Raises MissingFrameworkError when the worker cannot import what it needs, and WorkerFaultError when the function itself
        raised: engines turn what frameworks raise into outcomes.
        """
        with self._locks[kind]:
            process = self._processes.get(kind)
            if process is None:
                process = self._processes[kind] = _Process(kind)
            answer: Answer | Lost
            try:
                answer = process.ask(Call(target, msgspec.msgpack.encode(argument)), self.timeout)
            except BaseException:
                self._stop(kind)
                raise
            if isinstance(answer, Lost):
                self._stop(kind)
                return answer
        if answer.missing:
            raise MissingFrameworkError(f"{answer.missing}; `python -m explorer doctor` says what is missing and how to get it")
        if answer.fault:
            raise WorkerFaultError(answer.fault)
        return msgspec.msgpack.decode(answer.value, type=reply)

    def close(self) -> None:
        """Stop every worker and remove its scratch folder; a later call starts a fresh one."""
        for kind in list(self._processes):
            self._stop(kind)
        atexit.unregister(self.close)

    def _stop(self, kind: Kind) -> None:
        process = self._processes.pop(kind, None)
        if process:
            process.stop()


class _Process:
    """One running worker: its pipes, its scratch folder, and what it wrote to stderr."""

    def __init__(self, kind: Kind) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="explorer-"))
        self.errors = (self.scratch / "stderr").open("w+b")
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, **ONE_THREAD, **QUIET, "PYTHONPATH": path}
        if kind in ENVIRONMENTS:
            environment |= ENVIRONMENTS[kind](self.scratch)
        self.child = subprocess.Popen(
            [sys.executable, "-m", "explorer.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=self.scratch,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which stops its workers in order
        )
        self.fresh = True

    def ask(self, call: Call, seconds: float) -> Answer | Lost:
        deadline = time.monotonic() + seconds + (GRACE_SECONDS if self.fresh else 0.0)
        self.fresh = False
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        body = msgspec.msgpack.encode(call)
        try:
            self.child.stdin.write(HEADER.pack(len(body)) + body)
            self.child.stdin.flush()
        except BrokenPipeError:
            return self._crashed()
        head = self._read(HEADER.size, deadline)
        if isinstance(head, Lost):
            return head
        reply = self._read(HEADER.unpack(head)[0], deadline)
        return reply if isinstance(reply, Lost) else msgspec.msgpack.decode(reply, type=Answer)

    def _read(self, count: int, deadline: float) -> bytes | Lost:
        assert self.child.stdout is not None
        pipe, parts = self.child.stdout.fileno(), bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while len(parts) < count:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return Lost("timed_out", f"no answer within the time limit; raise --timeout to wait longer{self._said()}")
                chunk = os.read(pipe, min(count - len(parts), 1 << 20))
                if not chunk:
                    return self._crashed()
                parts += chunk
        return bytes(parts)

    def _crashed(self) -> Lost:
        try:
            code = self.child.wait(5)
        except subprocess.TimeoutExpired:
            return Lost("crashed", f"the worker closed its pipe but lives on{self._said()}")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Lost("crashed", f"the worker process died ({how}){self._said()}")

    def _said(self) -> str:
        self.errors.flush()
        text = Path(self.errors.name).read_bytes()[-STDERR_TAIL:].decode(errors="replace").strip()
        return f"; its last words:\n{text}" if text else ""

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it may be gone already
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout, self.errors):
            if pipe:
                with contextlib.suppress(BrokenPipeError):  # what was still unsent to a process that is gone
                    pipe.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer calls one after another; the process ends when ``requests`` does, even in the middle of a call."""
    waiting: list[bytes] = []
    arrived = threading.Semaphore(0)

    def listen() -> None:
        while head := requests.read(HEADER.size):
            waiting.append(requests.read(HEADER.unpack(head)[0]))
            arrived.release()
        os._exit(0)  # the parent is gone, and with it whoever wanted the answer

    threading.Thread(target=listen, daemon=True).start()
    while True:
        arrived.acquire()
        body = msgspec.msgpack.encode(_answer(msgspec.msgpack.decode(waiting.pop(0), type=Call)))
        replies.write(HEADER.pack(len(body)) + body)
        replies.flush()


def _answer(call: Call) -> Answer:
    module, _, name = call.target.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
        (argument,) = (kind for key, kind in typing.get_type_hints(function).items() if key != "return")
        result: Any = function(msgspec.msgpack.decode(call.argument, type=argument))
        return Answer(msgspec.msgpack.encode(result))
    except ImportError as error:
        return Answer(missing=str(error))
    except Exception:
        return Answer(fault=traceback.format_exc())


def main() -> None:
    """Take the standard streams for the protocol: whatever a framework prints goes to stderr instead."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    serve(requests, replies)


if __name__ == "__main__":
    main()
