"""All worker processes of one run: long-lived, one of each kind, with one request at a time.

A worker that crashes, or outlives its time, is an outcome of that request alone: the next one runs
in a fresh process. So it does after a request that took much memory.
"""

import atexit
import contextlib
import copy
import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, Protocol, TypeVar, get_args

import msgspec

from explorer.environments.interpreters import is_own, versions
from explorer.environments.known import environment_for
from explorer.model.engines import Framework, PlainKind, WorkerKind, framework_of, plain
from explorer.model.environments import Environment
from explorer.model.errors import (
    MissingFrameworkError,
    UsageError,
    WorkerFaultError,
    WorkerStartError,
)
from explorer.model.failures import Loss
from explorer.store.keys import Key
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.program_name import program
from explorer.text.reasons import reason
from explorer.text.remedies import framework_remedy
from explorer.workers.children import MEGABYTE
from explorer.workers.nursery import Nurseries, Nursery
from explorer.workers.process import WorkerProcess
from explorer.workers.protocol import Answer, Call, Lost
from explorer.workers.system import can_run_workers

Reply = TypeVar("Reply")

WorkerState = Literal["not started", "waiting", "at work"]
"""A worker is started by its first request."""

REQUEST_SECONDS = 60.0
"""The default time limit of one request."""

FORKED: frozenset[PlainKind] = frozenset(
    ("mindspore", "mindspore-second", "mindspore-capture", "mindspore-passes")
)
"""The kinds of worker that are forked from one process: MindSpore is imported once for all of them.

A scenario needs three, and one that is lost is replaced at once. PyTorch's single one is started alone,
unless other crews of this process need one too.
"""

FORKED_BY_SEVERAL: frozenset[PlainKind] = FORKED | {"torch"}

IMPORTED_ONCE: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("explorer.engines.mindspore.tape", "explorer.engines.mindspore.graph"),
    "torch": ("explorer.engines.torch.tape", "explorer.engines.torch.graph"),
}
"""What is imported for them: a framework's engines, and with them the framework."""

ABOUT = "explorer.engines.{}.about:about"
"""What a new worker is asked first where replies are kept: it imports the framework."""

GROWN = 1200 * MEGABYTE
"""How many bytes a worker may hold once it has answered; one that holds more is stopped.

Frameworks keep the memory that a large net took, and the next worker needs as much.
"""

RESTING = 600 * MEGABYTE
"""How many bytes a worker may hold for which no request waits."""

CLOSING_SECONDS = 0.1
"""Seconds between two checks of whether a waiting thread has noticed that its worker is gone."""


class Home(msgspec.Struct, frozen=True):
    """Where a worker runs: its environment, and the versions that it found there when it started."""

    environment: Environment
    versions: tuple[tuple[str, str], ...]


_SHARED: list[Nurseries] = []
"""The nurseries that all crews of this process use, where they share some."""


@contextlib.contextmanager
def shared_nurseries() -> Iterator[None]:
    """Meanwhile all crews that are made in this process fork their workers from the same processes.

    For many short runs: each framework is imported once.
    """
    nurseries = Nurseries()
    _SHARED.append(nurseries)
    try:
        yield
    finally:
        _SHARED.remove(nurseries)
        nurseries.stop()


def _home(kind: WorkerKind) -> Home:
    environment = environment_for(kind)
    return Home(environment, tuple(versions(environment).items()))


class Replies(Protocol):
    """What workers have replied before, and what is kept of what they reply now."""

    def key(self, kind: WorkerKind, target: str, argument: msgspec.Struct) -> Key | None:
        """The key of a reply, as of now; None of one that is always asked."""

    def known(self, key: Key, reply: type[Reply]) -> Reply | None:
        """The reply that was kept under a key."""

    def keep(self, key: Key, reply: object) -> None:
        """Keep a reply, if the next one will be the same."""


