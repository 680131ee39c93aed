"""Every verdict on momentum written by hand and on weight decay, by figures that could occur."""

from typing import Any

from explorer.topics.training.questions import MOMENTUM, SCALED_STEP, WEIGHT_DECAY
from explorer.topics.training.update_rules import FUSED, MEANT, PRINTED
from tests.support.rulings import USUAL, Case, Written, following, ruling_in

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


# Printed momentum is judged as it is printed; styles that leave the same are named together.
RULINGS = [
    Case(60, momentum(BEST, BEST), "holds", USUAL),
    Case(60, momentum(AS_IT_IS, AS_IT_IS, ASCEND, ASCEND), "does_not_hold", "set self.momentum"),
    Case(60, momentum(FUSED_UNUSABLE, FUSED_UNUSABLE), "does_not_hold", "set self.momentum"),
    Case(60, momentum(WRONG_EVERYWHERE, AS_IT_IS), "does_not_hold", USUAL),
    Case(60, momentum(AS_IT_IS, BEST), "depends_on_style", "in tape style alone"),
    Case(60, momentum(BEST, FUSED_UNUSABLE), "depends_on_style", "in graph style alone"),
    Case(60, momentum(BEST, BEST, FAILS, RUNS), "depends_on_style", "your own in graph style"),
    Case(60, momentum(BEST, BEST, ASCEND, ASCEND), "not_checkable_here", "needs another device"),
    Case(60, momentum(BEST, BEST, FAILS, ASCEND), "does_not_hold", USUAL),
]


def test_only_an_operator_with_such_a_name_is_said_to_be_an_ascend_one() -> None:
    other = missing("GroupedMatmul")
    assert "Ascend" in ruling_in(60, momentum(BEST, BEST, ASCEND, ASCEND)).evidence
    unknown = ruling_in(60, momentum(BEST, BEST, other, other))
    assert "Ascend" not in f"{unknown.evidence} {unknown.advice}"
    assert unknown.verdict == "not_checkable_here"


def test_styles_that_leave_the_same_are_named_together_and_others_apart() -> None:
    ruling = ruling_in(60, momentum(AS_IT_IS, BEST))
    assert f"{FUSED}: [0.439] (MindSpore graph and tape)" in ruling.evidence
    assert f"{PRINTED[0]}: [1] (MindSpore graph), [0.439] (MindSpore tape)" in ruling.evidence


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
