"""The message of assert_same_gradients(): the cases that it lists, and the divergence that it shows."""

import msgspec
import pytest

from explorer.api.assertions import MOST_CASES, message
from explorer.api.results import Exploration
from explorer.model.cases import GradCase
from explorer.model.report import Report
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
    listed = [line for line in lines if ": differs " in line]
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
