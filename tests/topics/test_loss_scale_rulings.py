"""Every verdict on the dynamic scaler, by lives of a scaler that can occur."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.loss_scale.inputs import turn
from explorer.topics.loss_scale.questions import LIFE, OVERFLOWED_STEP, TOPIC
from explorer.topics.question import Question
from tests.support.topics import ruled

STEPPED = {"stepped": True, "weight": [float("-inf")]}
SKIPPED = {"stepped": False, "weight": [1.0]}
REFUSED = {"raised": "ValueError", "message": "not on this device"}


def life(
    *, skips: bool = True, shrinks: bool = True, grows_after: int = 3, overflows: bool = True
) -> Figures:
    """One overflow, and finite steps with one growth; the window is of three steps."""
    scale = 8.0
    turns = []
    if overflows:
        after = scale / 2 if shrinks else scale
        turns.append(turn(scale, after, finite=False, stepped=not skips))
        scale = after
    for step in range(1, 5):
        after = scale * 2 if step == grows_after else scale
        turns.append(turn(scale, after, finite=True, stepped=True))
        scale = after
    return {"turns": turns, "weight": 1.0}


def routes(by_hand: Any = STEPPED, cell: Any = REFUSED) -> Figures:
    """What two routes of MindSpore's own make of a step after an overflow."""
    return {"optimizer(gradients)": by_hand, "the cell": cell}


RIGHT = life()
EARLY = life(grows_after=2)
NEVER_SHRINKS = life(shrinks=False)


@pytest.mark.row(15)
@pytest.mark.parametrize(
    ("graph", "tape", "torch", "graph_route", "tape_route", "verdict", "advice"),
    [
        (RIGHT, RIGHT, RIGHT, STEPPED, REFUSED, "holds", "skip the step yourself"),
        (RIGHT, RIGHT, RIGHT, REFUSED, REFUSED, "holds", "skip the step yourself"),
        (RIGHT, RIGHT, RIGHT, SKIPPED, REFUSED, "holds", "skip the step yourself"),
        (RIGHT, RIGHT, RIGHT, SKIPPED, SKIPPED, "holds_with_changes", "Leave the skipping"),
        (EARLY, RIGHT, RIGHT, SKIPPED, SKIPPED, "depends_on_style", "Check which style"),
        (NEVER_SHRINKS, RIGHT, RIGHT, REFUSED, REFUSED, "depends_on_style", "Check which style"),
        (EARLY, EARLY, RIGHT, SKIPPED, SKIPPED, "does_not_hold", "Do not rely"),
        (RIGHT, RIGHT, life(skips=False), SKIPPED, SKIPPED, "does_not_hold", "Do not rely"),
    ],
)
def test_the_scaler_is_judged_by_its_life_and_by_who_skips(
    graph: Figures,
    tape: Figures,
    torch: Figures,
    graph_route: Any,
    tape_route: Any,
    verdict: str,
    advice: str,
) -> None:
    world: dict[tuple[Question, str], Figures] = {
        (LIFE, "mindspore-graph"): graph,
        (LIFE, "mindspore-tape"): tape,
        (LIFE, "torch"): torch,
        (OVERFLOWED_STEP, "mindspore-graph"): routes(cell=graph_route),
        (OVERFLOWED_STEP, "mindspore-tape"): routes(cell=tape_route),
    }
    ruling = ruled(TOPIC.claims[15], world)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.parametrize("nothing_happens", [life(overflows=False), life(grows_after=9)])
def test_a_life_without_an_overflow_or_without_a_growth_shows_nothing(
    nothing_happens: Figures,
) -> None:
    world: dict[tuple[Question, str], Figures] = {}
    for party in LIFE.asks:
        world[LIFE, party] = nothing_happens
    for style in OVERFLOWED_STEP.asks:
        world[OVERFLOWED_STEP, style] = routes()
    assert ruled(TOPIC.claims[15], world).verdict == "does_not_hold"


def test_the_evidence_says_what_every_route_did() -> None:
    world: dict[tuple[Question, str], Figures] = {}
    for party in LIFE.asks:
        world[LIFE, party] = RIGHT
    world[OVERFLOWED_STEP, "mindspore-graph"] = routes()
    world[OVERFLOWED_STEP, "mindspore-tape"] = routes(cell=SKIPPED)
    evidence = ruled(TOPIC.claims[15], world).evidence
    assert "by optimizer(gradients): steps to [-inf] (MindSpore graph and tape)" in evidence
    assert "not on this device (MindSpore graph), skips it (MindSpore tape)" in evidence
