"""The queue that exploring and measuring share: requests, each with workers that may take it."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import msgspec

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError
from explorer.workers.workers import Workers

Progress = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and of how much; from several threads."""


def no_progress(stage: str, done: int, total: int) -> None:
    """A Progress that tells nobody."""


@dataclass(frozen=True)
class Job:
    """One request that is to be carried out by one of the workers ``kinds``.

    ``stage`` is what progress is counted under; ``key`` tells the job from all others.
    """

    key: Any
    stage: str
    kinds: tuple[WorkerKind, ...]
    target: str
    request: msgspec.Struct
    reply: type[Any]


JobOutcome = Any
"""The reply of a job's target, a Lost, or the MissingFrameworkError that its worker raised."""


def carry_out(
    jobs: Iterable[Job], workers: Workers, progress: Progress = no_progress
) -> dict[Any, JobOutcome]:
    """Carry out every job, the workers side by side; the outcomes by key, in the jobs' order.

    When a request raises for another cause than a missing framework, or on Ctrl-C, the workers are
    stopped and the exception goes on.
    """
    queue = _Queue(list(jobs), progress)
    kinds = queue.kinds()
    # A thread a worker: each waits on a pipe nearly all the time.
    with ThreadPoolExecutor(max(len(kinds), 1)) as pool:
        try:
            futures = [pool.submit(queue.serve, kind, workers) for kind in kinds]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        except BaseException:
            queue.stopped.set()
            workers.close()  # the threads that wait for an answer get one: their worker is gone
            raise
    return {job.key: queue.outcomes[job.key] for job in queue.jobs}


class _Queue:
    """Jobs that wait, and the outcomes of those that are done; shared by one thread a worker."""

    def __init__(self, jobs: list[Job], progress: Progress) -> None:
        self.jobs = jobs
        self.outcomes: dict[Any, JobOutcome] = {}
        self.stopped = threading.Event()
        self._progress = progress
        self._lock = threading.Lock()
        # A worker takes jobs that nobody else may take before those that another could take for it.
        self._waiting = sorted(jobs, key=lambda job: len(job.kinds))
        self._totals: dict[str, int] = {}
        self._done: dict[str, int] = {}
        for job in jobs:
            self._totals[job.stage] = self._totals.get(job.stage, 0) + 1

    def kinds(self) -> list[WorkerKind]:
        """The workers that have something to do, each once."""
        kinds: dict[WorkerKind, None] = {}
        for job in self._waiting:
            kinds.update(dict.fromkeys(job.kinds))
        return list(kinds)

    def serve(self, kind: WorkerKind, workers: Workers) -> None:
        """Carry out jobs in the worker of ``kind`` until none is left that it may take."""
        while not self.stopped.is_set():
            job = self._next(kind)
            if job is None:
                return
            outcome: JobOutcome
            try:
                outcome = workers.call(kind, job.target, job.request, job.reply)
            except MissingFrameworkError as error:
                outcome = error
            self._finish(job, outcome)

    def _next(self, kind: WorkerKind) -> Job | None:
        with self._lock:
            for place, job in enumerate(self._waiting):
                if kind in job.kinds:
                    return self._waiting.pop(place)
        return None

    def _finish(self, job: Job, outcome: JobOutcome) -> None:
        with self._lock:
            self.outcomes[job.key] = outcome
            self._done[job.stage] = self._done.get(job.stage, 0) + 1
            done = self._done[job.stage]
        # Outside the lock: it may draw on a terminal, and nobody else should wait for that.
        self._progress(job.stage, done, self._totals[job.stage])
