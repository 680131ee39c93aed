"""Trials of which one ends its worker: they are made again in parts, and all but that one are kept."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from explorer.exploration.jobs import PartKey
from explorer.model.causes import Trial, TrialsRequest, Tried
from explorer.model.graph import Output
from explorer.model.mended import MendedRequest, MendedRun
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome

PARTS = 8
"""Into so many parts trials are divided."""

MOST_LOST = 16
"""So many workers are lost at most over the trials of one job."""

Outputs = tuple[tuple[Output, ...], ...]
"""The outputs of each of some trials."""

Make = Callable[[list[Job]], Mapping[PartKey, JobOutcome]]
"""Carries out jobs, and has their outcomes by key."""


def ended_its_worker(job: Job, outcome: JobOutcome) -> bool:
    """Whether the worker of a job with trials was lost over it, and not for lack of time."""
    return bool(_trials(job)) and _is_crash(outcome)


def made_in_parts(job: Job, lost: JobOutcome, make: Make) -> JobOutcome:
    """The outcome of a job whose worker was lost, with what came of the trials that do not end one.

    Where it is lost without any trial, or too often, the rest stays as it is.
    """
    count = len(_trials(job))
    made: dict[int, Outputs] = {}
    run: MendedRun | None = None
    waiting = [_part(job, 0, 0)] if isinstance(job.request, MendedRequest) else []
    waiting += _divided(job, 0, count)
    losses = 0
    while waiting and losses < MOST_LOST:
        outcomes = make(waiting)
        following: list[Job] = []
        for part in waiting:
            key, outcome = part.key, outcomes.get(part.key)
            if _is_crash(outcome):
                losses += 1
                if key.begin == key.end:
                    return lost  # it is not the trials
                if key.end - key.begin > 1:
                    following += _divided(job, key.begin, key.end)
            elif isinstance(outcome, (Tried, MendedRun)):
                made[key.begin] = outcome.outputs if isinstance(outcome, Tried) else outcome.tried
                run = outcome if isinstance(outcome, MendedRun) else run
        waiting = following
    outputs = _joined(made, count)
    if isinstance(job.request, TrialsRequest):
        return Tried(outputs)
    return msgspec.structs.replace(run, tried=outputs) if run else lost


def _trials(job: Job) -> tuple[Trial, ...]:
    """The trials of a job; none of one of another kind."""
    request = job.request
    return request.trials if isinstance(request, (TrialsRequest, MendedRequest)) else ()


def _is_crash(outcome: JobOutcome) -> bool:
    return isinstance(outcome, Lost) and outcome.outcome == "crashed" and not outcome.is_fault


def _divided(job: Job, begin: int, end: int) -> list[Job]:
    """The trials between two places, in parts of nearly one size."""
    step = max(1, -(-(end - begin) // PARTS))
    return [_part(job, at, min(at + step, end)) for at in range(begin, end, step)]


def _part(job: Job, begin: int, end: int) -> Job:
    request: Any = msgspec.structs.replace(job.request, trials=_trials(job)[begin:end])
    return replace(job, key=PartKey(job.key, begin, end), request=request)


def _joined(made: Mapping[int, Outputs], count: int) -> Outputs:
    """The outputs of all trials in their order; () of those that were not made."""
    joined: list[tuple[Output, ...]] = [()] * count
    for begin, outputs in made.items():
        joined[begin : begin + len(outputs)] = outputs
    return tuple(joined)
