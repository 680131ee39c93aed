"""Who gives which answer to a case: nobody is set beside another whose answer is another one."""

import numpy as np

from explorer.compare.results.verdicts import judge
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import ORACLE, CaseReport
from explorer.model.results import Estimate, OracleResult, Result
from explorer.model.trees import Branch
from explorer.report.scenario.case_rows import Footnotes, case_row, row_among
from explorer.words.groups import MOST_TENSORS, worded_answers
from tests.support.results import NO_ORACLE, answer, dx, raised

MINDSPORE = ("mindspore-graph", "mindspore-tape")
TORCH = ("torch-tape", "torch-graph")


def judged(mindspore: Result, torch: Result, oracle: OracleResult = NO_ORACLE) -> CaseReport:
    """A case that both engines of a framework answer alike."""
    results = dict.fromkeys(MINDSPORE, mindspore) | dict.fromkeys(TORCH, torch)
    return judge(GradCase("grad", 0), results, oracle)


def ramp(last: float = 12.0) -> AnyArray:
    """Twelve numbers, of which a report shows the first six."""
    array = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    array[2, 3] = last
    return array


def estimates(array: AnyArray) -> OracleResult:
    return OracleResult("ok", (Estimate("dx", pack(array.astype(np.float64))),))


def test_answers_that_differ_beyond_the_elements_shown_are_two_and_name_the_element() -> None:
    report = judged(dx(ramp()), dx(ramp(0)), estimates(ramp(0)))
    one, other, oracle = worded_answers(report)
    assert (one.engines, other.engines, oracle.engines) == (MINDSPORE, TORCH, (ORACLE,))
    assert one.text.startswith("(3, 4) 1 2 3 4 5 6 …")
    assert one.text.endswith(", with dx[2, 3] = 12")
    assert other.text.endswith(", with dx[2, 3] = 0")
    assert oracle.text.endswith(", with dx[2, 3] = 0")
    row = case_row(report)
    assert [statement.who for statement in row.statements[:3]] == [
        "both mindspore engines",
        "both torch engines",
        ORACLE,
    ]


def test_what_is_no_number_in_the_oracle_tells_nothing_and_in_an_engine_all() -> None:
    undefined = ramp(7)
    undefined[1, 3] = np.nan
    engines, _ = worded_answers(judged(dx(ramp()), dx(ramp()), estimates(undefined)))
    assert engines.text.endswith(", with dx[2, 3] = 12")
    one, _, oracle = worded_answers(judged(dx(undefined), dx(ramp()), estimates(ramp())))
    assert one.text.endswith(", with dx[1, 3] = nan")
    assert oracle.text.endswith(", with dx[1, 3] = 8")


def test_what_tells_from_the_oracle_comes_behind_what_tells_answers_apart() -> None:
    results = {
        "mindspore-graph": dx(ramp() + 50),
        "mindspore-tape": dx(ramp()),
        "torch-tape": dx(ramp(0)),
    }
    estimate = ramp() + 50
    estimate[1, 3] = 9
    *answers, _ = worded_answers(judge(GradCase("grad", 0), results, estimates(estimate)))
    assert [answer.text.rpartition(", with ")[2] for answer in answers] == [
        "dx[2, 3] = 62 and dx[1, 3] = 58",
        "dx[2, 3] = 12 and dx[1, 3] = 8",
        "dx[2, 3] = 0 and dx[1, 3] = 8",
    ]


def test_another_dtype_or_shape_of_the_same_numbers_is_another_answer() -> None:
    one, other = worded_answers(judged(dx(ramp()), dx(ramp().astype(np.float64))))
    assert one.text.endswith(", with dx in float32")
    assert other.text.endswith(", with dx in float64")
    none, empty = worded_answers(
        judged(dx(np.zeros((0, 3), np.float32)), dx(np.zeros(0, np.float32)))
    )
    assert none.text.endswith("dx of shape (0, 3)")
    assert empty.text.endswith("dx of shape (0,)")


def test_a_complex_element_is_named_by_its_place_and_not_by_its_part() -> None:
    array = np.arange(8) + 1j
    other = array.copy()
    other[7] += 2j
    told = worded_answers(judged(dx(array), dx(other)))
    assert [answer.text.rpartition(", with ")[2] for answer in told] == [
        "dx[7] = 7+1j",
        "dx[7] = 7+3j",
    ]


def layers(factor: float) -> Result:
    """More tensors than are shown by their elements; the last is off by a factor."""
    names = tuple(f"dw{number}" for number in range(MOST_TENSORS + 1))
    arrays = [np.full(2, number + 1, np.float32) for number in range(len(names))]
    arrays[-1] *= factor
    return answer(*arrays, structure=Branch(names))


def test_a_few_tensors_are_shown_and_of_many_only_what_tells_answers_apart() -> None:
    few = Branch(tuple(f"dw{number}" for number in range(MOST_TENSORS)))
    arrays = [np.full(2, number, np.float32) for number in range(MOST_TENSORS)]
    moved = [array + 1 for array in arrays]
    first, _ = worded_answers(judged(answer(*arrays, structure=few), answer(*moved, structure=few)))
    assert first.text.startswith("([0, 0], [1, 1], ")

    report = judged(layers(1), layers(2))
    assert worded_answers(report) == []
    row = case_row(report)
    assert any("greatest at dw6" in statement.text for statement in row.statements)
    # Beside an error they are counted, and errors of the same words are one answer.
    values, error = worded_answers(judged(layers(1), raised()))
    assert (values.text, error.text) == (f"{MOST_TENSORS + 1} tensors", "ValueError: no")
    (everybody,) = worded_answers(judged(raised(), raised()))
    assert everybody.engines == (*MINDSPORE, *TORCH)
    # Where they begin alike, the element that differs is shown.
    names = Branch(tuple(f"dw{number}" for number in range(MOST_TENSORS + 1)))
    same = [np.zeros(2, np.float32)] * MOST_TENSORS
    one, other = (answer(*same, ramp(last), structure=names) for last in (12, 0))
    first, second = worded_answers(judged(one, other))
    assert first.text == f"{MOST_TENSORS + 1} tensors, with dw6[2, 3] = 12"
    assert second.text == f"{MOST_TENSORS + 1} tensors, with dw6[2, 3] = 0"


LONG = "the same words again and again " * 8


def test_a_long_error_is_shown_once_and_referred_to_by_the_first_case() -> None:
    footnotes = Footnotes()
    failed = Result(outcome="raised", error=Failure("RuntimeError", LONG))
    rows = []
    for case, value in ((GradCase("grad", 0), 1), (GradCase("value_and_grad", 0), 2)):
        results = {"torch-tape": dx(ramp() + value), "torch-graph": failed}
        rows.append(row_among(judge(case, results, NO_ORACLE), footnotes))
    first, second = (row.statements[1].text for row in rows)
    assert first.startswith("RuntimeError: the same words")
    assert second == "RuntimeError, as in grad(0)"
