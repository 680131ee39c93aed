"""Letters tell which engines give the same answer."""

import msgspec

from explorer.model.cases import GradCase
from explorer.model.results import Failure, Result
from explorer.web.answer_letters import letters
from tests.support.sample_report import case_report

BY_X = GradCase("grad", 0)


def test_engines_with_the_same_answer_share_a_letter() -> None:
    assert set(letters(case_report(BY_X)).values()) == {"A"}
    assert letters(case_report(BY_X, wrong="tape")) == {
        "mindspore-tape": "A",
        "torch-tape": "A",
        "mindspore-graph": "B",
        "torch-graph": "B",
    }


def test_an_engine_that_cannot_answer_has_no_letter() -> None:
    assert "torch-graph" not in letters(case_report(GradCase("grad", 0, "all")))


def test_errors_are_alike_when_they_are_of_one_type() -> None:
    case = case_report(BY_X)
    results = {
        "mindspore-tape": Result(outcome="raised", error=Failure("ValueError", "no")),
        "torch-tape": Result(outcome="raised", error=Failure("ValueError", "cannot")),
        "torch-graph": Result(outcome="raised", error=Failure("RuntimeError", "no")),
    }
    by_engine = letters(msgspec.structs.replace(case, results=results))
    assert by_engine == {"mindspore-tape": "A", "torch-tape": "A", "torch-graph": "B"}
