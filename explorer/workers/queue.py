"""The queue that exploring and measuring share: requests, each with workers that may take it."""

import contextvars
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError, WorkerFaultError
from explorer.workers.children import MEGABYTE
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

Progress = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and of how much."""

STOPPING_SECONDS = 0.1
"""Seconds between two looks at whether the threads of a stopped queue have ended."""

CROWDED = 1000 * MEGABYTE
"""While a worker that compiles holds more bytes than this, no other begins to compile."""

WAITING_SECONDS = 0.2
"""Seconds between two looks at whether there is room to compile."""


def no_progress(stage: str, done: int, total: int) -> None:
    """The default Progress: shows nothing."""


@dataclass(frozen=True)
class Job:
    """One request that is to be carried out by one of the workers ``kinds``.

    Progress is counted by ``stage``; ``key`` identifies the job. ``compiles``
    says that a compiler runs, which takes gigabytes for a net of thousands of nodes. ``isolated``
    says that an internal error of the explorer is an outcome too, and affects only this job.
    """

    key: Any
    stage: str
    kinds: tuple[WorkerKind, ...]
    target: str
    request: msgspec.Struct
    reply: type[Any]
    compiles: bool = False
    isolated: bool = False


JobOutcome = Any
"""The reply of a job's target, a Lost, or the MissingFrameworkError that its worker raised."""

Answered = tuple[Job, JobOutcome, BaseException | None]
"""A job with its outcome, or with the exception that is to go on."""


def carry_out(
    jobs: Iterable[Job], workers: Workers, progress: Progress = no_progress
) -> dict[Any, JobOutcome]:
    """Carry out every job, the workers side by side; the outcomes by key, in the jobs' order.

    When a request raises for another cause than a missing framework, or on Ctrl-C, the workers are
    stopped and the exception goes on.
    """
    jobs = list(jobs)
    outcomes: dict[Any, JobOutcome] = {}
    with JobQueue(workers, progress) as job_queue:
        job_queue.add(jobs)
        for job, outcome in job_queue.finished():
            outcomes[job.key] = outcome
    return {job.key: outcomes[job.key] for job in jobs}


class JobQueue:
    """Jobs that the workers carry out side by side, in the order in which they were added.

    A context manager: when it is left while jobs are unfinished, the workers are stopped. Jobs may
    be added while others are under way. All methods are called from one thread, and ``progress`` is
    called from it too.
    """

    def __init__(self, workers: Workers, progress: Progress = no_progress) -> None:
        self._workers = workers
        self._progress = progress
        self._lock = threading.Lock()
        self._waiting: list[Job] = []
        # A thread a worker: each waits on a pipe nearly all the time.
        self._threads: dict[WorkerKind, threading.Thread] = {}
        self._compiling: set[WorkerKind] = set()
        self._stopped = threading.Event()
        self._answered: queue.SimpleQueue[Answered] = queue.SimpleQueue()
        self._unfinished = 0
        self._totals: dict[str, int] = {}
        self._done: dict[str, int] = {}

    def __enter__(self) -> "JobQueue":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._unfinished:
            return
        self._stopped.set()
        for thread in list(self._threads.values()):
            while thread.is_alive():
                # One that was about to start a worker may do so after the others were stopped.
                self._workers.close()
                thread.join(STOPPING_SECONDS)

    def add(self, jobs: Iterable[Job], *, start: bool = True, ahead: bool = False) -> None:
        """Queue jobs behind those that wait already, or ``ahead`` of them.

        Workers start for all that wait, unless ``start`` is False: then those at work take the new
        jobs too, and for what they may not take others start with the next jobs that are added.
        """
        # A worker takes jobs that only it may take before those that another could take.
        jobs = sorted(jobs, key=lambda job: len(job.kinds))
        self._unfinished += len(jobs)
        for job in jobs:
            self._totals[job.stage] = self._totals.get(job.stage, 0) + 1
        with self._lock:
            self._waiting = [*jobs, *self._waiting] if ahead else [*self._waiting, *jobs]
            if not start:
                return
            # Under the lock, since a thread may be about to leave: see _next.
            kinds = dict.fromkeys(kind for job in self._waiting for kind in job.kinds)
            for kind in kinds:
                if kind not in self._threads:
                    # What it raises for a person is in the language of this thread.
                    serve = contextvars.copy_context().run
                    thread = threading.Thread(target=serve, args=(self._serve, kind), daemon=True)
                    self._threads[kind] = thread
                    thread.start()

    def finished(self) -> Iterator[tuple[Job, JobOutcome]]:
        """Jobs with their outcomes as they are finished, until none is left.

        Raises what a request raised for another cause than a missing framework.
        """
        while self._unfinished:
            job, outcome, error = self._answered.get()
            if error is not None:
                raise error
            self._unfinished -= 1
            self._done[job.stage] = self._done.get(job.stage, 0) + 1
            self._progress(job.stage, self._done[job.stage], self._totals[job.stage])
            yield job, outcome

    def _serve(self, kind: WorkerKind) -> None:
        """Carry out jobs in the worker of ``kind`` until none is left that it may take."""
        while not self._stopped.is_set():
            job = self._next(kind)
            if job is None:
                self._workers.rest(kind)
                return
            outcome: JobOutcome = None
            fault: BaseException | None = None
            try:
                outcome = self._workers.call(kind, job.target, job.request, job.reply)
            except MissingFrameworkError as error:
                outcome = error
            except WorkerFaultError as error:
                if job.isolated:
                    outcome = Lost("crashed", error.loss)
                else:
                    fault = error
            except BaseException as error:
                fault = error
            self._compiling.discard(kind)
            self._answered.put((job, outcome, fault))

    def _next(self, kind: WorkerKind) -> Job | None:
        """The next job for the worker of ``kind``, once there is room for it; None if none is left."""
        while not self._stopped.is_set():
            with self._lock:
                jobs = [job for job in self._waiting if kind in job.kinds]
                if not jobs:
                    del self._threads[kind]  # jobs that are added from now on get another one
                    return None
                if not self._may_compile(kind):
                    jobs = [job for job in jobs if not job.compiles]
                if jobs:
                    self._waiting.remove(jobs[0])
                    if jobs[0].compiles:
                        self._compiling.add(kind)
                    return jobs[0]
            self._stopped.wait(WAITING_SECONDS)
        return None

    def _may_compile(self, kind: WorkerKind) -> bool:
        """Whether the worker of ``kind`` should begin to compile: there is room, and it is its turn."""
        if any(self._workers.memory(other) > CROWDED for other in tuple(self._compiling)):
            return False
        # A job that waits for room checks now and then; no later job takes the room in between.
        first = next((job for job in self._waiting if job.compiles), None)
        return first is None or kind in first.kinds
