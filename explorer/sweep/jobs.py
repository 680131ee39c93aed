"""The jobs of a sweep: planned from names, patterns and folders, and run.

A sweep calls ``in_own_process()``: a scenario's text is run where it is loaded, and what it
does to that process, by an exit or a crash, must not reach the sweep.
"""

import fnmatch
import glob
import math
import platform
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from explorer.exploration.installed import versions_here
from explorer.exploration.options import RunOptions, Wanted
from explorer.exploration.stored import explored, stored_report
from explorer.model.engines import STANDARD
from explorer.model.environments import NO_HOMES, Homes, at_home
from explorer.model.errors import (
    ExplorerError,
    MissingFrameworkError,
    UsageError,
    WorkerFaultError,
)
from explorer.model.failures import Failure
from explorer.model.report import CaseReport, Report
from explorer.model.results import LOST, Result
from explorer.scenario.find import all_scenarios, names, real_names
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.sweep.records import JobResult, Problem, SweepJob, SweepVerdict
from explorer.sweep.rows import missing
from explorer.text.choices import refusal
from explorer.text.language import _
from explorer.topics import STUDIES, study_topic
from explorer.topics.studies import refused_by_some, stored_study, study, target
from explorer.words.messages import study_text
from explorer.workers.workers import REQUEST_SECONDS, Workers

CLOSING_SECONDS = 10.0
"""Seconds that a job gets beyond its limit to compare and report the results it has."""


# Planning


def scenarios_called(patterns: Iterable[str]) -> dict[str, Path]:
    """The scenarios that names, patterns, files and folders match, each once, in the order given.

    A pattern is matched with the shipped names ("conv*", "real/*") and with paths ("nets/*.py"); a
    folder matches all scenarios in it. Without any, all shipped ones outside "real/". Raises
    UsageError for one that matches nothing.
    """
    patterns = list(patterns)
    if not patterns:
        return names()
    found: dict[str, Path] = {}
    for pattern in patterns:
        matches = dict(_matches(pattern))
        if not matches:
            text = _(
                "{pattern} matches neither a shipped scenario, nor a .py file, nor a folder of them"
            )
            fact = text.format(pattern=repr(pattern))
            known_names = [*names(), *real_names()]
            see = all_scenarios(len(known_names))
            raise UsageError(refusal(fact, pattern, known_names, see))
        # By path: two patterns may match one file.
        known = set(found.values())
        found.update({name: path for name, path in matches.items() if path not in known})
    return found


def _matches(pattern: str) -> Iterator[tuple[str, Path]]:
    shipped = {**names(), **real_names()}
    for name in fnmatch.filter(shipped, pattern):
        yield name, shipped[name]
    for place in sorted(glob.glob(pattern, recursive=True)):
        path = Path(place)
        files = [path]
        if path.is_dir():
            files = sorted(path.glob("*.py"))
        for file in files:
            if file.suffix == ".py" and not file.name.startswith("_"):
                # As it was given: two files of one name differ by their folders.
                yield str(file), file.resolve()


def jobs(
    patterns: Iterable[str],
    *,
    studies: bool = False,
    device: str = "cpu",
    fresh: bool = False,
    timeout: float,
    request_timeout: float | None = None,
    homes: Homes = NO_HOMES,
) -> list[SweepJob]:
    """A job for each scenario, and with ``studies`` one for each study that takes a scenario as well.

    The engines of a framework that ``homes`` names run in that environment. Raises UsageError for a
    pattern that matches nothing, and for an unknown device.
    """
    RunOptions(device=device).check()
    wanted = Wanted(device=device, engines=tuple(at_home(name, homes) for name in STANDARD))
    kinds = [""]
    if studies:
        kinds += [name for name in STUDIES if study_topic(name).default_scenario is not None]
    planned = []
    for name, path in scenarios_called(patterns).items():
        for kind in kinds:
            job = SweepJob(
                scenario=name,
                file=str(path),
                study=kind,
                wanted=wanted,
                fresh=fresh,
                timeout=timeout,
                request_timeout=request_timeout,
            )
            planned.append(job)
    return planned


# Running


def workers_for(job: SweepJob) -> Workers:
    """Workers in which in_own_process() can run a job; closing them ends it."""
    return Workers(job_seconds=job.timeout + CLOSING_SECONDS, request_seconds=math.inf)


