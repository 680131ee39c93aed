"""Runs measurements in workers; whatever becomes of one is its outcome."""

from collections.abc import Iterable

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError
from explorer.model.measurement import Measured, Measurement
from explorer.model.results import MISSING_FRAMEWORK, Failure
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome, Progress, carry_out, no_progress
from explorer.workers.workers import Workers

SHARED: dict[WorkerKind, tuple[WorkerKind, ...]] = {"mindspore": ("mindspore", "mindspore-second")}
"""Kinds of worker that have a second one beside them: their measurements are shared out among both.

MindSpore compiles, and takes as long as all other kinds together.
"""


def measure(
    measurements: Iterable[Measurement], workers: Workers, progress: Progress = no_progress
) -> dict[str, Measured]:
    """Run every measurement in the worker of its kind, kinds side by side; the outcomes by name.

    Outcomes are in the order of the measurements. A missing framework, a crash, a timeout and an
    exception are outcomes of the measurement concerned. Raises ValueError when two measurements
    that differ have one name.
    """
    # Claims share measurements; each is run once.
    wanted: dict[str, Measurement] = {}
    for measurement in measurements:
        known = wanted.setdefault(measurement.name, measurement)
        if known != measurement:
            raise ValueError(
                f"two measurements are called {measurement.name}: {known} and {measurement}"
            )
    outcomes = carry_out(map(_job, wanted.values()), workers, progress)
    return {name: _measured(outcome) for name, outcome in outcomes.items()}


def _job(measurement: Measurement) -> Job:
    return Job(
        key=measurement.name,
        stage="measurements",
        kinds=SHARED.get(measurement.kind, (measurement.kind,)),
        target="explorer.topics.in_worker:run",
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
