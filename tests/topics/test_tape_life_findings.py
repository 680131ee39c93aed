"""What is said of the tape's life, where figures are missing and where they are known."""

import pytest

from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.topics.evidence import Evidence
from explorer.topics.studying import tell
from explorer.topics.tape_life.findings import bytes_over_time
from explorer.topics.tape_life.questions import HOOKS, TOPIC
from explorer.topics.tape_life.wording import correctness, refusal, unwrapped

REFUSED = {"raised": "RuntimeError", "message": "no. Hint"}


def test_without_figures_nothing_is_claimed() -> None:
    telling = tell(TOPIC, Evidence({}))
    assert (telling.findings, telling.charts) == ((), ())
    assert all(set(row[1:]) == {"-"} for row in telling.tables[0].rows)


def test_a_table_with_empty_cells_says_why() -> None:
    lost = Measured(outcome="crashed", error=Failure("crashed", "exit code 3"))
    telling = tell(TOPIC, Evidence({HOOKS.measurement_name("torch-tape"): lost}))
    assert "hooks.torch-tape: crashed: exit code 3" in telling.tables[0].note


@pytest.mark.parametrize(
    ("figure", "outcome"),
    [
        ([0.0, 2.0, 4.0], "right"),
        ([0.0, 2.0, 4.00003], "right"),
        ([0.0, 2.0, 4.00005], "wrong"),
        ([0.0, 2.0], "wrong"),
        (REFUSED, "raises"),
    ],
)
def test_a_derivative_is_judged_by_its_closed_form(figure: object, outcome: str) -> None:
    assert correctness(figure, [0, 2, 4]) == outcome


def test_a_refusal_is_the_type_and_the_beginning_of_why() -> None:
    assert refusal(REFUSED) == "RuntimeError: no"
    assert len(refusal({"raised": "RuntimeError", "message": "x" * 500})) < 120


def test_a_gradient_is_taken_out_of_the_lists_around_it() -> None:
    assert unwrapped([[[2.0, 4.0]]]) == [2.0, 4.0]
    assert unwrapped([[3.0]]) == 3.0


def test_forward_and_backward_have_length_one_whatever_their_operators() -> None:
    def step(phase: str, kept: int) -> dict[str, object]:
        return {"phase": phase, "op": "", "bytes": kept}

    moments, kept = bytes_over_time(
        [step("forward", 0), step("forward", 8), *[step("backward", 8)] * 3, step("backward", 0)]
    )
    assert moments == (0.0, 1.0, 2.0)
    assert kept == (0.0, 8.0, 0.0)
