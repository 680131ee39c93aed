"""Which cases are asked first: a cover shows each way to ask, and the order begins with covers."""

from pathlib import Path

import pytest

from explorer.model.cases import GradCase, Position
from explorer.model.errors import UsageError
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of, matrix, positions
from explorer.scenario.selection import (
    Takes,
    covering,
    features,
    main_case,
    named,
    spread,
    takes,
    widest,
)
from tests.support.scenario_files import MINIMAL, written

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


ONE_OUTPUT = Takes(has_aux=False)
WITH_IDS = Takes(integers=frozenset({1}))


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(("inputs", "net"), [(1, ONE_OUTPUT), (2, ONE_OUTPUT), (2, WITH_IDS)])
def test_each_api_is_shown_by_a_case_that_can_be_answered(
    inputs: int, net: Takes, weights: bool
) -> None:
    cases = matrix(inputs, weights)
    position = tuple(sorted(set(range(inputs)) - net.integers))
    main = GradCase("grad", position[0], "all" if weights else None, has_aux=net.has_aux)
    others = [case for case in cases if case != main]
    cover = covering(others, known=(main,), net=net)
    answered = [case for case in (main, *cover) if net.obstacle(case) is None]
    plain = [case for case in answered if case.api != "GradOperation"]
    assert {case.api for case in plain} == {"grad", "value_and_grad"}
    assert {case.weights for case in plain} == {case.weights for case in cases}
    # What must raise is shown too, once for each thing that it raises for.
    plain = [case for case in cover if case.api != "GradOperation"]
    obstacles = [net.obstacle(case) for case in plain if case not in answered]
    every_obstacle = {net.obstacle(case) for case in cases}
    assert set(obstacles) <= every_obstacle
    assert len(set(obstacles)) == len(obstacles)
    if not net.has_aux:
        assert ("has_aux", True) in obstacles


def test_inputs_of_integers_are_those_that_no_engine_differentiates_alike(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + INPUTS))
    assert takes(scenario, has_aux=False) == Takes(False, frozenset({1}))


@pytest.mark.parametrize(("inputs", "weights", "order"), NETS)
def test_the_order_of_asking_holds_every_case_once_and_begins_with_a_cover(
    inputs: int, weights: bool, order: int
) -> None:
    cases = matrix(inputs, weights, order)
    asked = spread(cases)
    assert sorted(case.label for case in asked) == sorted(case.label for case in cases)
    first = covering(cases)
    assert asked[: len(first)] == first


@pytest.mark.parametrize(
    ("floating", "position"),
    [((True,), 0), ((False, True), 1), ((True, False, True), (0, 2)), ((False,), None), ((), None)],
)
def test_the_widest_case_differentiates_every_floating_input(
    floating: tuple[bool, ...], position: Position
) -> None:
    assert widest(floating, False, True) == GradCase("grad", position, "all")
    assert widest(floating, True, False) == GradCase("grad", position, has_aux=True)


INPUTS = (
    "def inputs():\n"
    "    one = np.ones(2, np.float32)\n"
    "    return {'x': one, 'ids': np.ones(2, np.int32), 'mask': one, 'y': one}\n"
    "CONSTANTS = ('mask',)\n"
)


@pytest.mark.parametrize(
    ("cases", "first"),
    [
        ("", "grad((0, 3), weights=all, has_aux)"),
        ("CASES = [{'api': 'grad'}]\n", "grad((0, 3), weights=all, has_aux)"),
        # Where that one is left out, the nearest to it is first.
        ("CASES = ['grad(1)', 'grad(3)', 'grad(1, weights=one)']\n", "grad(3)"),
        ("CASES = ['grad(3)', 'grad(3, weights=all)']\n", "grad(3, weights=all)"),
        ("CASES = ['grad(3)', 'grad(3, has_aux)']\n", "grad(3, has_aux)"),
        ("CASES = ['grad(0, weights=one)', 'grad(1, weights=all)']\n", "grad(0, weights=one)"),
        ("CASES = [{'order': 2}, 'grad(None, weights=one)']\n", "grad(None, weights=one)"),
    ],
)
def test_the_main_case_asks_for_most_of_what_a_scenario_lets_be_asked(
    cases: str, first: str, tmp_path: Path
) -> None:
    scenario = load(written(tmp_path, MINIMAL + INPUTS + cases))
    asked = cases_of(scenario, has_parameters=True, order=2)
    main = main_case(scenario, has_aux=True, weights=True, cases=asked)
    assert main.short == first
    assert main in asked


def test_a_label_says_which_case_is_first(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + INPUTS))
    cases = matrix(1, has_parameters=True)
    label = "grad(net, grad_position=0, weights=one, has_aux=False)"
    main = main_case(scenario, True, True, cases, label)
    assert main == GradCase("grad", 0, "one")
    with pytest.raises(UsageError, match="unknown case 'grad"):
        main_case(scenario, True, True, cases, label.replace("one", "ones"))
    without = matrix(1, has_parameters=False)
    with pytest.raises(UsageError) as refused:
        main_case(scenario, True, False, without, label)
    assert str(refused.value).startswith("case 'grad(0, weights=one)' needs weights, and the nets")


@pytest.mark.parametrize(("inputs", "weights", "order"), NETS)
def test_names_of_results_are_asked_once_for_each_position_and_each_form_of_weights(
    inputs: int, weights: bool, order: int
) -> None:
    cases = matrix(inputs, weights, order)
    takers = tuple(case for case in cases if case.takes_ids and not case.must_fail)
    chosen = named(cases)
    assert chosen <= set(takers)
    assert every_feature(tuple(chosen)) == every_feature(takers)
    assert len(chosen) <= len(takers)
    assert takers[-1] in chosen  # the one that asks for most
    assert {(case.api, case.order, case.has_aux) for case in chosen} == {("grad", 1, False)}
