"""The matrix of cases, their labels, and the structure that each promises."""

import re
from pathlib import Path

import pytest

from explorer.model.cases import GradCase
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.trees import LIST, Branch, Tree, branch, names_in, render
from explorer.scenario.load import load
from explorer.scenario.matrix import (
    case_called,
    cases_of,
    has_auxiliary,
    matrix,
    positions,
    structure,
)
from tests.support.scenario_files import MINIMAL, written


def test_positions_are_none_each_int_and_tuples_of_which_there_are_few_beyond_three_inputs() -> (
    None
):
    assert positions(2) == (None, 0, 1, (0,), (1,), (0, 1))
    assert positions(3)[4:] == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    assert positions(5)[6:] == ((0,), (1,), (2,), (3,), (4,), (0, 1, 2, 3, 4))


def test_the_matrix_of_a_net_with_weights_has_every_combination_once() -> None:
    cases = matrix(2, has_parameters=True)
    assert len(cases) == 2 * 6 * 3 * 2 + 8
    assert len({case.label for case in cases}) == len({case.short for case in cases}) == len(cases)


def test_without_parameters_no_case_asks_for_weights() -> None:
    cases = matrix(3, has_parameters=False)
    assert len(cases) == 2 * 11 * 2 + 4
    assert not any(case.weights or case.get_by_list for case in cases)


def test_order_three_adds_the_nested_calls_of_each_input() -> None:
    cases = matrix(2, has_parameters=True, order=3)
    assert len({case.short for case in cases}) == len(cases)
    added = [case.label for case in cases if case.order > 1]
    assert added == [
        "grad(grad(net, 0), 0)",
        "grad(grad(net, 1), 1)",
        "grad(grad(grad(net, 0), 0), 0)",
        "grad(grad(grad(net, 1), 1), 1)",
    ]


def test_asking_for_nothing_must_fail() -> None:
    failing = [case.label for case in matrix(1, has_parameters=True) if case.must_fail]
    assert len(failing) == 4
    assert all("grad_position=None, weights=None" in label for label in failing)


@pytest.mark.parametrize(
    "name",
    [
        "grad(0, weights=all)",
        "grad( 0,weights = all )",
        "grad(net, grad_position=0, weights=all, has_aux=False)",
    ],
)
def test_a_case_is_called_by_its_label_or_its_short_name_white_space_aside(name: str) -> None:
    assert case_called(name, matrix(2, has_parameters=True)) == GradCase("grad", 0, "all")


def test_a_case_that_there_is_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'grad\(0, weights=all\)'\?"):
        case_called("grad(0, weight=all)", matrix(2, has_parameters=True))


def test_a_refused_case_is_answered_with_those_that_have_a_gradient() -> None:
    with pytest.raises(UsageError) as unknown:
        case_called("grad(7)", matrix(1, has_parameters=True))
    assert "grad(None)," not in str(unknown.value)
    assert str(unknown.value).endswith("? a run of the scenario lists its cases")
    # A list that is shown whole says which of its names may not apply.
    with pytest.raises(UsageError) as few:
        case_called("grad(7)", matrix(1, has_parameters=True)[:8])
    assert str(few.value).endswith("; those with weights only where the nets have weights")
    with pytest.raises(UsageError, match=r"'x'; allowed: grad\(0\), .*, …; a run of the scenario"):
        case_called("x", matrix(1, has_parameters=True))
    without = matrix(1, has_parameters=False)
    with pytest.raises(UsageError) as known:
        case_called("grad(0, weights=all)", without, has_parameters=False)
    message = str(known.value)
    assert message.startswith("case 'grad(0, weights=all)' needs weights, and the nets have none;")
    _, _, allowed = message.partition("allowed: ")
    assert "grad(0), " in allowed
    assert "weights" not in allowed


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (GradCase("grad", 0, None, True), "(dx, (logits,))"),
        (GradCase("grad", (0,), None, False), "dx"),
        (GradCase("grad", (0, 1), None, True), "((dx, dy), (logits,))"),
        (GradCase("grad", None, "all", True), "((dw,), (logits,))"),
        (GradCase("grad", None, "one", False), "dw"),
        (GradCase("grad", 0, "all", True), "((dx, (dw,)), (logits,))"),
        (GradCase("grad", (0, 1), "all", False), "((dx, dy), (dw,))"),
        (GradCase("value_and_grad", 1, "one", True), "((loss, logits), (dy, dw))"),
        (GradCase("GradOperation", 0), "dx"),
        (
            GradCase("GradOperation", (0, 1), "all", get_all=True, get_by_list=True),
            "((dx, dy), (dw,))",
        ),
    ],
)
def test_structure_follows_the_call(case: GradCase, text: str) -> None:
    tree = structure(case, ("x", "y"), ("w",), branch("loss", "logits"))
    assert render(tree) == text
    assert names_in(tree) == tuple(re.findall(r"\w+", text))


