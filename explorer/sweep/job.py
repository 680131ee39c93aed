"""Runs one job of a sweep and summarizes it in a row.

A sweep calls ``in_own_process()``: a scenario's text is run where it is loaded, and what it
does to that process, by an exit or a crash, must not reach the sweep.
"""

import math
import platform
import time
from collections.abc import Iterator

import msgspec

from explorer.exploration.about import versions_here
from explorer.exploration.stored import explored, stored_report
from explorer.model.alignment import Alignment, Coverage
from explorer.model.errors import (
    ExplorerError,
    MissingFrameworkError,
    UsageError,
    WorkerFaultError,
)
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.scenario.load import load
from explorer.store.store import Store
from explorer.sweep.records import PairRow, SweepJob, SweepRow, SweepVerdict
from explorer.text.language import ENGLISH, said_in
from explorer.text.numbers import counted
from explorer.topics import study_topic
from explorer.topics.studying import refused_by_some, stored_study, study, target
from explorer.words.answers import why_left_out
from explorer.words.cases import reason
from explorer.words.divergences import divergences, first_divergence
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph
from explorer.words.messages import study_text
from explorer.workers.protocol import Lost
from explorer.workers.workers import REQUEST_SECONDS, Workers

CLOSING_SECONDS = 10.0
"""Seconds that a job gets beyond its limit to compare and report the results it has."""


def workers_for(job: SweepJob) -> Workers:
    """Workers in which in_own_process() can run a job; closing them ends it."""
    return Workers(job_seconds=job.timeout + CLOSING_SECONDS, request_seconds=math.inf)


def in_own_process(job: SweepJob, workers: Workers) -> SweepRow:
    """The row of a job that is run in a separate process, even if that process dies."""
    start = time.perf_counter()
    try:
        reply = workers.call("sweep", "explorer.sweep.job:run", job, SweepRow)
    except (MissingFrameworkError, WorkerFaultError) as error:
        reply = Lost("crashed", str(error))
    if isinstance(reply, SweepRow):
        return reply
    reason = reply.detail
    if reply.outcome == "timed_out":
        reason = f"not finished within {job.timeout:g} s; raise --timeout to wait longer"
    return lost(job, reason, time.perf_counter() - start)


def lost(job: SweepJob, reason: str, seconds: float = 0.0) -> SweepRow:
    """The row of a job without results, with the reason."""
    return SweepRow(
        scenario=job.scenario,
        study=job.study,
        verdict="lost",
        reason=reason,
        seconds=seconds,
        host=platform.node(),
    )


def run(job: SweepJob) -> SweepRow:
    """The row of a job, run in this process and in workers of its own."""
    start = time.perf_counter()
    try:
        row = _study(job) if job.study else _scenario(job)
    except ExplorerError as error:
        verdict: SweepVerdict = "refused" if isinstance(error, UsageError) else "lost"
        row = SweepRow(scenario=job.scenario, study=job.study, verdict=verdict, reason=str(error))
    seconds = time.perf_counter() - start
    return msgspec.structs.replace(row, seconds=seconds, host=platform.node())


def _scenario(job: SweepJob) -> SweepRow:
    scenario = load(job.file)
    store = Store(fresh=job.fresh)
    known = stored_report(scenario, job.wanted, store)
    with Workers(job.request_timeout or REQUEST_SECONDS, job.timeout) as workers:
        report = known or explored(scenario, job.wanted, workers, store)
    return row_of_report(report, job, from_store=known is not None)


