"""Verdicts on steps, momentum and weight decay, by figures that could occur."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.training.questions import (
    GUIDE_STEP,
    LOOP,
    MODEL,
    MOMENTUM,
    SCALED_STEP,
    STEP_CELL,
    WEIGHT_DECAY,
)
from explorer.topics.training.update_rules import FUSED, MEANT, NEAR, PRINTED
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
AS_PRINTED = step(TWICE, TWICE)
CURED = step(TWICE, LIKE_THE_LOOP)
INCURABLE = step(TWICE, TWICE, TWICE)


# The printed step is judged by all that it leaves, up to rounding.
RULINGS = [
    Case(52, routes(ONCE, ONCE), "holds", USUAL),
    Case(52, routes(AS_PRINTED, AS_PRINTED), "does_not_hold", "from one ms.value_and_grad"),
    Case(52, routes(CURED, CURED), "does_not_hold", "Call set_grad()"),
    Case(52, routes(CURED, AS_PRINTED), "does_not_hold", "from one ms.value_and_grad"),
    Case(52, routes(INCURABLE, AS_PRINTED), "does_not_hold", USUAL),
    Case(52, routes(ONCE, AS_PRINTED), "depends_on_style", "in graph style alone"),
    Case(52, routes(CURED, ONCE), "depends_on_style", "in tape style alone"),
    Case(52, routes(ONCE, ONCE, model=ELSEWHERE), "depends_on_style", "in graph style alone"),
    Case(52, routes(AS_PRINTED, AS_PRINTED, model=ELSEWHERE), "does_not_hold", USUAL),
    Case(52, routes(AS_PRINTED, AS_PRINTED), "does_not_hold", "runs the forward pass twice"),
    Case(52, off(0.9 * NEAR), "holds"),
    Case(52, off(1.1 * NEAR), "does_not_hold"),
]


def test_statistics_that_moved_twice_are_told_apart_from_the_weights() -> None:
    seen = ruling_in(52, routes(AS_PRINTED, AS_PRINTED)).evidence
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


# Momentum: three steps of 0.1 with gradient 1 and momentum 0.9, from 1

FUSED_PATH = [[0.9], [0.71], [0.439]]
PRINTED_PATH = [[1.0], [1.0], [1.0]]
NO_MOMENTUM = {"raised": "AttributeError", "message": "no attribute 'momentum'"}

BEST: dict[str, Any] = dict.fromkeys((FUSED, *PRINTED, *MEANT), FUSED_PATH)
AS_IT_IS = {**BEST, PRINTED[0]: PRINTED_PATH, PRINTED[1]: NO_MOMENTUM}
WRONG_EVERYWHERE = {**AS_IT_IS, MEANT[0]: PRINTED_PATH}
FUSED_UNUSABLE = {**BEST, PRINTED[1]: NO_MOMENTUM}

RUNS = 0.4


def missing(operator: str) -> dict[str, str]:
    """What MindSpore raises where a device has no kernel of an operator."""
    message = f"Kernel select failed: Unsupported op [{operator}] on CPU"
    return {"raised": "RuntimeError", "message": message}


ASCEND = missing("NPUGetFloatStatusV2")
FAILS = {"raised": "TypeError", "message": "no such argument"}


def momentum(graph: Any, tape: Any, graph_step: Any = RUNS, tape_step: Any = RUNS) -> Written:
    return {
        (MOMENTUM, "mindspore"): {"graph": graph, "tape": tape},
        (SCALED_STEP, "mindspore"): {"graph": graph_step, "tape": tape_step},
    }


NEEDS_ASCEND = momentum(BEST, BEST, ASCEND, ASCEND)
NEEDS_ANOTHER = momentum(BEST, BEST, missing("GroupedMatmul"), missing("GroupedMatmul"))
LEFT_ALIKE = f"{FUSED}: [0.439] (MindSpore graph and tape)"
LEFT_APART = f"{PRINTED[0]}: [1] (MindSpore graph), [0.439] (MindSpore tape)"

# Printed momentum is judged as it is printed; styles that leave the same are named together.
RULINGS += [
    Case(60, momentum(BEST, BEST), "holds", USUAL),
    Case(60, momentum(AS_IT_IS, AS_IT_IS, ASCEND, ASCEND), "does_not_hold", "set self.momentum"),
    Case(60, momentum(FUSED_UNUSABLE, FUSED_UNUSABLE), "does_not_hold", "set self.momentum"),
    Case(60, momentum(WRONG_EVERYWHERE, AS_IT_IS), "does_not_hold", USUAL),
    Case(60, momentum(AS_IT_IS, BEST), "depends_on_style", "in tape style alone"),
    Case(60, momentum(BEST, FUSED_UNUSABLE), "depends_on_style", "in graph style alone"),
    Case(60, momentum(BEST, BEST, FAILS, RUNS), "depends_on_style", "your own in graph style"),
    Case(60, momentum(BEST, BEST, FAILS, ASCEND), "does_not_hold", USUAL),
    Case(60, momentum(AS_IT_IS, BEST), "depends_on_style", "", LEFT_ALIKE),
    Case(60, momentum(AS_IT_IS, BEST), "depends_on_style", "", LEFT_APART),
    # Only an operator with such a name is said to be an Ascend one.
    Case(60, NEEDS_ASCEND, "not_checkable_here", "needs another device", "Ascend"),
    Case(60, NEEDS_ANOTHER, "not_checkable_here", unsaid="Ascend", unseen="Ascend"),
]


# Weight decay: what one step of rate 0.1 with gradient 0 leaves of weights that are 1

NAMES = ("fc.weight", "fc.bias", "norm.gamma", "norm.beta")
NONE = dict.fromkeys(NAMES, 1.0)
ALL = dict.fromkeys(NAMES, 0.99)
ALL_BUT_NORM = {**ALL, "norm.gamma": 1.0, "norm.beta": 1.0}
BY_DEFAULT = dict.fromkeys(NAMES, 0.999)


def decay(nn: Any = ALL, experimental: Any = ALL, torch: Any = ALL, adamw: Any = NONE) -> Written:
    """A world where weight_decay=0.1 leaves this of the weights, and AdamW's default that."""
    return {
        (WEIGHT_DECAY, "mindspore"): {
            "nn SGD": {"default": NONE, "0.1": nn},
            "experimental SGD": {"default": NONE, "0.1": experimental},
        },
        (WEIGHT_DECAY, "torch"): {
            "torch SGD": {"default": NONE, "0.1": torch},
            "torch AdamW": {"default": adamw, "0.1": ALL},
        },
    }


