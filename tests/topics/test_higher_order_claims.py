"""The claim about higher orders: verdicts on the installed versions, and on other figures."""

from collections.abc import Callable, Sequence

import pytest

from explorer.model.measurement import Measured
from explorer.topics.higher_order.claims import BY_SHAPE
from explorer.topics.higher_order.questions import NODES_OF_WAVE, TOPIC
from explorer.topics.question import MINDSPORE_STYLES
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NESTING = TOPIC.claims[26]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, [NESTING])


def test_nesting_holds_in_graph_style_and_loses_terms_on_mindspores_tape(
    measured: dict[str, Measured],
) -> None:
    ruling = judge(NESTING, measured)
    assert ruling.verdict == "depends_on_style"
    assert "9, 24, 56, 125 (MindSpore tape and PyTorch tape)" in ruling.evidence
    assert "right (MindSpore graph and tape, PyTorch tape and graph)" in ruling.evidence
    assert "none (MindSpore graph and PyTorch tape), cube of sum" in ruling.evidence
    assert "graph style" in ruling.advice


def every_second_derivative_is_right(world: World) -> None:
    for style in MINDSPORE_STYLES:
        for figure in world[BY_SHAPE, style].values():
            figure["second"] = figure["change of first"]


def the_compiler_loses_the_same_terms_as_the_tape(world: World) -> None:
    world[BY_SHAPE, "mindspore-graph"] = world[BY_SHAPE, "mindspore-tape"]


def the_fourth_order_shrinks(styles: Sequence[str]) -> Callable[[World], None]:
    def change(world: World) -> None:
        for style in styles:
            sizes = world[NODES_OF_WAVE, style]["by order"]["4"]
            sizes.update(dict.fromkeys(sizes, 1))

    return change


def the_fourth_order_raises(world: World) -> None:
    refused = {"raised": "RuntimeError", "message": "no"}
    for style in MINDSPORE_STYLES:
        world[NODES_OF_WAVE, style]["by order"]["4"] = refused


def the_third_order_is_wrong(world: World) -> None:
    for style in MINDSPORE_STYLES:
        world[NODES_OF_WAVE, style]["values"]["3"]["elements"] = [0.0]


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
        (the_fourth_order_shrinks(["mindspore-graph"]), "depends_on_style"),
        (the_fourth_order_shrinks(MINDSPORE_STYLES), "does_not_hold"),
        (the_fourth_order_raises, "does_not_hold"),
        (the_third_order_is_wrong, "does_not_hold"),
        (the_third_order_is_refused_on_the_tape, "depends_on_style"),
    ],
)
def test_nesting_is_judged_by_values_growth_and_second_derivatives(
    measured: dict[str, Measured], change: Callable[[World], None], verdict: str
) -> None:
    assert judge(NESTING, measured, change).verdict == verdict
