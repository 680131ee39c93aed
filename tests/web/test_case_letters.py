"""Letters tell which engines give the same answer."""

import numpy as np

from explorer.compare.verdicts import judge
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.results import LeafNoise, OracleResult, Result, ResultNoise
from explorer.scenario.declaration import Tolerance
from explorer.web.case_detail import letters
from tests.support.results import answer
from tests.support.sample_report import case_report

BY_X = GradCase("grad", 0)


def test_engines_with_the_same_answer_share_a_letter() -> None:
    assert set(letters(case_report(BY_X)).values()) == {"A"}
    # One that cannot answer has none.
    assert "torch-graph" not in letters(case_report(GradCase("grad", 0, "all")))
    assert letters(case_report(BY_X, wrong="tape")) == {
        "mindspore-tape": "A",
        "torch-tape": "A",
        "mindspore-graph": "B",
        "torch-graph": "B",
    }


def test_errors_are_alike_when_they_are_of_one_type() -> None:
    case = case_report(BY_X)
    results = {
        "mindspore-tape": Result(outcome="raised", error=Failure("ValueError", "no")),
        "torch-tape": Result(outcome="raised", error=Failure("ValueError", "cannot")),
        "torch-graph": Result(outcome="raised", error=Failure("RuntimeError", "no")),
    }
    by_engine = letters(judge(BY_X, results, case.oracle))
    assert by_engine == {"mindspore-tape": "A", "torch-tape": "A", "torch-graph": "B"}


def test_an_engine_apart_from_one_of_two_that_agree_has_a_letter_of_its_own() -> None:
    """It is near the first of them: nearness is not transitive."""
    moved = LeafNoise("dx", pack(np.full(2, 0.01, np.float32)))
    values = {"mindspore-tape": 1.0, "torch-tape": 1.2, "torch-graph": 0.8}
    results = {name: answer(np.full(2, value), structure="dx") for name, value in values.items()}
    noise = dict.fromkeys(results, ResultNoise((moved,), runs=3))
    case = judge(BY_X, results, OracleResult("not_defined"), noise=noise)
    assert case.apart == (("torch-tape", "torch-graph"),)
    assert letters(case) == {"mindspore-tape": "A", "torch-tape": "A", "torch-graph": "B"}
    # What a tolerance allows to differ has one letter.
    allowed = (Tolerance(reason="it may", rtol=0.5),)
    within = judge(BY_X, results, OracleResult("not_defined"), tolerances=allowed)
    assert len(within.groups) > 1
    assert set(letters(within).values()) == {"A"}
