"""Every verdict on the routes to a step, by a weight and a running mean that they could leave."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.training.questions import GUIDE_STEP, LOOP, MODEL, STEP_CELL
from explorer.topics.training.update_rules import NEAR
from explorer.words.claims import what_text
from tests.support.rulings import USUAL, Case, Written, following, ruling_in


def left(weight: float = 0.5, mean: float = 0.1) -> Figures:
    """What one step left, where PyTorch's loop leaves 0.5 and a running mean of 0.1."""
    return {"states": [{"fc.weight": [weight], "norm.running_mean": [mean, -mean]}]}


LIKE_THE_LOOP = left()
# A forward moves the mean by a tenth of its way to the batch's, and a second one by a tenth of the rest.
TWICE = left(mean=0.19)
ELSEWHERE = left(weight=0.6)


def step(printed: Figures, set_grad: Figures, meant: Figures = LIKE_THE_LOOP) -> Figures:
    return {"as printed": printed, "set_grad()": set_grad, "as meant": meant}


def routes(graph: Any, tape: Any, model: Figures = LIKE_THE_LOOP) -> Written:
    graph_style, tape_style = MINDSPORE_STYLES
    return {
        (MODEL, graph_style): LIKE_THE_LOOP,
        (MODEL, tape_style): model,
        (STEP_CELL, graph_style): LIKE_THE_LOOP,
        (STEP_CELL, tape_style): LIKE_THE_LOOP,
        (GUIDE_STEP, graph_style): graph,
        (GUIDE_STEP, tape_style): tape,
        (LOOP, "torch"): LIKE_THE_LOOP,
    }


def off(distance: float) -> Written:
    """A weight after the guide's step is so far off, in both styles."""
    printed = step(left(weight=0.5 + distance), LIKE_THE_LOOP)
    return routes(printed, printed)


ONCE = step(LIKE_THE_LOOP, LIKE_THE_LOOP)
AS_IT_IS = step(TWICE, TWICE)
CURED = step(TWICE, LIKE_THE_LOOP)
INCURABLE = step(TWICE, TWICE, TWICE)


# The printed step is judged by all that it leaves, up to rounding.
RULINGS = [
    Case(52, routes(ONCE, ONCE), "holds", USUAL),
    Case(52, routes(AS_IT_IS, AS_IT_IS), "does_not_hold", "from one ms.value_and_grad"),
    Case(52, routes(CURED, CURED), "does_not_hold", "Call set_grad()"),
    Case(52, routes(CURED, AS_IT_IS), "does_not_hold", "from one ms.value_and_grad"),
    Case(52, routes(INCURABLE, AS_IT_IS), "does_not_hold", USUAL),
    Case(52, routes(ONCE, AS_IT_IS), "depends_on_style", "in graph style alone"),
    Case(52, routes(CURED, ONCE), "depends_on_style", "in tape style alone"),
    Case(52, routes(ONCE, ONCE, model=ELSEWHERE), "depends_on_style", "in graph style alone"),
    Case(52, routes(AS_IT_IS, AS_IT_IS, model=ELSEWHERE), "does_not_hold", USUAL),
    Case(52, routes(AS_IT_IS, AS_IT_IS), "does_not_hold", "runs the forward pass twice"),
    Case(52, off(0.9 * NEAR), "holds"),
    Case(52, off(1.1 * NEAR), "does_not_hold"),
]


def test_statistics_that_moved_twice_are_told_apart_from_the_weights() -> None:
    seen = ruling_in(52, routes(AS_IT_IS, AS_IT_IS)).evidence
    assert "between PyTorch's loop and TrainOneStepCell: 0 (MindSpore graph" in seen
    assert "of the weights alone between PyTorch's loop and the guide's step: 0 (MindSpore" in seen
    assert "what differs most after the guide's step: norm.running_mean" in seen
    assert "guide's steps moves the running mean: 1.9 times as far as PyTorch's" in seen
    assert "between PyTorch's loop and the guide's step after set_grad(): 0.09" in seen


@pytest.mark.parametrize(
    ("printed", "passes"),
    [(LIKE_THE_LOOP, "1"), (TWICE, "2"), (left(mean=0.271), "3"), (left(mean=0.15), "")],
)
def test_the_running_mean_shows_how_often_the_forward_ran(printed: Figures, passes: str) -> None:
    ruling = ruling_in(52, routes(step(printed, printed), step(printed, printed)))
    counts = [
        observation.value
        for observation in ruling.observations
        if what_text(observation).startswith("forward passes in the guide's step")
    ]
    assert counts == ([passes] if passes else [])


test_verdict_and_advice_follow_the_figures = following(RULINGS)