SPARES_NONE = "not decayed: none (mindspore.nn and mindspore.experimental.optim)"
NO_DECAY = {"raised": "TypeError", "message": "no argument weight_decay"}
NN_SPARES = "what nn spares: norm.gamma and norm.beta."
EXPERIMENTAL_SPARES = "what experimental spares: norm.gamma"
SET_FOR_ADAMW = "weight_decay yourself for torch AdamW"
OTHER_DECAY = decay(torch=dict.fromkeys(NAMES, 0.98))

# Advice names what is spared and what decays, and nothing else.
RULINGS += [
    Case(57, decay(), "holds", "", SPARES_NONE),
    Case(57, OTHER_DECAY, "does_not_hold", "", "0.98 (PyTorch)"),
    Case(
        57,
        decay(nn=NO_DECAY),
        "does_not_hold",
        "",
        "no argument weight_decay (MindSpore), 0.99 (PyT",
    ),
    Case(57, decay(nn=ALL_BUT_NORM), "does_not_hold", NN_SPARES, unsaid="AdamW"),
    Case(57, decay(experimental=ALL_BUT_NORM), "does_not_hold", EXPERIMENTAL_SPARES, unsaid="nn"),
    Case(57, decay(adamw=BY_DEFAULT), "does_not_hold", SET_FOR_ADAMW, unsaid="spare"),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
