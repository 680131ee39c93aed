"""Runs the jobs of a sweep on a Dask cluster; local scenario files are sent along."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.scenario.find import SHIPPED, files_read
from explorer.store.keys import installation
from explorer.sweep.job import in_own_process, lost, workers_for
from explorer.sweep.records import SweepJob, SweepRow

if TYPE_CHECKING:
    from distributed import Client

CONNECTING_SECONDS = 10
"""Seconds that a scheduler may take to answer."""

COMPARED = ("explorer", "python", "mindspore", "torch", "numpy")
"""The parts of an installation that must be the same on every machine of one sweep."""


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
        raise MissingFrameworkError(
            "a sweep on a cluster needs Dask, which is not installed; run"
            " pip install 'autodiff-explorer[cluster]'"
        ) from error
    try:
        client = Client(address, timeout=CONNECTING_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"no Dask scheduler can be reached at {address!r}: {error}; "
            "start one with `dask scheduler`, and give the address that it prints"
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise UsageError(
                f"the scheduler at {address} has no workers; start some with `dask worker {address}`"
            )
        yield client


def mismatches(client: "Client") -> list[str]:
    """A sentence for each worker whose installation is another one than this process's."""
    here = installation()
    try:
        found: Mapping[str, dict[str, str]] = client.run(installation)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"a worker of the cluster cannot import the explorer: {error}; install the same version there"
        ) from error
    sentences = []
    for address, there in sorted(found.items()):
        parts = [
            _apart(name, there.get(name, "none"), here.get(name, "none"))
            for name in COMPARED
            if there.get(name) != here.get(name)
        ]
        if parts:
            sentences.append(f"the worker {address} has {', '.join(parts)}")
    return sentences


def _apart(name: str, there: str, here: str) -> str:
    if name == "explorer":  # a digest of its code, which means nothing to a reader
        return "another version of the explorer's code"
    return f"{name} {there} (here {here})"


def cluster_rows(jobs: Iterable[SweepJob], client: "Client") -> Iterator[SweepRow]:
    """The row of each job as it is done; a job whose machine is lost is run on another one.

    When the caller stops asking, or on Ctrl-C, what is under way is cancelled.
    """
    from distributed import as_completed

    jobs_of = {}
    for job in jobs:
        # Keys of their own: Dask takes two jobs of one key for the same, also from another sweep.
        future = client.submit(run_carried, carried(job), pure=False)
        jobs_of[future] = job
    try:
        for future in as_completed(list(jobs_of)):
            error = future.exception()
            yield lost(jobs_of[future], str(error)) if error else future.result()
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
            raise UsageError(
                f"{job.scenario}: imports {name}, which is outside its folder and cannot be sent to the"
                " cluster; move it into the folder"
            )
        files[name] = (path.parent / name).read_bytes()
    return Carried(job=job, files=files)


def run_carried(carried: Carried) -> SweepRow:
    """The row of a job, run on the machine to which it was sent."""
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
