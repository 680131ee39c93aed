"""All worker processes of one run: long-lived, one a kind, each asked one thing at a time.

A worker that crashes, or outlives its time, is an outcome of that request alone: the next one runs
in a fresh process.
"""

import atexit
import threading
import typing
from types import TracebackType
from typing import TypeVar

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError, WorkerFaultError
from explorer.workers.process import WorkerProcess
from explorer.workers.protocol import Call, Lost

Reply = TypeVar("Reply")

DEFAULT_SECONDS = 60.0
"""The limit of one request where nobody says otherwise."""


class Workers:
    """The worker processes of one run.

    A context manager that leaves no process and no scratch folder behind. ``timeout`` is the limit
    of one request, in seconds. Safe to share between threads: a request waits for its worker.
    """

    def __init__(self, timeout: float = DEFAULT_SECONDS) -> None:
        self.timeout = timeout
        self._processes: dict[WorkerKind, WorkerProcess] = {}
        self._locks: dict[WorkerKind, threading.Lock] = {
            kind: threading.Lock() for kind in typing.get_args(WorkerKind)
        }
        # Whoever forgets to close them must not leave processes and scratch folders behind.
        atexit.register(self.close)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def call(
        self, kind: WorkerKind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        """Run ``target`` ("module:function") on ``argument`` in the worker of ``kind``.

        Returns a Lost when there is no reply. Raises MissingFrameworkError when the worker cannot
        import what it needs, and WorkerFaultError when the function itself raised: engines turn
        what frameworks raise into outcomes.
        """
        with self._locks[kind]:
            process = self._processes.get(kind)
            if process is None:
                process = self._processes[kind] = WorkerProcess(kind)
            try:
                answer = process.ask(Call(target, msgspec.msgpack.encode(argument)), self.timeout)
            except BaseException:
                # Ctrl-C among others: what the worker would still say belongs to no later request.
                self._stop(kind)
                raise
            if isinstance(answer, Lost):
                self._stop(kind)
                return answer
        if answer.missing:
            advice = "`python -m explorer doctor` says what is missing and how to get it"
            raise MissingFrameworkError(f"{answer.missing}; {advice}")
        if answer.fault:
            raise WorkerFaultError(answer.fault)
        return msgspec.msgpack.decode(answer.value, type=reply)

    def close(self) -> None:
        """Stop every worker and remove its scratch folder; a later call starts a fresh one."""
        for kind in list(self._processes):
            self._stop(kind)
        atexit.unregister(self.close)

    def _stop(self, kind: WorkerKind) -> None:
        process = self._processes.pop(kind, None)
        if process:
            process.stop()
