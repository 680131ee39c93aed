"""Verdicts on nested gradients: of figures written down, and of the recorded ones after a change."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.numeric.differences import relative_error
from explorer.topics.higher_order import wave
from explorer.topics.higher_order.claims import BY_SHAPE
from explorer.topics.higher_order.questions import NODES_OF_WAVE, SMALL_HESSIANS
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
from explorer.topics.question import MINDSPORE_STYLES
from tests.support.rulings import Case, Written, following, ruling_in
from tests.support.topics import Change, borrowed, edited, put, together, unchanged

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


def hessians(graph: Figures, tape: Figures, torch: Figures = RIGHT) -> Written:
    return {
        (SMALL_HESSIANS, "mindspore-graph"): graph,
        (SMALL_HESSIANS, "mindspore-tape"): tape,
        (SMALL_HESSIANS, "torch-func"): torch,
    }


MULTIPLY = "Nest grad in graph style. For a Hessian multiply"
HOLD = "Nest grad in graph style. Hold every Hessian"

# Wrong numbers count, and refusals do not.
RULINGS = [
    Case(84, hessians(WRONG_PRODUCT, BOTH), "holds", MULTIPLY),
    Case(84, hessians(NO_PRODUCT, BOTH), "holds", HOLD),
    Case(84, hessians(REFUSED_COLUMN, BOTH), "holds", HOLD),
    Case(84, hessians(RIGHT, LOSES_TERMS), "holds_with_changes", "Nest grad in graph style."),
    Case(
        84, hessians(WRONG_PRODUCT, WRONG_PRODUCT), "holds_with_changes", "in graph or tape style"
    ),
    Case(84, hessians(BOTH, BOTH), "holds_with_changes", "Do not nest grad here."),
    Case(84, hessians(RIGHT, RIGHT), "outdated"),
    Case(84, hessians(RIGHT, REFUSES), "outdated"),
    Case(84, hessians(WRONG_PRODUCT, BOTH, LOSES_TERMS), "does_not_hold"),
]


def test_the_evidence_says_what_is_wrong_and_what_it_should_be() -> None:
    evidence = ruling_in(84, hessians(REFUSES, LOSES_TERMS)).evidence
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


# Row 26: nesting is judged by values, growth and second derivatives


second_derivatives_right = edited(
    BY_SHAPE,
    MINDSPORE_STYLES,
    lambda it: [figure.update(second=figure["change of first"]) for figure in it.values()],
)


def fourth_order(nodes: Any, *styles: str) -> Change:
    """The graph of order 4 has so many operators, or raises; the one of order 3 has 56."""
    by_order = {str(order): {"nodes": size} for order, size in enumerate((9, 24, 56), 1)}
    orders = put(NODES_OF_WAVE, styles, "by order", value={**by_order, "4": nodes})
    return together(second_derivatives_right, orders)


def off(share: float) -> Change:
    """The third derivative is off in both styles."""
    right = wave.derivative(3)
    third = {"elements": [right * (1 + share)]}
    return together(
        second_derivatives_right, put(NODES_OF_WAVE, MINDSPORE_STYLES, "values", "3", value=third)
    )


third_order_refused_on_the_tape = together(
    second_derivatives_right, put(NODES_OF_WAVE, ["mindspore-tape"], "values", "3", value=REFUSED)
)

RULINGS += [
    Case(26, second_derivatives_right, "holds"),
    # A term that one style loses decides by style.
    Case(26, unchanged, "depends_on_style"),
    Case(26, borrowed(BY_SHAPE, "mindspore-graph", by="mindspore-tape"), "does_not_hold"),
    Case(26, third_order_refused_on_the_tape, "depends_on_style"),
    Case(26, off(0.0), "holds"),
    Case(26, off(1e-2), "does_not_hold"),
    # A graph that is no larger has not grown.
    Case(26, fourth_order({"nodes": 57}, *MINDSPORE_STYLES), "holds"),
    Case(26, fourth_order({"nodes": 56}, "mindspore-graph"), "depends_on_style"),
    Case(26, fourth_order({"nodes": 56}, "mindspore-tape"), "depends_on_style"),
    Case(26, fourth_order({"nodes": 56}, *MINDSPORE_STYLES), "does_not_hold"),
    Case(26, fourth_order({"nodes": 55}, *MINDSPORE_STYLES), "does_not_hold"),
    Case(26, fourth_order(REFUSED, *MINDSPORE_STYLES), "does_not_hold"),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
