"""The installed versions and the usable devices, as each framework's worker reports them."""

from collections.abc import Mapping

from explorer.model.engines import FRAMEWORKS, Framework, WorkerKind
from explorer.model.errors import MissingFrameworkError
from explorer.model.requests import Nothing
from explorer.model.results import MISSING_FRAMEWORK, About, Failure
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, Progress, carry_out, no_progress
from explorer.workers.workers import Workers


def about(workers: Workers) -> dict[Framework, About | Failure]:
    """The report of each framework's worker; a Failure where there is none."""
    return {framework: about_framework(workers, framework) for framework in FRAMEWORKS}


STARTING = "workers started"
"""The stage of workers that import their framework."""


def start(
    workers: Workers, kinds: Mapping[WorkerKind, Framework], progress: Progress = no_progress
) -> None:
    """Let workers import their framework side by side; about_framework() says if one cannot."""
    jobs = []
    for kind, framework in kinds.items():
        target = f"explorer.engines.{framework}.about:about"
        jobs.append(Job(kind, STARTING, (kind,), target, Nothing(), About))
    carry_out(jobs, workers, progress)


def about_framework(workers: Workers, framework: Framework) -> About | Failure:
    """The report of one framework's worker.

    A Failure, of type MISSING_FRAMEWORK or of a lost worker's outcome, where it says nothing.
    """
    try:
        reply = workers.call(
            framework, f"explorer.engines.{framework}.about:about", Nothing(), About
        )
    except MissingFrameworkError as error:
        return Failure(MISSING_FRAMEWORK, str(error))
    if isinstance(reply, Lost):
        return reply.failure
    return reply


def versions_here(workers: Workers) -> dict[str, str]:
    """The versions of all packages that the workers name; of a missing framework there are none."""
    versions: dict[str, str] = {}
    for reply in about(workers).values():
        if isinstance(reply, About):
            versions.update(reply.versions)
    return versions
