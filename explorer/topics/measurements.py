"""Runs measurements in workers; whatever becomes of one is its outcome."""

import datetime
import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from explorer.environments.known import environment_for
from explorer.model.engines import WorkerKind, framework_of
from explorer.model.environments import NO_HOMES, Homes, at_home
from explorer.model.errors import MissingFrameworkError, ScenarioError
from explorer.model.failures import MISSING_FRAMEWORK, Failure
from explorer.model.measurement import Measured, Measurement
from explorer.model.results import ANSWERED
from explorer.scenario.find import CHANGED, files_read, has_changed
from explorer.store.code import code_behind, code_in_worker, module_of
from explorer.store.keys import Key, key_in, key_of
from explorer.store.store import Store
from explorer.text.language import _
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome, JobQueue, Progress, no_progress
from explorer.workers.workers import Workers

SHARED: dict[WorkerKind, tuple[WorkerKind, ...]] = {"mindspore": ("mindspore", "mindspore-second")}
"""Kinds of worker that have a second one beside them: their measurements are shared out among both.

MindSpore compiles, and takes as long as all other kinds together.
"""

TARGET = "explorer.topics.in_worker:run"
"""What carries a measurement out in its worker."""

Read = Callable[[Path], Mapping[str, str]]
"""Gives the digests of a scenario's files."""

FLEETING = ("MemoryError", "OSError", "TimeoutError")
"""Errors of a busy machine: a measurement that raised one is made again the next time."""


def measure(
    measurements: Iterable[Measurement],
    workers: Workers,
    progress: Progress = no_progress,
    store: Store | None = None,
    homes: Homes = NO_HOMES,
) -> dict[str, Measured]:
    """Run every measurement in the worker of its kind, kinds side by side; the outcomes by name.

    Those of a framework that ``homes`` names run in its environment.
    Outcomes are in the order of the measurements. A missing framework, a crash, a timeout and an
    exception are outcomes of the measurement concerned. What a ``store`` has is not run, and what is
    run is kept there: then ScenarioError is raised where a file of a scenario was changed meanwhile.
    Raises ValueError when two measurements that differ have one name.
    """
    # Claims share measurements; each is run once.
    wanted: dict[str, Measurement] = {}
    for measurement in measurements:
        known = wanted.setdefault(measurement.name, measurement)
        if known != measurement:
            raise ValueError(
                f"two measurements are called {measurement.name}: {known} and {measurement}"
            )
    if store is None:
        outcomes = _run(wanted.values(), workers, progress, homes)
    else:
        outcomes = _stored_or_run(wanted, workers, progress, store, homes)
    return {name: outcomes[name] for name in wanted}


def stored(
    measurements: Iterable[Measurement], store: Store, homes: Homes = NO_HOMES
) -> dict[str, Measured] | None:
    """The outcomes by name where the store has them all; nobody's turn is waited for."""
    outcomes: dict[str, Measured] = {}
    # A file that several of them run is read once.
    for name, its_key in _keys(measurements, functools.cache(files_read), homes).items():
        known = store.get(its_key, Measured)
        if known is None:
            return None
        outcomes[name] = known
    return outcomes


def _stored_or_run(
    wanted: Mapping[str, Measurement],
    workers: Workers,
    progress: Progress,
    store: Store,
    homes: Homes,
) -> dict[str, Measured]:
    read = functools.cache(files_read)
    keys = _keys(wanted.values(), read, homes)
    # A lock for all together: two processes that ask the same study need not run half of it each.
    batch = key_of("measurements", "together", [each.digest for each in keys.values()])
    outcomes: dict[str, Measured] = {}
    with store.turn(batch):
        for name, its_key in keys.items():
            known = store.get(its_key, Measured)
            if known:
                outcomes[name] = known
        missing = [wanted[name] for name in keys if name not in outcomes]

        def keep(name: str, measured: Measured) -> None:
            scenario = wanted[name].scenario
            if scenario and has_changed(Path(scenario), read(Path(scenario))):
                raise ScenarioError(f"{scenario}: {_(CHANGED)}")
            if can_be_kept(measured):
                store.put(keys[name], measured)

        outcomes.update(_run(missing, workers, progress, homes, keep))
    return outcomes


def _keys(measurements: Iterable[Measurement], read: Read, homes: Homes) -> dict[str, Key]:
    """The keys by the measurements' names."""
    return {each.name: key(each, read, homes) for each in measurements}


def key(measurement: Measurement, read: Read = files_read, homes: Homes = NO_HOMES) -> Key:
    """The key of a measurement's outcome: that of the same scenario's files in any folder.

    Of the explorer the code counts that runs in the worker, and no other.
    """
    kind = at_home(measurement.kind, homes)
    code = code_in_worker(TARGET, framework_of(kind)), code_behind(module_of(measurement.target))
    files: Mapping[str, str] = {}
    placeless = measurement
    if measurement.scenario:
        path = Path(measurement.scenario)
        files = read(path)
        placeless = msgspec.structs.replace(measurement, scenario=path.name)
    return key_in(environment_for(kind), "measurement", measurement.name, code, placeless, files)


def can_be_kept(measured: Measured) -> bool:
    """Whether another run would have the same outcome.

    Frameworks have answered, or refused, or the scenario has no net for them.
    """
    is_fleeting = measured.error is not None and measured.error.type in FLEETING
    return measured.outcome in (*ANSWERED, "not_defined") and not is_fleeting


def nothing_kept(name: str, measured: Measured) -> None:
    """What is done with an outcome where there is no store."""


def _run(
    measurements: Iterable[Measurement],
    workers: Workers,
    progress: Progress,
    homes: Homes,
    keep: Callable[[str, Measured], None] = nothing_kept,
) -> dict[str, Measured]:
    """The outcomes by name; ``keep`` is called with each as soon as it is there."""
    outcomes: dict[str, Measured] = {}
    with JobQueue(workers, progress) as job_queue:
        job_queue.add(_job(measurement, homes) for measurement in measurements)
        for job, outcome in job_queue.finished():
            today = datetime.date.today().isoformat()
            measured = msgspec.structs.replace(_measured(outcome), date=today)
            outcomes[job.key] = measured
            keep(job.key, measured)
    return outcomes


def _job(measurement: Measurement, homes: Homes) -> Job:
    kinds = SHARED.get(measurement.kind, (measurement.kind,))
    return Job(
        key=measurement.name,
        stage="measurements",
        kinds=tuple(at_home(kind, homes) for kind in kinds),
        target=TARGET,
        request=measurement,
        reply=Measured,
    )


def _measured(outcome: JobOutcome) -> Measured:
    if isinstance(outcome, MissingFrameworkError):
        return Measured(outcome="unsupported", error=Failure(MISSING_FRAMEWORK, str(outcome)))
    if isinstance(outcome, Lost):
        return Measured(outcome=outcome.outcome, error=outcome.failure)
    measured: Measured = outcome
    return measured