class Workers:
    """The worker processes of one run.

    A context manager that leaves no process and no scratch folder behind. ``request_seconds`` is
    the limit of one request, ``job_seconds`` that of all of them together: nothing is sent after
    ``deadline``, on the clock of time.monotonic(). Safe to share between threads: a request waits
    for its worker.
    """

    def __init__(
        self, request_seconds: float = REQUEST_SECONDS, job_seconds: float = math.inf
    ) -> None:
        self.request_seconds = request_seconds
        self.deadline = time.monotonic() + job_seconds
        self.replies: Replies | None = None
        self._processes: dict[WorkerKind, WorkerProcess] = {}
        self._homes: dict[WorkerKind, Home] = {}
        self._forked = FORKED_BY_SEVERAL if _SHARED else FORKED
        self._has_own_nurseries = not _SHARED
        self._nurseries = _SHARED[-1] if _SHARED else Nurseries()
        self._devices: dict[WorkerKind, str] = {}
        self._locks: defaultdict[WorkerKind, threading.Lock] = defaultdict(threading.Lock)
        self._locks.update((kind, threading.Lock()) for kind in get_args(PlainKind))

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
        import what it needs, WorkerStartError when no process can be started, UsageError when the
        function raised one, and WorkerFaultError when it raised anything else: engines turn what
        frameworks raise into outcomes. What is known from before is not asked again: see keeping().
        """
        replies = self.replies
        key = replies.key(kind, target, argument) if replies else None
        if replies is None or key is None:
            return self._ask(kind, target, argument, reply)
        known = replies.known(key, reply)
        if known is not None:
            return known
        answer = self._ask(kind, target, argument, reply)
        # A file that was changed meanwhile may have been read before or after that.
        if not isinstance(answer, Lost) and replies.key(kind, target, argument) == key:
            replies.keep(key, answer)
        return answer

    def _ask(
        self, kind: WorkerKind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        with self._locks[kind]:
            deadline = (
                self.deadline
            )  # once: who moves it meanwhile means the requests after this one
            if time.monotonic() >= deadline:
                return Lost("not_asked", Loss(kind="not_sent"))
            self._settle_device(kind, argument)
            self._settle_home(kind)
            try:
                process = self._process(kind)
                call = Call(target, msgspec.msgpack.encode(argument))
                imported: Answer | Lost | None = None
                # What is known is not asked, and what would have been asked first has no time to lose.
                if process.is_fresh and self.replies and framework_of(kind):
                    importing = Call(ABOUT.format(framework_of(kind)), msgspec.msgpack.encode({}))
                    imported = process.request(importing, self.request_seconds, deadline)
                answer = (
                    imported
                    if isinstance(imported, Lost)
                    else process.request(call, self.request_seconds, deadline)
                )
            except BaseException:
                # Ctrl-C among others: what the worker would still say belongs to no later request.
                self._stop(kind)
                raise
            if isinstance(answer, Lost) or self.memory(kind) > GROWN:
                self._stop(kind)
        if isinstance(answer, Lost):
            return answer
        if answer.missing:
            raise MissingFrameworkError(self._missing(kind, answer.missing))
        if answer.refused:
            raise UsageError(message(answer.refused))
        if answer.fault:
            raise WorkerFaultError(answer.fault)
        return msgspec.msgpack.decode(answer.value, type=reply)

    def _settle_device(self, kind: WorkerKind, argument: msgspec.Struct) -> None:
        """Stop a process of MindSpore that has run on another device than it is to run on now."""
        # "The 'mindspore.set_device' can not be modified" once anything has run (2.10.0).
        device = _device_of(argument)
        if device is None or framework_of(kind) != "mindspore":
            return
        if self._devices.setdefault(kind, device) != device:
            self._stop(kind)
            self._devices[kind] = device

    def _settle_home(self, kind: WorkerKind) -> None:
        """Stop a process whose environment is another now, or holds other versions."""
        home = _home(kind)
        if self._homes.setdefault(kind, home) != home:
            self._stop(kind)
            self._homes[kind] = home

    def _missing(self, kind: WorkerKind, missing: str) -> str:
        """What a worker could not import, and where."""
        environment = self._homes[kind].environment
        framework = framework_of(kind)
        if is_own(environment) and framework and repr(framework) in missing:
            return _("{missing}; run {remedy}").format(
                missing=missing, remedy=framework_remedy(framework)
            )
        text = _("{missing}; `{program} doctor` lists what is missing and how to install it")
        if not is_own(environment):
            text = _("{missing} in environment {name}; `{program} env check` says what it lacks")
        name = repr(environment.name or environment.python)
        return text.format(missing=missing, program=program(), name=name)

    def _process(self, kind: WorkerKind) -> WorkerProcess:
        if kind not in self._processes:
            if not can_run_workers():
                raise WorkerStartError(
                    _(
                        "nets cannot be run on this system; use Linux, macOS, or the Windows Subsystem"
                        " for Linux"
                    )
                )
            # Whoever forgets to close them must not leave processes and scratch folders behind.
            # Registered at every start, since a set that was closed may be used again.
            atexit.unregister(self.close)
            atexit.register(self.close)
            try:
                home = self._homes[kind]
                nursery = self._nursery(kind, home) if plain(kind) in self._forked else None
                self._processes[kind] = WorkerProcess(kind, home.environment, nursery)
            except OSError as error:
                text = _(
                    "no worker process can be started: {reason}; workers need room in the"
                    " temporary folder, which TMPDIR can change"
                )
                raise WorkerStartError(text.format(reason=reason(error))) from error
        return self._processes[kind]

    def _nursery(self, kind: WorkerKind, home: "Home") -> Nursery:
        modules = IMPORTED_ONCE[framework_of(kind) or "mindspore"]
        return self._nurseries.at(home.environment, home.versions, modules)

    def rest(self, kind: WorkerKind) -> None:
        """Stop the worker of a kind if it is idle and holds much memory; the next request starts another."""
        lock = self._locks[kind]
        if self.memory(kind) > RESTING and lock.acquire(blocking=False):
            try:
                self._stop(kind)
            finally:
                lock.release()

    def limited(self, seconds: float) -> "Workers":
        """The same processes, with another limit of one request."""
        other = copy.copy(self)
        other.request_seconds = seconds
        return other

    def keeping(self, replies: Replies) -> "Workers":
        """The same processes, which are asked only what is not among some ``replies``."""
        other = copy.copy(self)
        other.replies = replies
        return other

    def states(self) -> dict[WorkerKind, WorkerState]:
        """The state of each kind's process: at work, waiting, or not started."""
        states: dict[WorkerKind, WorkerState] = {}
        for kind, lock in tuple(self._locks.items()):
            states[kind] = "not started"
            if kind in self._processes:
                states[kind] = "at work" if lock.locked() else "waiting"
        return states

    def memory(self, kind: WorkerKind) -> int:
        """The bytes that the process of a kind holds; 0 where none is started."""
        process = self._processes.get(kind)
        return process.memory() if process else 0

    def close(self) -> None:
        """Stop every worker and remove its scratch folder; a later call starts a fresh one."""
        for kind in list(self._processes):
            # Another thread may be waiting for the worker's answer, and reads from its pipe: that
            # is closed once this thread has seen the worker's end.
            while process := self._processes.get(kind):
                process.kill()
                if self._locks[kind].acquire(timeout=CLOSING_SECONDS):
                    self._stop(kind)
                    self._locks[kind].release()
        if self._has_own_nurseries:
            self._nurseries.stop()  # after the workers, whose parents they are
        atexit.unregister(self.close)

    def _stop(self, kind: WorkerKind) -> None:
        self._devices.pop(kind, None)
        self._homes.pop(kind, None)
        process = self._processes.pop(kind, None)
        if process:
            process.stop()


def _device_of(argument: msgspec.Struct) -> str | None:
    """The device that a request names, itself or for its net; None where it names none."""
    device: str | None = getattr(argument, "device", None)
    inner = getattr(argument, "net", None) or getattr(argument, "request", None)
    return device if inner is None else _device_of(inner)
