"""The distinct answers to a case: who gives each, whom the oracle confirms, and what tells two apart."""

import numpy as np
import pytest

from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.results.verdicts import judge
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import ORACLE, AnswerGroup, CaseReport
from explorer.model.results import Estimate, LeafNoise, OracleResult, Result, ResultNoise
from explorer.model.trees import Branch, branch
from explorer.scenario.declaration import Tolerance
from tests.support.results import NO_ORACLE, answer, dx, raised

ENGINES = ("mindspore-graph", "mindspore-tape", "torch-tape", "torch-graph")
MOVEMENT = 1e-3
"""How far rounding moves each element where it is measured."""

ALLOWED = (Tolerance(reason="it may", rtol=0.5),)


def ramp(changed: dict[tuple[int, int], float] | None = None) -> AnyArray:
    """The numbers 1 to 24 of shape (4, 6), some of which are others."""
    array = np.arange(1, 25, dtype=np.float64).reshape(4, 6)
    for index, number in (changed or {}).items():
        array[index] = number
    return array


def noise(movement: AnyArray | None = None, drawn: tuple[str, ...] = ()) -> ResultNoise:
    """The noise of an answer "dx" of shape (4, 6)."""
    moved = np.full((4, 6), MOVEMENT) if movement is None else movement
    return ResultNoise((LeafNoise("dx", pack(moved.astype(np.float32))),), runs=3, drawn=drawn)


def judged(
    *results: Result,
    oracle: OracleResult = NO_ORACLE,
    measured: ResultNoise | None = None,
    tolerances: tuple[Tolerance, ...] = (),
) -> CaseReport:
    """A case with the answers of the first engines, all of one noise."""
    named = dict(zip(ENGINES, results, strict=False))
    levels = dict.fromkeys(named, measured) if measured else {}
    return judge(GradCase("grad", 0), named, oracle, (), levels, tolerances)


def engines(report: CaseReport) -> list[tuple[str, ...]]:
    return [group.engines for group in report.groups]


def estimated(array: AnyArray, kinks: AnyArray | None = None) -> OracleResult:
    estimate = Estimate("dx", pack(array), kinks=None if kinks is None else pack(kinks))
    return OracleResult("ok", (estimate,))


# Who gives one answer


@pytest.mark.parametrize(("times", "count"), [(0.9, 1), (1.1, 2)])
def test_what_differs_within_the_noise_of_the_verdict_is_one_answer(
    times: float, count: int
) -> None:
    """Its digits differ, and would tell two answers apart."""
    off = times * CLEAR * np.hypot(MOVEMENT, MOVEMENT)
    report = judged(dx(ramp()), dx(ramp({(0, 1): 2 + off})), measured=noise())
    assert len(report.groups) == count
    assert report.verdict == ("close" if count == 1 else "differs")


def test_an_engine_near_the_first_of_a_group_and_apart_from_the_second_is_not_in_it() -> None:
    off = 0.6 * CLEAR * np.hypot(MOVEMENT, MOVEMENT)
    above, below = dx(ramp({(0, 0): 1 + off})), dx(ramp({(0, 0): 1 - off}))
    report = judged(dx(ramp()), above, below, dx(ramp()), measured=noise())
    assert engines(report) == [("mindspore-graph", "mindspore-tape", "torch-graph"), ENGINES[2:3]]


@pytest.mark.parametrize(("share", "count"), [(0.5, 1), (2.0, 2)])
def test_what_a_tolerance_allows_is_one_answer_where_no_digit_shows_it(
    share: float, count: int
) -> None:
    # Half of the last of five digits of the greatest element, and twice as much.
    report = judged(dx(ramp()), dx(ramp({(3, 5): 24 * (1 + share * 1e-4)})), tolerances=ALLOWED)
    assert report.verdict == "close"
    assert len(report.groups) == count


def test_what_a_tolerance_allows_and_the_first_digits_show_is_two_answers() -> None:
    # A thousandth of a small element is little beside the greatest one.
    report = judged(dx(ramp()), dx(ramp({(0, 0): 1.001})), tolerances=ALLOWED)
    assert (report.verdict, len(report.groups)) == ("close", 2)


def test_digits_are_those_at_the_scale_of_what_is_not_noise_itself() -> None:
    """Where rounding alone moves half of a tensor as far as its values, the other half is its scale."""
    array, moved = np.full((4, 6), 1e-9), np.full((4, 6), 1e-9)
    array[:2] = np.arange(1, 13).reshape(2, 6)
    other = array.copy()
    other[1, 5] *= 1 + 0.5e-4
    report = judged(dx(array), dx(other), measured=noise(moved), tolerances=ALLOWED)
    assert (report.verdict, len(report.groups)) == ("close", 1)


