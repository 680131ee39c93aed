"""Verdicts on loss scaling: those of the recorded figures after a change, and of figures written down."""

from typing import Any

from explorer.model.measurement import Figures
from explorer.topics.loss_scale.inputs import turn
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    LIFE,
    OVERFLOWED_STEP,
    RANGE,
    SCALING,
    UNDERFLOW,
)
from explorer.topics.question import MINDSPORE_STYLES, Question
from tests.support.rulings import USUAL, Case, Written, following
from tests.support.topics import edited, put

NO_KERNEL = {"raised": "TypeError", "message": "no kernel"}
every_pair_refused = edited(
    FINITENESS, MINDSPORE_STYLES, lambda pairs: pairs.update(dict.fromkeys(pairs, NO_KERNEL))
)
float16_keeps_it = put(UNDERFLOW, SCALING, "float16", "unscaled there", value=1e-8)

RULINGS = [
    Case(
        12,
        put(GUIDE_EXAMPLE, ["mindspore-tape"], "unscaled", "gradient", value=[[2, 4, 7]]),
        "depends_on_style",
    ),
    Case(12, put(GUIDE_EXAMPLE, MINDSPORE_STYLES, "scaled", "loss", value=512.0), "does_not_hold"),
    Case(13, put(FINITENESS, ["mindspore-graph"], "nan, float16", value=True), "depends_on_style"),
    Case(13, put(FINITENESS, MINDSPORE_STYLES, "zeros, float32", value=False), "does_not_hold"),
    Case(13, every_pair_refused, "does_not_hold"),
    Case(
        14, put(UNDERFLOW, ["mindspore-tape"], "float16", "without", value=1e-8), "depends_on_style"
    ),
    Case(14, put(UNDERFLOW, SCALING, "float16", "unscaled in float32", value=0.0), "does_not_hold"),
    Case(14, put(UNDERFLOW, SCALING, "float16", "scaled", value=0.0), "does_not_hold"),
    Case(14, put(UNDERFLOW, MINDSPORE_STYLES, "float16", "without", value=1e-8), "does_not_hold"),
    Case(14, float16_keeps_it, "holds", unsaid="cast"),
]

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


def lives(
    graph: Figures,
    tape: Figures,
    torch: Figures,
    graph_route: Any = SKIPPED,
    tape_route: Any = SKIPPED,
) -> Written:
    """The lives of the scalers, and what the cell makes of a step after an overflow, by style."""
    return {
        (LIFE, "mindspore-graph"): graph,
        (LIFE, "mindspore-tape"): tape,
        (LIFE, "torch"): torch,
        (OVERFLOWED_STEP, "mindspore-graph"): routes(cell=graph_route),
        (OVERFLOWED_STEP, "mindspore-tape"): routes(cell=tape_route),
    }


SKIP = "skip the step yourself"
BY_HAND = "by optimizer(gradients): steps to [-inf] (MindSpore graph and tape)"
BY_CELL = "not on this device (MindSpore graph), skips it (MindSpore tape)"
NO_OVERFLOW, NO_GROWTH = life(overflows=False), life(grows_after=9)

# The scaler is judged by its life, and by who skips.
RULINGS += [
    Case(15, lives(RIGHT, RIGHT, RIGHT, STEPPED, NOT_HERE), "holds", SKIP, BY_HAND),
    Case(15, lives(RIGHT, RIGHT, RIGHT, NOT_HERE, NOT_HERE), "holds", SKIP),
    Case(15, lives(RIGHT, RIGHT, RIGHT, SKIPPED, NOT_HERE), "holds", SKIP),
    Case(15, lives(RIGHT, RIGHT, RIGHT, NOT_HERE, SKIPPED), "holds", SKIP, BY_CELL),
    Case(15, lives(RIGHT, RIGHT, RIGHT), "holds_with_changes", "Leave the skipping"),
    Case(15, lives(EARLY, RIGHT, RIGHT), "depends_on_style", USUAL),
    Case(15, lives(NEVER_SHRINKS, RIGHT, RIGHT, NOT_HERE, NOT_HERE), "depends_on_style", USUAL),
    Case(15, lives(EARLY, EARLY, RIGHT), "does_not_hold", USUAL),
    Case(15, lives(RIGHT, RIGHT, life(skips=False)), "does_not_hold", USUAL),
    # A life without an overflow or without a growth shows nothing.
    Case(15, lives(NO_OVERFLOW, NO_OVERFLOW, NO_OVERFLOW), "does_not_hold"),
    Case(15, lives(NO_GROWTH, NO_GROWTH, NO_GROWTH), "does_not_hold"),
]

TAPE = MINDSPORE_STYLES[1]

FINITE = {"value": 900.0, "gradient": 80.0, "value_is_finite": True}
HIDDEN = {**FINITE, "gradient": "not finite"}
SHOWN = {**HIDDEN, "value_is_finite": False}


def at_the_limit(in_graph: Any, on_tape: Any) -> Written:
    """A world where the scaled and the steep loss of each style are these."""
    figures: dict[tuple[Question, str], Figures] = {}
    for party in SCALING:
        limit = on_tape if party == TAPE else in_graph
        figures[RANGE, party] = {"scaled": limit, "steep": limit, "unscaled": FINITE}
    return figures


SMALLER = "take a smaller scale"

RULINGS += [
    # A scale that makes a gradient infinite avoids no overflow.
    Case(86, at_the_limit(FINITE, FINITE), "holds", unsaid=SMALLER),
    Case(86, at_the_limit(FINITE, HIDDEN), "depends_on_style", SMALLER),
    Case(86, at_the_limit(HIDDEN, HIDDEN), "does_not_hold", SMALLER),
    # An infinite gradient behind a finite loss is hidden.
    Case(94, at_the_limit(SHOWN, SHOWN), "holds"),
    Case(94, at_the_limit(FINITE, FINITE), "holds"),
    Case(94, at_the_limit(SHOWN, HIDDEN), "depends_on_style"),
    Case(94, at_the_limit(HIDDEN, HIDDEN), "does_not_hold"),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
