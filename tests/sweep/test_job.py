"""The row that tells a scenario's report."""

import msgspec
import pytest

from explorer.compare.results.verdicts import judge
from explorer.model.alignment import Alignment, Count, Coverage
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import CaseReport, Report
from explorer.model.results import OracleResult, Outcome, Result
from explorer.sweep.jobs import result_of, without_results
from explorer.sweep.records import JobResult, Problem, SweepJob, SweepRow
from explorer.sweep.rows import row_of
from explorer.text.language import said_in
from explorer.words.cases import reason
from explorer.words.divergences import first_divergence
from tests.support.sample_report import DIVERGENCE, alignment, case_report, report

JOB = SweepJob(scenario="dense_mse", file="dense_mse.py", timeout=60)


def row_of_report(report: Report, job: SweepJob, *, from_store: bool) -> SweepRow:
    """The row of a job that made a report."""
    return row_of(result_of(report, job, from_store=from_store))


def report_on(*cases: CaseReport, alignments: tuple[Alignment, ...] = ()) -> Report:
    """A report on some cases and pairs of graphs."""
    return msgspec.structs.replace(report(), cases=cases, alignments=alignments)


@pytest.mark.parametrize(
    ("outcome", "is_unanswered"),
    [
        ("crashed", True),
        ("timed_out", True),
        ("not_asked", True),
        ("raised", False),
        ("unsupported", False),
        ("not_defined", False),
    ],
)
def test_a_case_that_an_engine_was_asked_in_vain_is_named(
    outcome: Outcome, is_unanswered: bool
) -> None:
    whole = report(foreseen=False)
    case = whole.cases[6]
    result = msgspec.structs.replace(
        case.results["torch-tape"], outcome=outcome, error=Failure("Lost", "signal 11")
    )
    changed = msgspec.structs.replace(case, results={**case.results, "torch-tape": result})
    cases = (*whole.cases[:6], changed, *whole.cases[7:])
    row = row_of_report(msgspec.structs.replace(whole, cases=cases), JOB, from_store=False)
    assert row.unanswered == ((case.case.label,) if is_unanswered else ())
    assert row_of_report(whole, JOB, from_store=False).unanswered == ()


def test_the_reason_is_what_is_unexpected_and_no_divergence_that_is_foreseen() -> None:
    case = case_report(GradCase("grad", (0,)), wrong="torch-graph")
    foreseen = alignment("torch-tape", "torch-graph", DIVERGENCE)
    whole = report_on(case, alignments=(foreseen,))
    row = row_of_report(whole, JOB, from_store=False)
    assert (row.verdict, row.reason) == ("different", f"{case.case.label}: {reason(case)}")
    unforeseen = msgspec.structs.replace(foreseen, expected=False)
    row = row_of_report(report_on(case, alignments=(unforeseen,)), JOB, from_store=False)
    assert row.reason == f"torch-tape · torch-graph: {first_divergence(unforeseen)}"


def test_every_case_that_is_not_as_expected_is_named_whatever_its_verdict() -> None:
    alike = case_report(GradCase("grad", 0))
    refuted = msgspec.structs.replace(alike, expected=False, reason="the oracle disagrees")
    results = {**alike.results, "torch-graph": Result(outcome="raised", error=Failure("E", "no"))}
    raising = judge(GradCase("grad", 1), results, OracleResult("not_defined"))
    apart = case_report(GradCase("grad", (0,)), wrong="torch-graph")
    row = row_of_report(report_on(alike, raising, apart), JOB, from_store=False)
    assert row.unexpected == {each.case.label: reason(each) for each in (raising, apart)}
    assert [row.cases[label] for label in row.unexpected] == ["some_raise", "differs"]
    row = row_of_report(report_on(refuted), JOB, from_store=False)
    assert row.cases == {alike.case.label: "match"}
    assert row.unexpected == {alike.case.label: "the oracle disagrees"}


def test_nodes_inside_those_of_the_other_side_count_as_paired() -> None:
    inside = Coverage(forward=Count(paired=1, inside=1), backward=Count(unpaired=1))
    pair = msgspec.structs.replace(alignment("torch-tape", "torch-graph"), left_coverage=inside)
    row = row_of_report(report_on(alignments=(pair,)), JOB, from_store=False)
    told = row.pairs["torch-tape · torch-graph"]
    assert (told.left, told.right) == ("2/3", "2/2")


def test_a_result_has_no_arrays_and_the_same_row_as_the_whole_report() -> None:
    whole = report(foreseen=False)
    result = result_of(whole, JOB, from_store=False)
    assert result.report is not None
    short = result.report
    assert (short.graphs, short.inputs, short.parameters) == ((), (), ())
    for case in result.report.cases:
        assert not any(answer.leaves for answer in case.results.values())
    assert row_of(msgspec.structs.replace(result, report=whole)) == row_of(result)
    sent = msgspec.msgpack.encode(result)
    assert msgspec.msgpack.decode(sent, type=JobResult) == result


def test_a_row_is_in_the_reader_s_language() -> None:
    pair = alignment("torch-tape", "torch-graph", DIVERGENCE)
    unforeseen = msgspec.structs.replace(pair, expected=False)
    result = result_of(report_on(alignments=(unforeseen,)), JOB, from_store=False)
    with said_in("zh"):
        row = row_of(result)
    assert "首个分歧点" in row.reason
    assert row.pairs["torch-tape · torch-graph"].divergences[0] in row.reason
    assert "First divergence" in row_of(result).reason


@pytest.mark.parametrize(
    ("problem", "english", "chinese"),
    [
        (
            Problem(kind="timed_out", seconds=20),
            "not finished within 20 s; raise --timeout to wait longer",
            "未在 20 秒内完成；可增大 --timeout",
        ),
        (Problem(kind="no_result", names=("a", "b")), "no result for a, b", "没有 a, b 的结果"),
        (Problem(kind="rejected", names=("a",), text="no"), "a: no", "a: no"),
        (Problem(kind="died", text="signal 9"), "signal 9", "signal 9"),
    ],
)
def test_a_job_without_results_says_why(problem: Problem, english: str, chinese: str) -> None:
    result = without_results(JOB, "lost", problem)
    assert row_of(result).reason == english
    with said_in("zh"):
        assert row_of(result).reason == chinese


def test_a_row_says_which_graphs_are_missing_and_why() -> None:
    row = row_of_report(report(), JOB, from_store=False)
    (missing,) = [finding for finding in row.findings if "no graph of" in finding]
    assert missing.startswith("no graph of torch-graph: ")
    assert "control flow on values" in missing
