"""The jobs of a sweep side by side: on this machine, or on a Dask cluster."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from explorer.model.errors import UsageError
from explorer.model.failures import Failure
from explorer.scenario.find import SHIPPED, files_read
from explorer.store.keys import installation
from explorer.sweep.jobs import in_own_process, without_results, workers_for
from explorer.sweep.records import JobResult, Problem, SweepJob
from explorer.text.language import _
from explorer.text.remedies import missing
from explorer.workers.workers import Workers

if TYPE_CHECKING:
    from distributed import Client

CONNECTING_SECONDS = 10
"""Seconds that a scheduler may take to answer."""

COMPARED = ("explorer", "python", "mindspore", "torch", "numpy")
"""The parts of an installation that must be the same on every machine of one sweep."""


Started = Callable[[SweepJob], None]
"""Called with a job when it begins, from any thread."""


# On this machine


def jobs_at_once() -> int:
    """The default number of jobs that run in parallel: each keeps two cores busy."""
    # Which of the machine's cores this process may use, Linux alone says.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) // 2)


def local_results(jobs: Iterable[SweepJob], count: int, started: Started) -> Iterator[JobResult]:
    """The result of each job as it is done, ``count`` jobs at a time.

    When the caller stops, or on Ctrl-C, running jobs are ended and no other begins.
    """
    running: set[Workers] = set()

    def carry_out(job: SweepJob) -> JobResult:
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


# On a cluster


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """A job with the files that its scenario consists of.

    ``files`` are their contents by paths relative to the scenario's folder; a shipped scenario, which
    every machine has, is sent as its name only, in ``shipped``.
    """

    job: SweepJob
    shipped: str = ""
    files: dict[str, bytes] = {}


@contextmanager
def connected(address: str) -> Iterator["Client"]:
    """A client of the scheduler at ``address``, "tcp://HOST:PORT".

    Raises MissingFrameworkError without Dask, and UsageError where no scheduler answers or it has no
    workers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise missing("distributed", _("a sweep on a cluster")) from error
    try:
        client = Client(address, timeout=CONNECTING_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        text = _(
            "no Dask scheduler can be reached at {address}: {reason}; start one with"
            " `dask scheduler`, and give the address that it prints"
        )
        raise UsageError(text.format(address=repr(address), reason=error)) from error
    with client:
        if not client.scheduler_info()["workers"]:
            text = _(
                "the scheduler at {address} has no workers; start some with `dask worker {address}`"
            )
            raise UsageError(text.format(address=address))
        yield client


def mismatches(client: "Client") -> dict[str, dict[str, tuple[str, str]]]:
    """The versions on each worker that differ from those here: there and here, by package."""
    here = installation()
    try:
        found: Mapping[str, dict[str, str]] = client.run(installation)
    except (ImportError, AttributeError) as error:
        text = _(
            "a worker of the cluster cannot import the explorer: {reason}; install the same"
            " version there"
        )
        raise UsageError(text.format(reason=error)) from error
    differing: dict[str, dict[str, tuple[str, str]]] = {}
    for address, there in sorted(found.items()):
        for name in COMPARED:
            versions = there.get(name, "none"), here.get(name, "none")
            if versions[0] != versions[1]:
                differing.setdefault(address, {})[name] = versions
    return differing


def cluster_results(jobs: Iterable[SweepJob], client: "Client") -> Iterator[JobResult]:
    """The result of each job as it is done; a job whose machine is lost is run on another one.

    When the caller stops, or on Ctrl-C, what is running is cancelled.
    """
    import distributed

    jobs_of = {}
    for job in jobs:
        # Keys of their own: Dask takes two jobs of one key for the same, also from another sweep.
        future = client.submit(run_carried, carried(job), pure=False)
        jobs_of[future] = job
    try:
        for future in distributed.as_completed(list(jobs_of)):
            error = future.exception()
            if error:
                problem = Problem(kind="died", failure=Failure("crashed", str(error)))
                yield without_results(jobs_of[future], "lost", problem)
            else:
                yield future.result()
    finally:
        client.cancel(list(jobs_of), force=True)


def carried(job: SweepJob) -> Carried:
    """A job ready to be sent; raises UsageError if its scenario imports from outside its folder."""
    path = Path(job.file)
    if path.parent in SHIPPED:
        name = str(path.relative_to(SHIPPED[0]).with_suffix(""))
        return Carried(job=job, shipped=name)
    files = {}
    for name in files_read(path):
        if name.startswith(".."):
            text = _(
                "{scenario}: imports {file}, which is outside its folder and cannot be sent to the"
                " cluster; move it into the folder"
            )
            raise UsageError(text.format(scenario=job.scenario, file=name))
        files[name] = (path.parent / name).read_bytes()
    return Carried(job=job, files=files)


def run_carried(carried: Carried) -> JobResult:
    """The result of a job, run on the machine to which it was sent."""
    with tempfile.TemporaryDirectory(prefix="explorer-sweep-") as folder:
        if carried.shipped:
            file = (SHIPPED[0] / carried.shipped).with_suffix(".py")
        else:
            file = Path(folder) / Path(carried.job.file).name
            for name, content in carried.files.items():
                place = Path(folder) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
        job = msgspec.structs.replace(carried.job, file=str(file))
        with workers_for(job) as workers:
            return in_own_process(job, workers)