def test_what_is_drawn_everywhere_tells_nothing_of_what_a_tolerance_allows() -> None:
    results = answer(ramp(), ramp()), answer(-ramp(), ramp({(3, 5): 24.0001}))
    report = judged(*results, measured=noise(drawn=("dx",)), tolerances=ALLOWED)
    assert (report.verdict, len(report.groups)) == ("close", 1)


def test_containers_of_other_kinds_are_one_answer_and_other_names_are_two() -> None:
    listed = answer(ramp(), structure=Branch(("dx",), kind="list"))
    report = judged(answer(ramp(), structure=branch("dx")), listed)
    assert engines(report) == [ENGINES[:2]]
    renamed = judged(answer(ramp(), structure="dx"), answer(ramp(), structure="dy"))
    assert engines(renamed) == [ENGINES[:1], ENGINES[1:2]]
    assert [mark.what for mark in renamed.groups[0].marks] == ["structure"]


def test_errors_are_one_answer_where_they_read_alike() -> None:
    at_an_address = [
        Result(outcome="raised", error=Failure("ValueError", f"no gradient of <Net at {place}>"))
        for place in ("0x7f00aa001122", "0x7f00bb003344")
    ]
    report = judged(*at_an_address, raised(), raised("TypeError"))
    assert engines(report) == [ENGINES[:2], ENGINES[2:3], ENGINES[3:]]


def test_errors_that_mean_the_same_are_one_answer_in_whatever_words() -> None:
    def missing(operator: str, own: str) -> Result:
        error = Failure("RuntimeError", own, kind="no_kernel_here", details=(operator,))
        return Result(outcome="raised", error=error)

    report = judged(
        missing("Roll", "The kernel Roll unregistered."),
        missing("Roll", "Unsupported op [Roll]"),
        missing("Erfinv", "The kernel Erfinv unregistered."),
        raised(),
    )
    assert engines(report) == [ENGINES[:2], ENGINES[2:3], ENGINES[3:]]


def test_an_error_and_a_value_are_two_answers_and_what_is_lost_is_none() -> None:
    lost = Result(outcome="crashed", error=Failure("crashed", "it died"))
    report = judged(dx(ramp()), lost, raised(), dx(ramp()))
    assert engines(report) == [("mindspore-graph", "torch-graph"), ("torch-tape",)]
    assert [group.marks for group in report.groups] == [(), ()]


# Whom the oracle confirms


def test_the_oracle_confirms_one_group_and_refutes_the_other() -> None:
    report = judged(dx(ramp()), dx(2 * ramp()), raised(), oracle=estimated(ramp()))
    assert [group.oracle_agrees for group in report.groups] == [True, False, None]


def test_where_the_oracle_is_silent_no_group_is_confirmed_or_refuted() -> None:
    assert judged(dx(ramp())).groups == (AnswerGroup(ENGINES[:1]),)
    undefined = judged(dx(ramp()), oracle=estimated(np.full((4, 6), np.nan)))
    assert undefined.groups == (AnswerGroup(ENGINES[:1]),)


def test_a_group_is_refuted_with_any_of_its_engines() -> None:
    room = CLEAR * MOVEMENT
    near = dx(ramp({(0, 0): 1 + 0.9 * room}))
    apart = dx(ramp({(0, 0): 1 - 0.4 * room}))
    report = judged(near, apart, oracle=estimated(ramp({(0, 0): 1 + 1.8 * room})), measured=noise())
    (group,) = report.groups
    assert (group.engines, group.oracle_agrees) == (ENGINES[:2], False)


def test_what_pytorch_alone_draws_is_compared_with_the_oracle_in_mindspore() -> None:
    results = {"mindspore-tape": dx(ramp()), "torch-tape": dx(ramp())}
    levels = {"mindspore-tape": noise(), "torch-tape": noise(drawn=("dx",))}
    report = judge(GradCase("grad", 0), results, estimated(2 * ramp()), (), levels)
    assert [group.oracle_agrees for group in report.groups] == [False]
    del results["mindspore-tape"]
    silent = judge(GradCase("grad", 0), results, estimated(2 * ramp()), (), levels)
    assert [group.oracle_agrees for group in silent.groups] == [None]


# What tells answers apart that begin alike


def test_the_mark_of_two_answers_is_the_difference_that_stands_out_of_the_noise_most() -> None:
    """A greater difference is none where rounding moves the element as far."""
    moved = np.full((4, 6), MOVEMENT)
    moved[3, 5] = 1
    other = ramp({(2, 2): 15.5, (3, 5): 30})
    report = judged(dx(ramp()), dx(other), measured=noise(moved))
    (mark,) = report.groups[0].marks
    assert (mark.leaf, mark.index, mark.engines) == ("dx", (2, 2), ENGINES[:2])
    assert mark == report.greatest
    assert report.groups[1].marks == ()
    unmeasured = judged(dx(ramp()), dx(other))
    assert [mark.index for mark in unmeasured.groups[0].marks] == [(3, 5)]


