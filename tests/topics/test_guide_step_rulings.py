"""Every verdict on the routes to a step, by a weight and a running mean that they could leave."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.training.questions import GUIDE_STEP, LOOP, MODEL, STEP_CELL, TOPIC
from explorer.topics.training.update_rules import NEAR
from explorer.words.claims import what_text
from tests.support.topics import Ruled, ruled


def left(weight: float = 0.5, mean: float = 0.1) -> Figures:
    """What one step left, where PyTorch's loop leaves 0.5 and a running mean of 0.1."""
    return {"states": [{"fc.weight": [weight], "norm.running_mean": [mean, -mean]}]}


LIKE_THE_LOOP = left()
# A forward moves the mean by a tenth of its way to the batch's, and a second one by a tenth of the rest.
TWICE = left(mean=0.19)
ELSEWHERE = left(weight=0.6)


def step(printed: Figures, set_grad: Figures, meant: Figures = LIKE_THE_LOOP) -> Figures:
    return {"as printed": printed, "set_grad()": set_grad, "as meant": meant}


def routes(graph: Any, tape: Any, model: Figures = LIKE_THE_LOOP) -> Ruled:
    graph_style, tape_style = MINDSPORE_STYLES
    return ruled(
        TOPIC.claims[52],
        {
            (MODEL, graph_style): LIKE_THE_LOOP,
            (MODEL, tape_style): model,
            (STEP_CELL, graph_style): LIKE_THE_LOOP,
            (STEP_CELL, tape_style): LIKE_THE_LOOP,
            (GUIDE_STEP, graph_style): graph,
            (GUIDE_STEP, tape_style): tape,
            (LOOP, "torch"): LIKE_THE_LOOP,
        },
    )


ONCE = step(LIKE_THE_LOOP, LIKE_THE_LOOP)
AS_IT_IS = step(TWICE, TWICE)
CURED = step(TWICE, LIKE_THE_LOOP)
INCURABLE = step(TWICE, TWICE, TWICE)


@pytest.mark.row(52)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (routes(ONCE, ONCE), "holds", "can be relied on"),
        (routes(AS_IT_IS, AS_IT_IS), "does_not_hold", "from one ms.value_and_grad"),
        (routes(CURED, CURED), "does_not_hold", "Call set_grad()"),
        (routes(CURED, AS_IT_IS), "does_not_hold", "from one ms.value_and_grad"),
        (routes(INCURABLE, AS_IT_IS), "does_not_hold", "Do not rely"),
        (routes(ONCE, AS_IT_IS), "depends_on_style", "in graph style alone"),
        (routes(CURED, ONCE), "depends_on_style", "in tape style alone"),
        (routes(ONCE, ONCE, model=ELSEWHERE), "depends_on_style", "in graph style alone"),
        (routes(AS_IT_IS, AS_IT_IS, model=ELSEWHERE), "does_not_hold", "Do not rely"),
    ],
)
def test_the_printed_step_is_judged_by_all_that_it_leaves(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_statistics_that_moved_twice_are_told_apart_from_the_weights() -> None:
    seen = routes(AS_IT_IS, AS_IT_IS).evidence
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
    ruling = routes(step(printed, printed), step(printed, printed))
    counts = [
        observation.value
        for observation in ruling.observations
        if what_text(observation).startswith("forward passes in the guide's step")
    ]
    assert counts == ([passes] if passes else [])


def test_the_cause_of_statistics_that_moved_twice_is_advised_on() -> None:
    assert "runs the forward pass twice" in routes(AS_IT_IS, AS_IT_IS).advice


@pytest.mark.row(52)
@pytest.mark.parametrize(("distance", "verdict"), [(0.9, "holds"), (1.1, "does_not_hold")])
def test_a_step_counts_as_the_same_up_to_rounding(distance: float, verdict: str) -> None:
    nearly = step(left(weight=0.5 + distance * NEAR), LIKE_THE_LOOP)
    assert routes(nearly, nearly).verdict == verdict
