"""Measurements: small named programs that run in a worker and return plain figures; studies and claims are made of them."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from explorer.engines import Kind
from explorer.errors import MissingFrameworkError
from explorer.graph import GradGraph
from explorer.records import Failure, Outcome
from explorer.worker import Lost, Workers

Progress = Callable[[str, int, int], None]
Figures = dict[str, Any]
"""What was measured, by name: numbers, strings, booleans, None, and lists and dicts of them. Numbers that are not finite are
spelt as strings ("NaN", "Infinity", "-Infinity"), since they must survive strict JSON."""

SHARED: dict[Kind, tuple[Kind, ...]] = {"mindspore": ("mindspore", "mindspore-second")}
"""Kinds whose measurements are shared among several workers: MindSpore compiles, and that takes as long as all else."""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One program to run in the worker of ``kind``: ``target`` is "module:function", a function from Ask to Found.

    ``name`` is what studies and claims call it by: "loss-scale.guide_example.mindspore".
    """

    name: str
    kind: Kind
    target: str
    scenario: str = ""
    device: str = "cpu"
    options: dict[str, Any] = {}


class Ask(msgspec.Struct, frozen=True):
    """What a measuring function is given: a scenario's file (or ""), the device, and the measurement's own options."""

    scenario: str = ""
    device: str = "cpu"
    options: dict[str, Any] = {}


class Found(msgspec.Struct, frozen=True):
    """What a measuring function returns: figures that are the same at every run, timings in seconds that are not, and graphs."""

    figures: Figures
    timings: dict[str, float] = {}
    graphs: tuple[GradGraph, ...] = ()


class Measured(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A measurement's outcome: what was found, or why nothing was; ``code`` is the source of the function that ran."""

    outcome: Outcome
    figures: Figures = {}
    timings: dict[str, float] = {}
    graphs: tuple[GradGraph, ...] = ()
    error: Failure | None = None
    code: str = ""


class Evidence(Mapping[str, Figures]):
    """The figures of some measurements by name; those that failed have none, and ``failures`` says why."""

    def __init__(self, measured: Mapping[str, Measured]) -> None:
        self.measured = dict(measured)

    def __getitem__(self, name: str) -> Figures:
        return self.measured[name].figures

    def __iter__(self) -> Any:
        return iter(self.measured)

    def __len__(self) -> int:
        return len(self.measured)

    @property
    def failures(self) -> dict[str, Failure]:
        """Why the measurements without figures have none."""
        return {name: each.error for name, each in self.measured.items() if each.error}


def measure(
    measurements: Iterable[Measurement],
    workers: Workers,
    progress: Progress = lambda stage, done, total: None,
) -> dict[str, Measured]:
    """Run every measurement in the worker of its kind, the kinds side by side; the outcomes in the order given.

    A framework that is missing, a crash, a time that ran out and an exception are outcomes of the measurement concerned.
    """
    wanted = tuple(measurements)
    queues: dict[Kind, deque[Measurement]] = {}
    for each in wanted:
        queues.setdefault(each.kind, deque()).append(each)
    found: dict[str, Measured] = {}
    stop = threading.Event()

    def work(worker: Kind, queue: deque[Measurement]) -> None:
        while not stop.is_set():
            try:
                each = queue.popleft()
            except IndexError:  # another worker took the last one
                return
            found[each.name] = _one(each, worker, workers)
            progress("measurements", len(found), len(wanted))

    jobs = [(worker, queue) for kind, queue in queues.items() for worker in SHARED.get(kind, (kind,))[: len(queue)]]
    with ThreadPoolExecutor(max(len(jobs), 1)) as pool:
        try:
            for future in [pool.submit(work, *job) for job in jobs]:
                future.result()
        except BaseException:
            stop.set()
            workers.close()
            raise
    return {each.name: found[each.name] for each in wanted}


def _one(each: Measurement, worker: Kind, workers: Workers) -> Measured:
    try:
        reply = workers.call(worker, "explorer.measuring_worker:run", each, Measured)
    except MissingFrameworkError as error:
        return Measured(outcome="unsupported", error=Failure("MissingFramework", str(error)))
    return Measured(outcome=reply.outcome, error=Failure(reply.outcome, reply.detail)) if isinstance(reply, Lost) else reply