def test_every_two_groups_that_begin_alike_have_a_mark() -> None:
    third = dx(ramp({(1, 4): 0, (3, 5): 0}))
    report = judged(dx(ramp()), dx(ramp({(3, 5): 0})), third, dx(ramp()))
    marks = [[mark.index for mark in group.marks] for group in report.groups]
    assert marks == [[(3, 5), (3, 5)], [(1, 4)], []]
    between = [mark.engines for mark in report.groups[0].marks]
    assert between == [ENGINES[:2], ("mindspore-graph", "torch-tape")]


def test_answers_that_begin_otherwise_need_no_mark() -> None:
    report = judged(
        dx(ramp()), dx(ramp({(0, 0): 7, (3, 5): 0})), oracle=estimated(ramp({(0, 1): 9}))
    )
    assert [group.marks for group in report.groups] == [(), ()]


def test_the_mark_beside_the_oracle_is_the_element_that_it_refutes_most() -> None:
    """The greatest difference may be within what the noise and the size of its element allow."""
    moved = np.full((4, 6), MOVEMENT)
    moved[3, 5] = 1
    oracle = estimated(ramp({(1, 4): 11.5, (3, 5): 30}))
    report = judged(dx(ramp()), dx(ramp()), oracle=oracle, measured=noise(moved))
    (group,) = report.groups
    (mark,) = group.marks
    assert (mark.leaf, mark.index, mark.engines) == ("dx", (1, 4), ("mindspore-graph", ORACLE))
    assert (mark.abs, mark.rel) == (0.5, 0.5 / 11.5)
    assert mark.ratio == mark.abs / mark.noise > 1


def test_what_the_oracle_confirms_has_no_mark_beside_it() -> None:
    near = judged(dx(ramp()), dx(ramp({(3, 5): 25})), oracle=estimated(ramp({(3, 5): 24.01})))
    assert [group.oracle_agrees for group in near.groups] == [True, False]
    assert [mark.engines for mark in near.groups[0].marks] == [ENGINES[:2]]
    assert [mark.engines for mark in near.groups[1].marks] == [("mindspore-tape", ORACLE)]


def test_the_oracle_marks_the_group_that_it_refutes_by_the_greatest_multiple_of_its_room() -> None:
    """A small element that is all wrong may be little beside the greatest one."""
    true = ramp({(2, 2): 1e-3})
    small, great = true.copy(), true.copy()
    small[2, 2] = 1e-9
    great[3, 5] = 26
    report = judged(dx(small), dx(great), oracle=estimated(true))
    beside = [[m.index for m in group.marks if ORACLE in m.engines] for group in report.groups]
    assert beside == [[], [(3, 5)]]


def two(dx: AnyArray, dy: AnyArray) -> OracleResult:
    """Estimates of two gradients."""
    return OracleResult("ok", (Estimate("dx", pack(dx)), Estimate("dy", pack(dy))))


def test_a_gradient_that_the_oracle_confirms_has_no_mark_where_another_is_refuted() -> None:
    oracle = two(2 * ramp(), ramp({(3, 5): 24.001}))
    report = judged(answer(ramp(), ramp()), oracle=oracle)
    assert report.groups == (AnswerGroup(ENGINES[:1], oracle_agrees=False),)


def test_what_is_drawn_has_no_mark_where_another_gradient_is_refuted() -> None:
    oracle = two(ramp({(3, 5): 0}), 2 * ramp())
    report = judged(answer(ramp(), ramp()), oracle=oracle, measured=noise(drawn=("dx",)))
    assert report.groups == (AnswerGroup(ENGINES[:1], oracle_agrees=False),)


def test_what_is_not_estimated_element_by_element_has_no_mark() -> None:
    estimate = Estimate("dx", pack(np.ones(3)), directions=3)
    along = judged(dx(ramp()), oracle=OracleResult("ok", (estimate,)))
    # The sum begins with the digits of its first term.
    together = Estimate("dx", pack(ramp({(3, 5): 0})), together=("dx", "dy"))
    terms = answer(ramp(), np.zeros((4, 6)))
    summed = judged(terms, oracle=OracleResult("ok", (together,)))
    for report in (along, summed):
        assert report.groups == (AnswerGroup(ENGINES[:1], oracle_agrees=False),)


def test_at_a_kink_the_room_is_wider() -> None:
    kinks = np.zeros((4, 6))
    kinks[3, 5] = 5
    oracle = estimated(ramp({(2, 2): 16, (3, 5): 20}), kinks)
    report = judged(dx(ramp()), oracle=oracle)
    assert [mark.index for mark in report.groups[0].marks] == [(2, 2)]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_in_an_engine_is_refuted_more_than_any_number(value: float) -> None:
    oracle = estimated(ramp({(2, 2): 1e6}))
    report = judged(dx(ramp({(3, 5): value})), oracle=oracle)
    (mark,) = report.groups[0].marks
    assert (mark.index, mark.abs, mark.ratio) == ((3, 5), np.inf, np.inf)