def _study(job: SweepJob) -> SweepRow:
    topic = study_topic(job.study)
    store = Store(fresh=job.fresh)
    load(job.file)  # a file that is not a scenario is rejected, whatever the study
    try:
        subject = target(topic, job.file, job.wanted.device)
    except UsageError as error:
        return _unsupported(job, error)
    known = stored_study(topic, subject, store)
    with Workers(job.request_timeout or topic.seconds, job.timeout) as workers:
        record = known or study(topic, subject, workers, store=store)
        versions = versions_here(workers, store)
    lost = [name for name, measured in record.measured.items() if measured.outcome in LOST]
    refused = [f"{name}: {why}" for name, why in refused_by_some(topic, subject, record).items()]
    verdict: SweepVerdict = "measured"
    reason = ""
    if lost:
        verdict, reason = "lost", f"no result for {', '.join(lost)}"
    elif refused:
        verdict, reason = "different", refused[0]
    return SweepRow(
        scenario=job.scenario,
        study=job.study,
        verdict=verdict,
        reason=reason,
        from_store=known is not None,
        findings=study_text(record).findings,
        versions=versions,
    )


def _unsupported(job: SweepJob, error: UsageError) -> SweepRow:
    """The row of a study that cannot be run on a scenario."""
    return SweepRow(
        scenario=job.scenario, study=job.study, verdict="unsupported", reason=str(error)
    )


@said_in(ENGLISH)
def row_of_report(report: Report, job: SweepJob, *, from_store: bool) -> SweepRow:
    """The row that summarizes a scenario's report."""
    verdict: SweepVerdict = "as_expected" if report.is_as_expected else "different"
    missing = _missing(report)
    if missing:
        verdict = "lost"
    return SweepRow(
        scenario=job.scenario,
        study="",
        verdict=verdict,
        reason=missing or _first_unexpected(report),
        from_store=from_store,
        cases={case.case.label: case.verdict for case in report.cases},
        unanswered=tuple(_unanswered(report)),
        unexpected=_unexpected_cases(report),
        pairs={f"{pair.left} · {pair.right}": _pair(pair) for pair in report.alignments},
        findings=tuple(_findings(report)),
        versions=report.versions,
    )


def _findings(report: Report) -> Iterator[str]:
    """The findings on the nets, and which graphs are missing."""
    for finding in report.findings:
        yield finding_sentence(finding)
    for engine, problem in report.ungraphed.items():
        yield f"no graph of {engine}: {why_no_graph(problem)}"


def _missing(report: Report) -> str:
    """The first result that is missing, and why; "" if all are there."""
    for left_out in report.left_out:
        if left_out.cause != "selected":
            return f"{counted(len(left_out.cases), 'case')} not run: {why_left_out(left_out)}"
    for case in report.cases:
        for engine, result in case.results.items():
            if result.outcome in LOST:
                detail = result.error.message if result.error else result.outcome
                return f"{case.case.label}: {engine}: {detail}"
    for engine in report.lost_graphs:
        return f"no graph of {engine}: {why_no_graph(report.ungraphed[engine])}"
    return ""


def _unanswered(report: Report) -> Iterator[str]:
    """The cases for which an engine's result is missing."""
    for case in report.cases:
        outcomes = {result.outcome for result in case.results.values()}
        if not outcomes.isdisjoint((*LOST, "not_asked")):
            yield case.case.label


def _unexpected_cases(report: Report) -> dict[str, str]:
    """The reasons why cases are unexpected, by their labels."""
    reasons = {}
    for case in report.cases:
        if not case.expected:
            reasons[case.case.label] = reason(case) or case.verdict
    return reasons


def _first_unexpected(report: Report) -> str:
    """The first unexpected result: a finding, a divergence or a case."""
    for finding in report.findings:
        if finding.is_alarm:
            return finding_sentence(finding)
    for alignment in report.alignments:
        if not alignment.expected and alignment.divergence:
            return f"{alignment.left} · {alignment.right}: {first_divergence(alignment)}"
    for label, why in _unexpected_cases(report).items():
        return f"{label}: {why}"
    return ""


def _pair(alignment: Alignment) -> PairRow:
    return PairRow(
        left=_paired(alignment.left_coverage),
        right=_paired(alignment.right_coverage),
        divergences=tuple(divergences(alignment)),
        expected=alignment.expected,
    )


def _paired(coverage: Coverage) -> str:
    whole = coverage.whole
    return f"{whole.paired + whole.inside}/{whole.total}"