def test_no_case_differentiates_a_constant() -> None:
    cases = matrix(3, has_parameters=True, order=2, constants=frozenset({1}))
    assert {position for case in cases for position in case.positions} == {0, 2}
    assert positions(3, frozenset({1})) == (None, 0, 2, (0,), (2,), (0, 2))
    # The older form with get_all takes every input, so only the forms without it are left.
    assert [case.get_all for case in cases if case.api == "GradOperation"] == [False] * 4


def test_constants_alone_leave_the_weights_to_differentiate() -> None:
    cases = matrix(1, has_parameters=True, constants=frozenset({0}))
    assert {case.grad_position for case in cases} == {None}
    assert {case.weights for case in cases} == {None, "one", "all"}


def test_a_fourth_input_that_is_a_constant_leaves_every_tuple_of_the_others() -> None:
    assert (0, 2) in positions(4, frozenset({3}))
    assert (0, 2) not in positions(4)


def test_cases_keep_the_order_of_the_report_and_go_by_name_or_by_attributes(tmp_path: Path) -> None:
    text = 'CASES = ["grad(0, weights=all)", {"api": "value_and_grad", "weights": None}]\n'
    scenario = load(written(tmp_path, MINIMAL + text))
    short = [case.short for case in cases_of(scenario, has_parameters=True)]
    assert short[0] == "grad(0, weights=all)"
    assert len(short) == 1 + 3 * 2
    assert all(name.startswith("value_and_grad") for name in short[1:])


def test_cases_that_all_ask_for_weights_are_refused_where_there_are_none(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + 'CASES = ["grad(0, weights=all)"]\n'))
    with pytest.raises(ScenarioError, match="no weights to differentiate"):
        cases_of(scenario, has_parameters=False)


def test_cases_of_an_order_that_is_not_asked_are_refused(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL + 'CASES = [{"order": 3}]\n'))
    with pytest.raises(ScenarioError, match=r"given\.py: no case of this scenario matches CASES$"):
        cases_of(scenario, has_parameters=True, order=2)
    assert len(cases_of(scenario, has_parameters=True, order=3)) == 1


@pytest.mark.parametrize(
    ("returned", "can_split"),
    [
        (branch("loss", "logits"), True),
        (branch("loss", "a", "b"), True),
        (branch("loss", branch("a", "b")), True),
        (branch(branch("loss"), "a"), True),
        ("loss", False),
        (None, False),
        (branch("loss"), False),
        (Branch(("loss", "logits"), LIST), False),
        # There must be tensors on both sides.
        (branch("loss", None), False),
        (branch(None, "logits"), False),
        (branch("loss", branch(None)), False),
    ],
)
def test_has_aux_can_split_a_tuple_with_tensors_on_both_sides(
    returned: Tree, can_split: bool
) -> None:
    assert has_auxiliary(returned) is can_split
