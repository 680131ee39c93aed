"""The rows of a sweep's report, from the results of its jobs, in the reader's language."""

from collections.abc import Iterator

from explorer.model.alignment import Alignment, Coverage
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.sweep.records import JobResult, PairRow, Problem, SweepRow
from explorer.text.failures import message
from explorer.words import sweeps as words
from explorer.words.answers import why_left_out
from explorer.words.cases import reason
from explorer.words.divergences import divergences, first_divergence
from explorer.words.findings import sentence as finding_sentence
from explorer.words.graphs import why_no_graph


def row_of(result: JobResult) -> SweepRow:
    """The row of a job."""
    reason = _problem(result.problem) if result.problem else ""
    if result.report is None:
        return SweepRow(
            scenario=result.scenario,
            study=result.study,
            verdict=result.verdict,
            reason=reason,
            seconds=result.seconds,
            from_store=result.from_store,
            findings=result.findings,
            versions=result.versions,
            host=result.host,
        )
    report = result.report
    pairs: dict[str, PairRow] = {}
    for alignment in report.alignments:
        pairs[_engines(alignment)] = _pair(alignment)
    return SweepRow(
        scenario=result.scenario,
        study=result.study,
        verdict=result.verdict,
        reason=reason or missing(report) or _first_unexpected(report),
        seconds=result.seconds,
        from_store=result.from_store,
        cases={case.case.label: case.verdict for case in report.cases},
        unanswered=tuple(_unanswered(report)),
        unexpected=_unexpected_cases(report),
        pairs=pairs,
        findings=tuple(_findings(report)),
        versions=report.versions,
        environments=report.environments,
        host=result.host,
    )


def _problem(problem: Problem) -> str:
    if problem.kind == "timed_out":
        return words.not_finished(problem.seconds)
    if problem.kind == "no_result":
        return words.no_result(problem.names)
    if problem.kind == "rejected":
        return f"{', '.join(problem.names)}: {problem.text}"
    return message(problem.failure) if problem.failure else problem.text


def _findings(report: Report) -> Iterator[str]:
    """The findings on the nets, and which graphs are missing."""
    for finding in report.findings:
        yield finding_sentence(finding)
    for engine, problem in report.ungraphed.items():
        yield words.no_graph(engine, why_no_graph(problem))


def missing(report: Report) -> str:
    """The first result that is missing, and why; "" if all are there."""
    for left_out in report.left_out:
        if left_out.cause != "selected":
            return words.not_run(len(left_out.cases), why_left_out(left_out))
    for case in report.cases:
        for engine, result in case.results.items():
            if result.outcome in LOST:
                detail = message(result.error) if result.error else result.outcome
                return f"{case.case.label}: {engine}: {detail}"
    for engine in report.lost_graphs:
        return words.no_graph(engine, why_no_graph(report.ungraphed[engine]))
    return ""


def _unanswered(report: Report) -> Iterator[str]:
    """The cases for which an engine's result is missing."""
    for case in report.cases:
        outcomes = {result.outcome for result in case.results.values()}
        if not outcomes.isdisjoint((*LOST, "not_asked")):
            yield case.case.label


def _unexpected_cases(report: Report) -> dict[str, str]:
    """The reasons why cases are unexpected, by their labels."""
    reasons: dict[str, str] = {}
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
            return f"{_engines(alignment)}: {first_divergence(alignment)}"
    for label, why in _unexpected_cases(report).items():
        return f"{label}: {why}"
    return ""


def _engines(alignment: Alignment) -> str:
    return f"{alignment.left} · {alignment.right}"


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
