"""Verdicts on nested gradients: of figures written down, and of the recorded ones after a change."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.numeric.differences import relative_error
from explorer.topics.higher_order.claims import BY_SHAPE
from explorer.topics.higher_order.questions import NODES_OF_WAVE, SMALL_HESSIANS, TOPIC
from explorer.topics.higher_order.small_hessians import (
    CALLS,
    HESSIAN,
    HESSIANS,
    MATRIX,
    NESTED,
    POINT,
    closed_form,
    wrong_in_silence,
)
from explorer.topics.question import MINDSPORE_STYLES, Question
from tests.support.topics import Change, World, judge, ruled

REFUSED = {"raised": "RuntimeError", "message": "no second derivative"}

RIGHT: Figures = {
    function: {call: closed_form(function, call) for call in calls}
    for function, calls in CALLS.items()
}


def but(**changes: dict[str, Any]) -> Figures:
    """All figures right but some, by function and call."""
    figures = copy.deepcopy(RIGHT)
    for function, by_call in changes.items():
        figures[function].update(by_call)
    return figures


LOST = {NESTED: [0.0, 0.0]}
WRONG_HESSIAN = {HESSIAN: [[1.0, 0.0], [0.0, 1.0]]}

LOSES_TERMS = but(cube_of_sum=LOST)
WRONG_PRODUCT = but(product_with_vector=WRONG_HESSIAN)
BOTH = but(cube_of_sum=LOST, product_with_vector=WRONG_HESSIAN)
NO_PRODUCT = but(product_with_vector=WRONG_HESSIAN, product_with_column=WRONG_HESSIAN)
REFUSED_COLUMN = but(product_with_vector=WRONG_HESSIAN, product_with_column={HESSIAN: REFUSED})
REFUSES = but(cube_of_sum={NESTED: REFUSED})


@pytest.mark.row(84)
@pytest.mark.parametrize(
    ("graph", "tape", "torch", "verdict", "advice"),
    [
        (WRONG_PRODUCT, BOTH, RIGHT, "holds", "Nest grad in graph style. For a Hessian multiply"),
        (NO_PRODUCT, BOTH, RIGHT, "holds", "Nest grad in graph style. Hold every Hessian"),
        (REFUSED_COLUMN, BOTH, RIGHT, "holds", "Nest grad in graph style. Hold every Hessian"),
        (RIGHT, LOSES_TERMS, RIGHT, "holds_with_changes", "Nest grad in graph style."),
        (WRONG_PRODUCT, WRONG_PRODUCT, RIGHT, "holds_with_changes", "in graph or tape style"),
        (BOTH, BOTH, RIGHT, "holds_with_changes", "Do not nest grad here."),
        (RIGHT, RIGHT, RIGHT, "outdated", ""),
        (RIGHT, REFUSES, RIGHT, "outdated", ""),
        (WRONG_PRODUCT, BOTH, LOSES_TERMS, "does_not_hold", ""),
    ],
)
def test_wrong_numbers_count_and_refusals_do_not(
    graph: Figures, tape: Figures, torch: Figures, verdict: str, advice: str
) -> None:
    world: dict[tuple[Question, str], Figures] = {
        (SMALL_HESSIANS, "mindspore-graph"): graph,
        (SMALL_HESSIANS, "mindspore-tape"): tape,
        (SMALL_HESSIANS, "torch-func"): torch,
    }
    ruling = ruled(TOPIC.claims[84], world)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_the_evidence_says_what_is_wrong_and_what_it_should_be() -> None:
    world: dict[tuple[Question, str], Figures] = {
        (SMALL_HESSIANS, "mindspore-graph"): REFUSES,
        (SMALL_HESSIANS, "mindspore-tape"): LOSES_TERMS,
        (SMALL_HESSIANS, "torch-func"): RIGHT,
    }
    evidence = ruled(TOPIC.claims[84], world).evidence
    assert "[0, 0] instead of [36, 36] (MindSpore tape)" in evidence
    assert "grad of grad of cube of sum: raises RuntimeError: no second" in evidence


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cube_of_sum": lambda x: x.sum() ** 3,
    "broadcast": lambda x: (np.outer(x, x) ** 2).sum(),
    "product_with_vector": lambda x: ((MATRIX @ np.sin(x)) ** 2).sum(),
    "product_with_column": lambda x: ((MATRIX @ np.sin(x)) ** 2).sum(),
}


@pytest.mark.parametrize("function", HESSIANS)
def test_the_closed_forms_are_those_of_second_differences(function: str) -> None:
    step = 1e-3
    moves = step * np.eye(2)
    f = FUNCTIONS[function]
    hessian = np.zeros((2, 2))
    for row, first in enumerate(moves):
        for column, second in enumerate(moves):
            plus = f(POINT + first + second) - f(POINT + first - second)
            minus = f(POINT - first + second) - f(POINT - first - second)
            hessian[row, column] = (plus - minus) / (4 * step**2)
    assert relative_error(HESSIANS[function], hessian) < 1e-5


def test_a_figure_is_wrong_from_one_part_in_a_hundred_thousand_on() -> None:
    right = [36 * (1 + 9e-6), 36.0]
    wrong = [36 * (1 + 2e-5), 36.0]
    assert wrong_in_silence({"cube_of_sum": {NESTED: right}}) == {NESTED: []}
    assert wrong_in_silence({"cube_of_sum": {NESTED: wrong}}) == {NESTED: ["cube_of_sum"]}


def every_second_derivative_is_right(world: World) -> None:
    for style in MINDSPORE_STYLES:
        for figure in world[BY_SHAPE, style].values():
            figure["second"] = figure["change of first"]


def the_compiler_loses_the_same_terms_as_the_tape(world: World) -> None:
    world[BY_SHAPE, "mindspore-graph"] = world[BY_SHAPE, "mindspore-tape"]


def the_fourth_order_raises(world: World) -> None:
    refused = {"raised": "RuntimeError", "message": "no"}
    for style in MINDSPORE_STYLES:
        world[NODES_OF_WAVE, style]["by order"]["4"] = refused


def the_third_order_is_refused_on_the_tape(world: World) -> None:
    every_second_derivative_is_right(world)
    refused = {"raised": "RuntimeError", "message": "no"}
    world[NODES_OF_WAVE, "mindspore-tape"]["values"]["3"] = refused


@pytest.mark.row(26)
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (every_second_derivative_is_right, "holds"),
        (the_compiler_loses_the_same_terms_as_the_tape, "does_not_hold"),
        (the_fourth_order_raises, "does_not_hold"),
        (the_third_order_is_refused_on_the_tape, "depends_on_style"),
    ],
)
def test_nesting_is_judged_by_values_growth_and_second_derivatives(
    change: Change, verdict: str
) -> None:
    assert judge(TOPIC.claims[26], change).verdict == verdict