def in_own_process(job: SweepJob, workers: Workers) -> JobResult:
    """The result of a job that is run in a separate process, even if that process dies."""
    start = time.perf_counter()
    try:
        reply = workers.call("sweep", "explorer.sweep.jobs:run", job, JobResult)
    except (MissingFrameworkError, WorkerFaultError) as error:
        problem = Problem(kind="died", failure=Failure("crashed", str(error)))
    else:
        if isinstance(reply, JobResult):
            return reply
        problem = Problem(kind="died", failure=reply.failure)
        if reply.outcome == "timed_out":
            problem = Problem(kind="timed_out", seconds=job.timeout)
    return without_results(job, "lost", problem, time.perf_counter() - start)


def without_results(
    job: SweepJob, verdict: SweepVerdict, problem: Problem, seconds: float = 0.0
) -> JobResult:
    """The result of a job that found nothing, with the reason."""
    return JobResult(
        scenario=job.scenario,
        study=job.study,
        verdict=verdict,
        problem=problem,
        seconds=seconds,
        host=platform.node(),
    )


def run(job: SweepJob) -> JobResult:
    """The result of a job, run in this process and in workers of its own."""
    start = time.perf_counter()
    try:
        result = _study(job) if job.study else _scenario(job)
    except ExplorerError as error:
        verdict: SweepVerdict = "refused" if isinstance(error, UsageError) else "lost"
        result = without_results(job, verdict, Problem(kind="refused", text=str(error)))
    seconds = time.perf_counter() - start
    return msgspec.structs.replace(result, seconds=seconds, host=platform.node())


def _scenario(job: SweepJob) -> JobResult:
    scenario = load(job.file)
    store = Store(fresh=job.fresh)
    seconds = job.request_timeout or REQUEST_SECONDS
    known = stored_report(scenario, job.wanted, store, seconds)
    with Workers(seconds, job.timeout) as workers:
        report = known or explored(scenario, job.wanted, workers, store)
    return result_of(report, job, from_store=known is not None)


def result_of(report: Report, job: SweepJob, *, from_store: bool) -> JobResult:
    """The result of a job that made a report on a scenario."""
    verdict: SweepVerdict = "as_expected" if report.is_as_expected else "different"
    if missing(report):
        verdict = "lost"
    return JobResult(
        scenario=job.scenario,
        study="",
        verdict=verdict,
        report=_in_short(report),
        versions=report.versions,
        from_store=from_store,
    )


def _in_short(report: Report) -> Report:
    """A report without arrays and graphs, of which a sweep may have hundreds."""
    replace = msgspec.structs.replace
    cases: list[CaseReport] = []
    for case in report.cases:
        results: dict[str, Result] = {}
        for name, result in case.results.items():
            results[name] = Result(outcome=result.outcome, error=result.error)
        oracle = replace(case.oracle, estimates=())
        cases.append(replace(case, results=results, oracle=oracle))
    return replace(
        report,
        inputs=(),
        parameters=(),
        cases=tuple(cases),
        graphs=(),
        alignments=tuple(replace(pair, pairs=(), unpaired=()) for pair in report.alignments),
    )


def _study(job: SweepJob) -> JobResult:
    topic = study_topic(job.study)
    store = Store(fresh=job.fresh)
    load(job.file)  # a file that is not a scenario is rejected, whatever the study
    try:
        subject = target(topic, job.file, job.wanted.device)
    except UsageError as error:
        return without_results(job, "unsupported", Problem(kind="refused", text=str(error)))
    known = stored_study(topic, subject, store)
    with Workers(job.request_timeout or topic.seconds, job.timeout) as workers:
        record = known or study(topic, subject, workers, store=store)
        versions = versions_here(workers, store)
    verdict: SweepVerdict = "measured"
    problem: Problem | None = None
    lost = [name for name, measured in record.measured.items() if measured.outcome in LOST]
    if lost:
        verdict, problem = "lost", Problem(kind="no_result", names=tuple(lost))
    else:
        for name, message in refused_by_some(topic, subject, record).items():
            verdict = "different"
            problem = Problem(kind="rejected", names=(name,), text=message)
            break
    return JobResult(
        scenario=job.scenario,
        study=job.study,
        verdict=verdict,
        problem=problem,
        from_store=known is not None,
        findings=study_text(record).findings,
        versions=versions,
    )
