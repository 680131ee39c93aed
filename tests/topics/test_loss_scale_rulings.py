"""Verdicts on loss scaling: those of the recorded figures after a change, and of figures written down."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.loss_scale.inputs import turn
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    OVERFLOWED_STEP,
    RANGE,
    SCALING,
    TOPIC,
    UNDERFLOW,
)
from explorer.topics.question import MINDSPORE_STYLES, Question
from tests.support.topics import Change, Ruled, World, judge, put, ruled

CLAIMS = TOPIC.claims


def every_pair_refused(world: World) -> None:
    for style in MINDSPORE_STYLES:
        pairs = world[FINITENESS, style]
        for name in pairs:
            pairs[name] = {"raised": "TypeError", "message": "no kernel"}


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (
            12,
            put(GUIDE_EXAMPLE, ["mindspore-tape"], "unscaled", "gradient", value=[[2, 4, 7]]),
            "depends_on_style",
        ),
        (
            12,
            put(GUIDE_EXAMPLE, MINDSPORE_STYLES, "scaled", "loss", value=512.0),
            "does_not_hold",
        ),
        (
            13,
            put(FINITENESS, ["mindspore-graph"], "nan, float16", value=True),
            "depends_on_style",
        ),
        (13, put(FINITENESS, MINDSPORE_STYLES, "zeros, float32", value=False), "does_not_hold"),
        (13, every_pair_refused, "does_not_hold"),
        (
            14,
            put(UNDERFLOW, ["mindspore-tape"], "float16", "without", value=1e-8),
            "depends_on_style",
        ),
        (
            14,
            put(UNDERFLOW, SCALING, "float16", "unscaled in float32", value=0.0),
            "does_not_hold",
        ),
        (14, put(UNDERFLOW, SCALING, "float16", "scaled", value=0.0), "does_not_hold"),
        (
            14,
            put(UNDERFLOW, MINDSPORE_STYLES, "float16", "without", value=1e-8),
            "does_not_hold",
        ),
    ],
)
def test_other_figures_give_another_verdict(row: int, change: Change, verdict: str) -> None:
    assert judge(CLAIMS[row], change).verdict == verdict


def test_the_advice_on_unscaling_follows_what_happens_in_float16() -> None:
    float16_keeps_it = put(UNDERFLOW, SCALING, "float16", "unscaled there", value=1e-8)
    assert "cast" not in judge(CLAIMS[14], float16_keeps_it).advice


STEPPED = {"stepped": True, "weight": [float("-inf")]}
SKIPPED = {"stepped": False, "weight": [1.0]}
NOT_HERE = {"raised": "ValueError", "message": "not on this device"}


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


def routes(by_hand: Any = STEPPED, cell: Any = NOT_HERE) -> Figures:
    """What two routes of MindSpore's own make of a step after an overflow."""
    return {"optimizer(gradients)": by_hand, "the cell": cell}


RIGHT = life()
EARLY = life(grows_after=2)
NEVER_SHRINKS = life(shrinks=False)


@pytest.mark.row(15)
@pytest.mark.parametrize(
    ("graph", "tape", "torch", "graph_route", "tape_route", "verdict", "advice"),
    [
        (RIGHT, RIGHT, RIGHT, STEPPED, NOT_HERE, "holds", "skip the step yourself"),
        (RIGHT, RIGHT, RIGHT, NOT_HERE, NOT_HERE, "holds", "skip the step yourself"),
        (RIGHT, RIGHT, RIGHT, SKIPPED, NOT_HERE, "holds", "skip the step yourself"),
        (RIGHT, RIGHT, RIGHT, SKIPPED, SKIPPED, "holds_with_changes", "Leave the skipping"),
        (EARLY, RIGHT, RIGHT, SKIPPED, SKIPPED, "depends_on_style", "Check which style"),
        (NEVER_SHRINKS, RIGHT, RIGHT, NOT_HERE, NOT_HERE, "depends_on_style", "Check which style"),
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
    ruling = ruled(CLAIMS[15], world)
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
    assert ruled(CLAIMS[15], world).verdict == "does_not_hold"


def test_the_evidence_says_what_every_route_did() -> None:
    world: dict[tuple[Question, str], Figures] = {}
    for party in LIFE.asks:
        world[LIFE, party] = RIGHT
    world[OVERFLOWED_STEP, "mindspore-graph"] = routes()
    world[OVERFLOWED_STEP, "mindspore-tape"] = routes(cell=SKIPPED)
    evidence = ruled(CLAIMS[15], world).evidence
    assert "by optimizer(gradients): steps to [-inf] (MindSpore graph and tape)" in evidence
    assert "not on this device (MindSpore graph), skips it (MindSpore tape)" in evidence


TAPE = MINDSPORE_STYLES[1]

FINITE = {"value": 900.0, "gradient": 80.0, "value_is_finite": True}
HIDDEN = {**FINITE, "gradient": "not finite"}
SHOWN = {**HIDDEN, "value_is_finite": False}


def at_the_limit(row: int, in_graph: Any, on_tape: Any) -> Ruled:
    """The ruling where the scaled and the steep loss of each style are these."""
    figures: dict[Any, Any] = {}
    for party in SCALING:
        limit = on_tape if party == TAPE else in_graph
        figures[RANGE, party] = {"scaled": limit, "steep": limit, "unscaled": FINITE}
    return ruled(CLAIMS[row], figures)


@pytest.mark.row(86)
@pytest.mark.parametrize(
    ("in_graph", "on_tape", "verdict"),
    [
        (FINITE, FINITE, "holds"),
        (FINITE, HIDDEN, "depends_on_style"),
        (HIDDEN, HIDDEN, "does_not_hold"),
    ],
)
def test_a_scale_that_makes_a_gradient_infinite_avoids_no_overflow(
    in_graph: Any, on_tape: Any, verdict: str
) -> None:
    ruling = at_the_limit(86, in_graph, on_tape)
    assert ruling.verdict == verdict
    assert ("take a smaller scale" in ruling.advice) == (verdict != "holds")


@pytest.mark.row(94)
@pytest.mark.parametrize(
    ("in_graph", "on_tape", "verdict"),
    [
        (SHOWN, SHOWN, "holds"),
        (FINITE, FINITE, "holds"),
        (SHOWN, HIDDEN, "depends_on_style"),
        (HIDDEN, HIDDEN, "does_not_hold"),
    ],
)
def test_an_infinite_gradient_behind_a_finite_loss_is_hidden(
    in_graph: Any, on_tape: Any, verdict: str
) -> None:
    assert at_the_limit(94, in_graph, on_tape).verdict == verdict
