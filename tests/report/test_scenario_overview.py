"""What a person is told of a report: who says what, notes said once, and the summary."""

import re

import msgspec
import numpy as np
import pytest

from explorer.compare.results.verdicts import judge
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import CaseVerdict, Report
from explorer.model.results import LeafNoise, OracleResult, Outcome, Result, ResultNoise
from explorer.report.scenario.case_rows import CaseRow, case_row
from explorer.report.scenario.page import Cases, cases_of
from explorer.report.schemas import report_document
from explorer.report.wording import NOTHING
from explorer.words.cases import summary, summary_of
from explorer.words.oracle import oracle_summary
from tests.support.sample_report import case_report, report


def row_of(whole: Cases, call: str) -> CaseRow:
    """The row of a call among the cases of ``grad``."""
    for row in whole.groups[0].rows:
        if row.call == call:
            return row
    raise AssertionError(f"no row has the call {call}")


def test_one_line_a_case_where_all_agree() -> None:
    rows = [row for group in cases_of(report(foreseen=False)).groups for row in group.rows]
    assert len(rows) == 80
    assert rows[6].value == "[[4, 6, 8]]"
    # What must fail says so once.
    assert [row.call for row in rows if row.statements] == ["None"]
    failing = [row.value for row in rows if row.verdict == "all raise"]
    assert failing == ["", *["as grad(None)"] * 3]


def test_engines_that_differ_speak_together_where_they_say_the_same() -> None:
    row = row_of(cases_of(report()), "1")
    assert [(statement.who, statement.text) for statement in row.statements[:2]] == [
        ("both graph engines", "-2"),
        ("both tape engines", "-4"),
    ]
    assert (row.verdict, row.state, row.value) == ("differs", "foreseen", "")


def test_differing_values_that_read_alike_get_more_digits() -> None:
    near = case_report(GradCase("grad", 0), wrong="torch-tape", factor=1 + 2**-19)
    still = ResultNoise((LeafNoise("dx", pack(np.zeros((1, 3), np.float32))),), runs=3)
    differing = judge(
        near.case, near.results, near.oracle, noise=dict.fromkeys(near.results, still)
    )
    assert differing.verdict == "differs"
    (row,) = cases_of(msgspec.structs.replace(report(), cases=(differing,))).groups[0].rows
    assert [(statement.who, statement.text) for statement in row.statements[:2]] == [
        ("all but torch-tape", "[[4, 6, 8]]"),
        ("torch-tape", "[[4.00000763, 6.00001144, 8.00001526]]"),
    ]


def test_an_unexpected_difference_is_an_alarm_with_its_place() -> None:
    whole = cases_of(report(unexpected=True))
    row = row_of(whole, "(0,)")
    assert row.state == "alarm"
    assert "dx[0, 2]: 0.008" in row.statements[-1].text
    # A thousandth, where nothing was measured: 8 units of 2**-24 for each of two sides.
    assert "1,500 × the noise of" in row.statements[-1].text
    assert row.greatest == "0.008, 1,500 × the noise"
    assert whole.notes[row.notes[0] - 1].startswith("not as expected: ")


@pytest.mark.parametrize(
    ("agrees", "expected", "state"),
    [(True, True, "good"), (False, True, "foreseen"), (False, False, "alarm")],
)
def test_engines_that_agree_against_the_oracle_are_foreseen_or_an_alarm(
    agrees: bool, expected: bool, state: str
) -> None:
    case = case_report(GradCase("grad", 0))
    assert case.verdict == "match"
    told = msgspec.structs.replace(case, oracle_agrees=agrees, expected=expected)
    assert case_row(told).state == state


def test_the_summary_counts_every_case_once() -> None:
    line = summary(report(unexpected=True))
    total, *counts = map(int, re.findall(r"\d+", line))
    assert total == sum(counts[:-1]) == 80
    assert "4 raise in every engine (as required)" in line
    assert summary(report()).endswith("; all as expected")


def summary_of_one(case: GradCase, **outcomes: Outcome) -> str:
    """The summary of a report on one case, in which these engines have no answer."""
    answered = case_report(case)
    results = dict(answered.results)
    for name, outcome in outcomes.items():
        results[name.replace("_", "-")] = Result(outcome=outcome)
    judged = judge(case, results, answered.oracle)
    return summary(msgspec.structs.replace(report(), cases=(judged,)))


