"""The message of assert_same_gradients(): the cases that it lists, and the divergence that it shows."""

from typing import Literal

import msgspec
import numpy as np
import pytest

from explorer.api.assertions import LINE, MOST_CASES, assert_same_gradients, by_tensor, message
from explorer.api.results import Exploration
from explorer.compare.results.verdicts import judge
from explorer.exploration.options import Wanted
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import AnswerGroup, CaseReport, LeftOut, Report
from explorer.model.results import OracleResult, Outcome, Result
from explorer.model.trees import Branch
from explorer.report.recorded.results import recorded_report
from explorer.scenario.find import find
from explorer.scenario.load import load
from tests.support.results import answer, values
from tests.support.sample_report import DIVERGENCE, alignment, case_report, report

DIFFERENT = case_report(GradCase("grad", 0), wrong="torch-graph")


def message_of(whole: Report, **changed: object) -> list[str]:
    """The lines of the message on a report of which something is changed."""
    return message(Exploration(msgspec.structs.replace(whole, **changed))).splitlines()


@pytest.mark.parametrize(
    ("number", "rest"),
    [
        (MOST_CASES - 1, []),
        (MOST_CASES, []),
        (MOST_CASES + 1, ["  and 1 more case"]),
        (MOST_CASES + 2, ["  and 2 more cases"]),
    ],
)
def test_a_message_lists_a_few_cases_and_counts_the_rest(number: int, rest: list[str]) -> None:
    assert not DIFFERENT.expected
    _, *lines = message_of(report(), cases=(DIFFERENT,) * number, alignments=())
    listed = [line for line in lines if line.startswith("  grad(0): torch-graph differs from")]
    assert len(listed) == min(number, MOST_CASES)
    assert [line for line in lines if " more case" in line] == rest


def test_a_divergence_that_is_expected_is_not_where_the_nets_differ() -> None:
    foreseen = alignment("mindspore-graph", "torch-tape", DIVERGENCE)
    assert foreseen.expected
    lines = message_of(report(unexpected=True), alignments=(foreseen,))
    assert not [line for line in lines if "divergence" in line.lower()]
    unexpected = msgspec.structs.replace(foreseen, expected=False)
    lines = message_of(report(unexpected=True), alignments=(foreseen, unexpected))
    assert any("First divergence" in line for line in lines)


def test_gradients_that_the_oracle_alone_contradicts_are_not_said_to_differ() -> None:
    agreed = case_report(GradCase("grad", 0))
    group = AnswerGroup(tuple(agreed.results), False)
    refuted = msgspec.structs.replace(agreed, expected=False, oracle_agrees=False, groups=(group,))
    head, *lines = message_of(report(), cases=(refuted,), alignments=(), findings=())
    assert head.startswith("all engines agree on the gradients of ")
    assert "oracle=False: 1 case: 1 matches; 1 unexpected" in head
    assert [line for line in lines if "greatest by tensor" in line] == []
    both = message_of(report(), cases=(refuted, DIFFERENT), alignments=(), findings=())
    assert " differ: " in both[0]


def test_a_difference_that_the_scenario_foresees_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreseen = recorded_report(load(find("aliased_input")), Wanted())
    assert foreseen is not None
    differing = tuple(case for case in foreseen.cases if case.verdict == "differs")
    assert differing
    foreseen = msgspec.structs.replace(foreseen, cases=differing)
    monkeypatch.setattr("explorer.api.assertions.explore", lambda *_, **__: Exploration(foreseen))
    assert assert_same_gradients("aliased_input").report == foreseen


