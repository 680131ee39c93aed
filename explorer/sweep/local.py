"""The jobs of a sweep side by side on this machine, each in a process of its own."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

from explorer.sweep.job import in_own_process, workers_for
from explorer.sweep.records import SweepJob, SweepRow
from explorer.workers.workers import Workers

Started = Callable[[SweepJob], None]
"""Called with a job when it begins, from any thread."""


def jobs_at_once() -> int:
    """The default number of jobs that run in parallel: each keeps two cores busy."""
    return max(1, len(os.sched_getaffinity(0)) // 2)


def local_rows(jobs: Iterable[SweepJob], count: int, started: Started) -> Iterator[SweepRow]:
    """The row of each job as it is done, ``count`` jobs at a time.

    When the caller stops asking, or on Ctrl-C, the jobs under way are ended and no other begins.
    """
    running: set[Workers] = set()

    def carry_out(job: SweepJob) -> SweepRow:
        """Run one job; a thread waits for its process."""
        started(job)
        with workers_for(job) as workers:
            running.add(workers)
            try:
                return in_own_process(job, workers)
            finally:
                running.discard(workers)

    pool = ThreadPoolExecutor(count)
    try:
        for future in as_completed([pool.submit(carry_out, job) for job in jobs]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for workers in list(running):
            workers.close()
        pool.shutdown()