def test_a_match_of_one_framework_alone_is_counted_as_just_that() -> None:
    case = GradCase("grad", 0)
    assert summary_of_one(case) == "1 case: 1 matches; all as expected"
    assert summary_of_one(case, torch_tape="crashed") == "1 case: 1 matches; 1 unexpected"
    alone = summary_of_one(case, torch_tape="timed_out", torch_graph="timed_out")
    assert alone == "1 case: 1 matches within the only framework that answered; 1 unexpected"


def test_a_report_without_a_gradient_that_could_be_compared_says_so() -> None:
    assert summary_of_one(GradCase("grad", None)).endswith("; no gradient was compared")
    lost: dict[str, Outcome] = dict.fromkeys(
        ("mindspore_graph", "mindspore_tape", "torch_graph"), "unsupported"
    )
    assert summary_of_one(GradCase("grad", 0), **lost).endswith("; no gradient was compared")
    del lost["torch_graph"]
    assert "no gradient" not in summary_of_one(GradCase("grad", 0), **lost)


def with_drawn(*drawn: str, verdict: CaseVerdict = "match") -> Report:
    """A report on one case, in which some leaves depend on random numbers."""
    case = msgspec.structs.replace(
        case_report(GradCase("grad", (0, 1))), drawn=drawn, verdict=verdict, oracle_agrees=None
    )
    return msgspec.structs.replace(report(), cases=(case,))


def test_what_is_drawn_stands_in_the_place_of_its_values_and_a_note_says_what_it_means() -> None:
    whole = cases_of(with_drawn("dx"))
    (row,) = whole.groups[0].rows
    assert (row.value, row.verdict) == ("(drawn, -2)", "match")
    assert "values are not, and the oracle" in whole.notes[row.notes[0] - 1]
    assert "drawn: what depends on random numbers" in whole.notes[row.notes[0] - 1]
    assert report_document(with_drawn("dx"))["cases"][0]["drawn"] == ["dx"]


def test_a_case_of_which_everything_is_drawn_is_counted_as_such() -> None:
    report_drawn = with_drawn("dx", "dy", verdict="drawn")
    (row,) = cases_of(report_drawn).groups[0].rows
    assert (row.value, row.verdict, row.state) == ("(drawn, drawn)", "drawn", "idle")
    assert (row.greatest, row.oracle) == (NOTHING, "drawn")
    assert "1 depends on random numbers" in summary(report_drawn)
    line = oracle_summary(report_drawn.cases)
    assert "does not apply" not in line
    assert "random directions" not in line


def test_the_oracle_s_line_says_what_it_leaves_out_and_what_it_holds() -> None:
    case = case_report(GradCase("grad", 0))
    kinked = [msgspec.structs.replace(part, kinks=part.value) for part in case.oracle.estimates]
    oracle = OracleResult("ok", tuple(kinked), stops=True)
    bent = msgspec.structs.replace(case, oracle=oracle)
    line = oracle_summary((case, bent))
    assert "agrees on every element in 1," in line
    assert "agrees but at kinks, which have no derivative, in 1;" in line
    assert line.endswith("; values detached in PyTorch's net are treated as constants")
    assert "constant" not in oracle_summary(report().cases)
    # Where it is silent in every case, it says why.
    why = Failure("UsageError", "the net is no function")
    raised = OracleResult("raised", error=why)
    silent = msgspec.structs.replace(case, oracle=raised, oracle_agrees=None)
    assert oracle_summary((silent,)).endswith("does not apply to 1; the net is no function")
    assert "no function" not in oracle_summary((case, silent))


def test_a_part_of_the_cases_is_counted_by_itself_and_said_to_be_a_part() -> None:
    whole = report(unexpected=True)
    assert summary_of(whole.cases, whole) == summary(whole)
    part = [case for case in whole.cases if case.verdict == "match"]
    count = len(part)
    assert 0 < count < 80
    assert summary_of(part, whole) == f"{count} of 80 cases: {count} match; all as expected"
    unexpected = [case for case in whole.cases if not case.expected]
    assert summary_of(unexpected, whole).endswith(f" differ; {len(unexpected)} unexpected")
    assert summary_of([], whole) == "0 of 80 cases"