@pytest.mark.parametrize("cause", ["timed_out", "interrupted"])
def test_an_assertion_fails_where_cases_that_it_is_about_were_not_run(
    cause: Literal["timed_out", "interrupted"], monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = tuple(case for case in report().cases if case.verdict == "match")
    whole = msgspec.structs.replace(report(), cases=alike)
    skipped = LeftOut("selected", (GradCase("grad", 0),))
    left_out: tuple[LeftOut, ...] = (skipped,)

    def explored(*_: object, **__: object) -> Exploration:
        return Exploration(msgspec.structs.replace(whole, left_out=left_out))

    monkeypatch.setattr("explorer.api.assertions.explore", explored)
    assert assert_same_gradients("square").report.left_out == left_out
    left_out = (skipped, LeftOut(cause, (GradCase("grad", 0),)))
    with pytest.raises(AssertionError, match=r"were not all compared: .*\n  1 case not run: the "):
        assert_same_gradients("square")


@pytest.mark.parametrize("outcome", ["ok", "unsupported", "not_defined", "not_asked", "raised"])
def test_an_assertion_fails_where_no_two_engines_give_a_gradient(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = answer(values(), structure="dx")
    # Of engines that all raise, as they should, there is no gradient either.
    other = one if outcome == "ok" else Result(outcome=outcome)
    results = {"torch-tape": other if outcome == "raised" else one, "torch-graph": other}
    case = judge(GradCase("grad", 0), results, OracleResult("not_defined"))
    assert case.expected
    whole = msgspec.structs.replace(report(), cases=(case,), alignments=(), findings=())
    monkeypatch.setattr("explorer.api.assertions.explore", lambda *_, **__: Exploration(whole))
    if outcome == "ok":
        assert assert_same_gradients("square").report == whole
        return
    with pytest.raises(AssertionError, match="were not all compared"):
        assert_same_gradients("square")


PLACES = 40
"""Leaves of a net of twenty layers."""


def many_leaves(factor: float) -> Result:
    """The gradients of a net with many weights; those of the last layers are off by a factor."""
    names = [f"dlayers.{number}.weight" for number in range(PLACES)]
    arrays = [values() * (factor if number > 35 else 1) for number in range(PLACES)]
    return answer(*arrays, structure=Branch(tuple(names)))


def test_the_message_for_a_large_net_fits_a_screen_and_names_the_tensors_that_differ_most() -> None:
    results = {
        "mindspore-graph": many_leaves(3),
        "mindspore-tape": many_leaves(3),
        "torch-tape": many_leaves(1),
        "torch-graph": many_leaves(1),
    }
    case = judge(GradCase("grad", None, "all"), results, OracleResult("not_defined"))
    parted = msgspec.structs.replace(
        alignment("mindspore-graph", "torch-tape", DIVERGENCE),
        expected=False,
        differing=tuple(f"dlayers.{number}.weight" for number in range(PLACES)),
    )
    lines = message_of(report(), cases=(case,), alignments=(parted,))
    assert len(lines) <= 20
    assert max(map(len, lines)) <= LINE
    text = "\n".join(lines)
    assert (
        "  grad(None, weights=all): both mindspore engines differ from both torch engines by up to 6 at"
        in text
    )
    assert "greatest by tensor: dlayers.36.weight 6, dlayers.37.weight 6" in text
    assert "First divergence" in text
    assert "… (40 in all)" in text


def test_a_long_error_of_a_framework_is_one_line_of_the_message() -> None:
    error = Failure("RuntimeError", "a word of many " * 200)
    results = {
        "mindspore-tape": answer(values(), structure="dx"),
        "torch-tape": Result(outcome="raised", error=error),
    }
    case = judge(GradCase("grad", 0), results, OracleResult("not_defined"))
    lines = message_of(report(), cases=(case,), alignments=())
    assert any(line.startswith("  grad(0): only torch-tape raises: Runtime") for line in lines)
    assert any(line.startswith("    torch-tape RuntimeError: a word of many") for line in lines)
    assert max(map(len, lines)) <= LINE


def _judged(one: Result, other: Result) -> CaseReport:
    results = {"mindspore-tape": one, "torch-tape": other}
    return judge(GradCase("grad", 0), results, OracleResult("not_defined"))


def test_tensors_are_listed_by_how_far_they_differ() -> None:
    names = ("da", "db", "dc")
    zeros = np.zeros(2, np.float32)
    one = answer(zeros, zeros, zeros, structure=Branch(names))
    apart = [np.full(2, size, np.float32) for size in (1, 4, 0)]
    other = answer(*apart, structure=Branch(names))
    report = _judged(one, other)
    assert by_tensor(report) == "greatest by tensor: db 4, da 1"
    alone = _judged(answer(zeros, structure="dx"), answer(zeros + 1, structure="dx"))
    assert by_tensor(alone) == ""
    # An infinity beside a number goes first.
    apart[0][0] = np.inf
    unlike = _judged(one, answer(*apart, structure=Branch(names)))
    assert by_tensor(unlike) == "greatest by tensor: da nan or inf, db 4"
