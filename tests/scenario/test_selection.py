"""Which cases are asked first: a cover shows each way to ask, and the order begins with covers."""

import pytest

from explorer.model.cases import GradCase
from explorer.scenario.matrix import matrix, positions
from explorer.scenario.selection import covering, features, spread, widest

NETS = [(1, True, 1), (2, True, 1), (3, True, 1), (6, True, 1), (2, False, 1), (2, True, 3)]
"""Numbers of inputs, whether there are weights, and orders of nested gradients."""


def every_feature(cases: tuple[GradCase, ...]) -> set[object]:
    return {feature for case in cases for feature in features(case)}


@pytest.mark.parametrize(("inputs", "weights", "order"), NETS)
def test_a_cover_shows_each_position_form_of_weights_has_aux_and_api(
    inputs: int, weights: bool, order: int
) -> None:
    cases = matrix(inputs, weights, order)
    cover = covering(cases)
    plain = [case for case in cover if case.api != "GradOperation"]
    assert {case.grad_position for case in plain} >= set(positions(inputs))
    assert {case.weights for case in plain} == {case.weights for case in cases}
    assert {case.has_aux for case in plain} == {False, True}
    assert {case.api for case in cover} == {"grad", "value_and_grad", "GradOperation"}
    assert {case.order for case in cover} == set(range(1, order + 1))
    for flag in ("get_all", "sens_param"):
        of_older_form = [getattr(case, flag) for case in cover if case.api == "GradOperation"]
        assert set(of_older_form) == {False, True}


@pytest.mark.parametrize("inputs", [1, 2, 3, 6])
def test_no_smaller_cover_than_one_case_a_position_and_two_of_the_older_form(inputs: int) -> None:
    assert len(covering(matrix(inputs, True))) == len(positions(inputs)) + 2


@pytest.mark.parametrize(("inputs", "weights", "order"), NETS)
def test_what_the_main_case_shows_need_not_be_shown_again(
    inputs: int, weights: bool, order: int
) -> None:
    cases = matrix(inputs, weights, order)
    main = widest((True,) * inputs, True, weights)
    others = [case for case in cases if case != main]
    cover = covering(others, known=(main,))
    assert every_feature((main, *cover)) == every_feature(cases)
    assert len(cover) < len(covering(cases))


def test_a_case_that_can_be_answered_goes_before_one_that_must_fail() -> None:
    by_nothing = [case for case in covering(matrix(2, True)) if case.grad_position is None]
    assert by_nothing
    assert not any(case.must_fail for case in by_nothing)


@pytest.mark.parametrize(("inputs", "weights", "order"), NETS)
def test_the_order_of_asking_holds_every_case_once_and_begins_with_a_cover(
    inputs: int, weights: bool, order: int
) -> None:
    cases = matrix(inputs, weights, order)
    asked = spread(cases)
    assert sorted(case.label for case in asked) == sorted(case.label for case in cases)
    first = covering(cases)
    assert asked[: len(first)] == first
