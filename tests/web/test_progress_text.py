"""The bar of a run, and the letters that tell which engines give the same answer."""

import numpy as np
import pytest

from explorer.compare.results.verdicts import judge
from explorer.exploration.installed import STARTING
from explorer.exploration.jobs import GRAPHS_STAGE, NOISE_STAGE, ORACLE_STAGE
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.results import LeafNoise, OracleResult, Result, ResultNoise
from explorer.scenario.declaration import Tolerance
from explorer.text.language import said_in
from explorer.web.case_detail import letters
from explorer.web.progress import progress_text
from tests.support.results import answer
from tests.support.sample_report import case_report

Stages = dict[str, tuple[int, int]]


@pytest.mark.parametrize(
    ("stages", "part"),
    [
        ({"graphs": (0, 4), "noise": (0, 4)}, 0.0),
        ({"graphs": (3, 4), "noise": (1, 4)}, 0.5),
        ({"graphs": (1, 4), "noise": (3, 4)}, 0.5),
        ({"graphs": (4, 4), "noise": (0, 12)}, 0.25),
        ({"graphs": (4, 4), "noise": (12, 12)}, 1.0),
        ({"graphs": (0, 0)}, 0.0),
    ],
)
def test_the_bar_is_as_long_as_the_part_that_is_done_of_all_stages(
    stages: Stages, part: float
) -> None:
    fraction, text = progress_text(stages)
    assert fraction == part
    for stage, (done, total) in stages.items():
        assert f"{stage}: {done} of {total}" in text


def test_a_run_without_stages_says_what_it_waits_for() -> None:
    assert progress_text({}) == (0.0, "Starting the workers")
    assert progress_text({}, waits=True) == (0.0, "Waiting for the run of another visitor")
    assert "Waiting" not in progress_text({"graphs": (1, 2)}, waits=True)[1]


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (GRAPHS_STAGE, "梯度图：1/2"),
        (NOISE_STAGE, "噪声：1/2"),
        (ORACLE_STAGE, "中心差分：1/2"),
        (STARTING, "启动工作进程：1/2"),
        ("measurements", "测量：1/2"),
        ("torch-tape", "torch-tape：1/2"),
    ],
)
def test_the_stages_of_a_run_are_named_in_the_reader_s_language(stage: str, text: str) -> None:
    with said_in("zh"):
        assert progress_text({stage: (1, 2)}) == (0.5, text)


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
