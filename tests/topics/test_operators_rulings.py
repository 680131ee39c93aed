"""Verdicts on operators: those of the recorded figures after a change, and of figures written down."""

import copy
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.topics.attempts import raised
from explorer.topics.operators.questions import (
    ASCEND_OPERATORS,
    AXES,
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    EVALUATED_BATCH_NORM,
    FOUR_ENGINES,
    IMPLICIT_WEIGHTS,
    INFERENCE,
    INITIAL_VALUES,
    LIBRARIES,
    MAX_POOL,
    OPERATOR_GRADIENTS,
    PADDING_BY_HAND,
    STRIDED_CONVOLUTION,
    VALID_SIZES,
)
from explorer.topics.operators.readings import NORMAL, UNIFORM
from explorer.topics.question import MINDSPORE_STYLES
from explorer.words.claims import what_text
from tests.support.rulings import USUAL, Case, Written, following, ruling_in
from tests.support.topics import (
    Change,
    World,
    borrowed,
    copied,
    edited,
    moved,
    put,
    together,
    unchanged,
)

REFUSED = {"raised": "TypeError", "message": "no such argument"}

GRAPH, TAPE = (MINDSPORE_STYLES[:1], MINDSPORE_STYLES[1:])

training_agrees = edited(
    INFERENCE, FOUR_ENGINES, lambda it: it.update(training=it["inference"][:2])
)


def momentum_means_the_same(world: World) -> None:
    world[BATCH_NORM_MOMENTUM, "mindspore"].update(world[BATCH_NORM_MOMENTUM, "torch"]["same"])


no_swaps = together(
    put(AXES, ["mindspore"], "x.transpose(0, 3)", value=REFUSED),
    put(AXES, ["mindspore"], "mint.transpose(x, 0, 3)", value=REFUSED),
)


def normal_weights(kind: str, zeros: float) -> Change:
    """MindSpore's weights are from N(0, 1); ``zeros`` is the share of zeros among its biases."""
    return together(
        put(INITIAL_VALUES, ["mindspore"], f"{kind} weight", "ks", NORMAL, "p", value=0.5),
        not_uniform("mindspore", f"{kind} weight"),
        put(INITIAL_VALUES, ["mindspore"], f"{kind} bias", "zeros", value=zeros),
    )


def not_uniform(library: str, parameter: str) -> Change:
    """A library's values of a parameter are from no distribution of the claims."""
    return put(INITIAL_VALUES, [library], parameter, "ks", UNIFORM, "p", value=0.0)


def gradients_apart(*engines: str) -> Change:
    return put(OPERATOR_GRADIENTS, engines, "dense", "first", 0, 0, 0, value=9.0)


def no_gradient_of_dense(*engines: str) -> Change:
    return put(OPERATOR_GRADIENTS, engines, "dense", "first", value=REFUSED)


def mask_apart(engine: str) -> Change:
    return put(DROPOUT_MASK, [engine], "gradient", 0, value=9.0)


pools_same_in_pytorch = borrowed(MAX_POOL, "torch-tape", "same", by="mindspore-tape")


def still(mode: str) -> Change:
    """MindSpore's running statistics stay in states of a mode, whatever the setting."""

    def stay(states: Any) -> None:
        unmoved = states["use_batch_statistics=None, inference"]["running"]
        for name, state in states.items():
            if mode in name:
                state["running"] = unmoved

    return edited(BATCH_NORM_STATES, MINDSPORE_STYLES, stay)


def every_second_order_defined(world: World) -> None:
    """Of an operator that some engine has no second order of, all have one, and the same."""
    by_engine = [world[OPERATOR_GRADIENTS, engine] for engine in FOUR_ENGINES]
    for name, orders in by_engine[0].items():
        if any(raised(operators[name]["second"]) for operators in by_engine):
            for operators in by_engine:
                operators[name]["second"] = copy.deepcopy(orders["first"])


POOLED = [[0, 2], [6, 8]]

RULINGS = [
    Case(40, put(INFERENCE, TAPE, "inference", 1, 0, 0, value=7.0), "does_not_hold"),
    Case(
        40,
        put(INFERENCE, ["torch-graph"], "inference", value=[[[0.0] * 3] * 2] * 3),
        "does_not_hold",
    ),
    Case(40, training_agrees, "holds_with_changes"),
    # Running statistics may differ from the counterpart's.
    Case(42, still("inference"), "holds", "None for the usual", unsaid="goes on moving"),
    Case(42, still(""), "holds", "", "running statistics move in: none"),
    Case(43, momentum_means_the_same, "outdated"),
    Case(43, put(BATCH_NORM_MOMENTUM, ["mindspore"], "0.9", 0, 0, value=3.0), "does_not_hold"),
    Case(44, no_swaps, "holds"),
    Case(
        44,
        put(AXES, ["mindspore"], "ops.transpose(x, (3, 2, 1, 0))", "shape", value=[4, 2, 3, 1]),
        "does_not_hold",
    ),
    Case(44, put(AXES, ["torch"], "torch.transpose(x, 0, 3)", value=REFUSED), "does_not_hold"),
    Case(45, pools_same_in_pytorch, "holds", "where TensorFlow has", unsaid='has no "same"'),
    Case(45, put(MAX_POOL, GRAPH, "same", value=POOLED), "depends_on_style"),
    Case(45, put(MAX_POOL, ["keras"], "same", value=POOLED), "holds_with_changes"),
    Case(45, put(MAX_POOL, MINDSPORE_STYLES, "same", value=REFUSED), "does_not_hold"),
    Case(
        48, put(VALID_SIZES, ["torch"], "size 5, kernel 2, stride 2", 1, value=3), "does_not_hold"
    ),
    Case(51, gradients_apart(*MINDSPORE_STYLES), "does_not_hold"),
    Case(51, gradients_apart(*GRAPH), "depends_on_style", "", "derivatives that differ: dense"),
    Case(51, gradients_apart(*GRAPH), "depends_on_style", "", "first derivatives that agree"),
    Case(51, mask_apart("mindspore-tape"), "depends_on_style"),
    Case(51, mask_apart("torch-graph"), "does_not_hold"),
    # Each style has a mistake of its own.
    Case(51, together(gradients_apart(*GRAPH), mask_apart("mindspore-tape")), "does_not_hold"),
    Case(51, no_gradient_of_dense(*TAPE), "depends_on_style"),
    Case(51, no_gradient_of_dense(*MINDSPORE_STYLES), "does_not_hold"),
    Case(51, every_second_order_defined, "holds", "ties and bounds too.", unsaid="avoid"),
    # As recorded, advice has what it lacks in other worlds.
    Case(42, unchanged, "holds", "goes on moving"),
    Case(45, unchanged, "holds", 'has no "same"'),
    Case(51, unchanged, "holds", "avoid", unseen="derivatives that differ"),
]

for row, kind in ((49, "convolution"), (50, "dense")):
    RULINGS += [
        Case(row, normal_weights(kind, zeros=1.0), "holds"),
        Case(row, normal_weights(kind, zeros=0.0), "holds_with_changes"),
        Case(row, not_uniform("mindspore", f"{kind} weight"), "does_not_hold"),
        Case(row, not_uniform("torch", f"{kind} bias"), "does_not_hold"),
    ]


def test_outputs_that_agree_in_training_are_told_beside_those_in_inference() -> None:
    ruling = ruling_in(40, training_agrees)
    assert what_text(ruling.observations[-1]).endswith(" in training")
    assert ruling.observations[-1].expected is False


# Row 42: a state's counterpart has the same outputs and each of its three gradients

COUNTERPARTS = ("use_batch_statistics=None, training", "track_running_stats=True, training")


def off_by(share: float, styles: tuple[str, ...], *place: str | int) -> Change:
    """A number of a state is so far from its counterpart's, as a share of the greatest beside it."""
    *steps, last = place

    def change(world: World) -> None:
        own, other = COUNTERPARTS
        for style in styles:
            counterpart = world[BATCH_NORM_STATES, style.replace("mindspore", "torch")][other]
            figures: Any = copy.deepcopy(counterpart)
            world[BATCH_NORM_STATES, style][own] = figures
            for step in steps:
                figures = figures[step]
            array = np.array(figures[last])
            array.flat[0] += share * max(1.0, np.abs(array).max())
            figures[last] = array.tolist()

    return change


RULINGS += [
    Case(42, off_by(0.9e-5, GRAPH, "output"), "holds"),
    Case(42, off_by(1.1e-5, TAPE, "output"), "depends_on_style"),
    Case(42, off_by(0.1, MINDSPORE_STYLES, "output"), "does_not_hold"),
    Case(42, off_by(0.9e-5, GRAPH, "gradients", 0), "holds"),
    Case(42, off_by(1.1e-5, GRAPH, "gradients", 0), "depends_on_style"),
    Case(42, off_by(1.1e-5, GRAPH, "gradients", 1), "depends_on_style"),
    Case(42, off_by(1.1e-5, TAPE, "gradients", 2), "depends_on_style"),
    Case(42, off_by(0.1, MINDSPORE_STYLES, "gradients", 0), "does_not_hold"),
    Case(42, put(BATCH_NORM_STATES, TAPE, COUNTERPARTS[0], value=REFUSED), "depends_on_style"),
]

# Row 41: dropout is judged by the shares that survive

KEPT_03 = {"kept": 0.304}
KEPT_07 = {"kept": 0.697}
NOTICE = "After version 2.9.0, `keep_prob` will be removed"


def dropout(keep_prob: Any, rate: Any, bare: Any, notice: str = "") -> Change:
    """What MindSpore's dropout keeps by each way to say how much."""
    figures = {"keep_prob=0.7": keep_prob, "p=0.3": rate, "0.3 alone": bare, "notice": notice}
    return put(DROPOUT_SETTINGS, ["mindspore"], value=figures)


RULINGS += [
    Case(41, dropout(KEPT_07, REFUSED, KEPT_03), "holds", USUAL),
    Case(41, dropout(REFUSED, KEPT_07, KEPT_07), "outdated", USUAL),
    Case(41, dropout(KEPT_03, KEPT_07, KEPT_03), "does_not_hold", USUAL),
    Case(41, dropout(KEPT_07, KEPT_03, KEPT_03), "does_not_hold", USUAL),
]
RULINGS += [
    Case(41, dropout(KEPT_07, KEPT_07, bare, notice), "holds_with_changes", advice, notice)
    for bare, notice, advice in (
        (KEPT_03, NOTICE, "will drop what it keeps."),
        (KEPT_03, "", "means keep_prob in MindSpore."),
        (KEPT_07, NOTICE, "means p in MindSpore."),
        (REFUSED, "", USUAL),
    )
]

# Row 46: lines that are refused as printed do not hold, though they were meant well

MISSPELT = {"raised": "ValueError", "message": "got 'VAILD'"}
OTHERS = [[4, 5], [7, 8]]


def by_hand(graph: Any, tape: Any, meant: Any = POOLED) -> Change:
    """What padding by hand gives as it is printed, by style, and as it is meant."""
    of_styles = zip(MINDSPORE_STYLES, (graph, tape), strict=True)
    return together(
        *(
            put(PADDING_BY_HAND, [style], value={"as printed": printed, "as meant": meant})
            for style, printed in of_styles
        )
    )


keras_pools_otherwise = put(MAX_POOL, ["keras"], "zeros top and left, then valid", value=OTHERS)

RULINGS += [
    Case(46, by_hand(POOLED, POOLED), "holds", USUAL),
    Case(46, unchanged, "does_not_hold", 'Write pad_mode="valid"'),
    Case(46, by_hand(MISSPELT, MISSPELT, OTHERS), "does_not_hold", USUAL),
    Case(46, by_hand(OTHERS, MISSPELT, OTHERS), "does_not_hold", USUAL),
    Case(46, by_hand(OTHERS, OTHERS), "does_not_hold", USUAL),
    Case(46, by_hand(POOLED, MISSPELT), "depends_on_style", USUAL),
    Case(46, together(by_hand(POOLED, POOLED), keras_pools_otherwise), "does_not_hold", USUAL),
]

# Row 47, the odd zero: how many zeros stand before and after an axis, by window

BEFORE = {"size 4": [1, 0]}
AFTER = {"size 4": [0, 1]}
BOTH = {"size 4": [1, 0], "size 6": [0, 1]}
NO_STRIDES = {"size 4": [0, 1], "size 4, stride 2": MISSPELT}
NO_SAME = {"size 4": MISSPELT}

NUMBER = [73.0, 154.0]
SAME = [258.0, 186.0]
ONLY_NUMBERS = {"by default": SAME, "same": SAME, "padding=1": NUMBER}
ALL_ALIKE = {"by default": NUMBER, "same": NUMBER, "padding=1": NUMBER}
NONE_ALIKE = {"by default": SAME, "same": SAME, "padding=1": SAME}


def odd_zero(
    torch: Any, mindspore: Any = AFTER, number: Any = BEFORE, strided: Any = ONLY_NUMBERS
) -> Written:
    same = {"mindspore": mindspore, "torch": torch, "keras": AFTER}
    return {
        **{(CONVOLUTION_SIDES, library): same[library] for library in LIBRARIES},
        (CONVOLUTION_SIDES_OF_A_NUMBER, "mindspore"): BEFORE,
        (CONVOLUTION_SIDES_OF_A_NUMBER, "torch"): number,
        (STRIDED_CONVOLUTION, "mindspore"): strided,
        (STRIDED_CONVOLUTION, "torch"): {"same": MISSPELT, "padding=1": NUMBER},
    }


ALIKE = odd_zero(NO_STRIDES, strided=ALL_ALIKE)
APART = odd_zero(NO_STRIDES, strided=NONE_ALIKE)

RULINGS += [
    Case(47, odd_zero(BEFORE), "holds", 'as pad_mode="pad", padding=n, and never as "same"'),
    Case(47, odd_zero(NO_SAME), "holds", "MindSpore gives other values by default and same."),
    Case(47, odd_zero(NO_STRIDES), "holds_with_changes", "never as"),
    # Advice names a setting only where it was seen to differ.
    Case(47, ALIKE, "holds_with_changes", USUAL, unsaid="same"),
    Case(47, APART, "holds_with_changes", USUAL),
    Case(47, odd_zero(AFTER), "outdated", USUAL),
    Case(47, odd_zero(BOTH), "does_not_hold", USUAL),
    Case(47, odd_zero(BEFORE, mindspore=BEFORE), "does_not_hold", USUAL),
    Case(47, odd_zero(BEFORE, mindspore=BOTH), "does_not_hold", USUAL),
    Case(47, odd_zero(NO_STRIDES, number=AFTER), "does_not_hold", USUAL),
    Case(47, odd_zero(NO_SAME, number=BOTH), "does_not_hold", USUAL),
]

# Row 71: evaluation is judged by gradients and by a step

STATE = "track_running_stats=False, inference"


def no_gradients(*engines: str) -> Change:
    """In evaluation scale and shift get no gradient."""

    def forget(gradients: Any) -> None:
        gradients[1:] = [[0.0] * len(gradient) for gradient in gradients[1:]]

    return edited(BATCH_NORM_STATES, engines, forget, STATE, "gradients")


TORCH_STYLES = ("torch-tape", "torch-graph")
EVALUATED = (EVALUATED_BATCH_NORM, ["torch"])
no_step = edited(*EVALUATED, lambda it: it.update(after=it["before"]), "evaluation")
nothing_learnt = together(no_step, no_gradients(*TORCH_STYLES))
another_output = together(
    nothing_learnt, moved(*EVALUATED, "evaluation", "output", 0, 0, 0, 0, by=-0.001)
)
refused_in_evaluation = together(
    no_step, put(BATCH_NORM_STATES, TORCH_STYLES, STATE, value=REFUSED)
)

RULINGS += [
    Case(71, unchanged, "does_not_hold", "eval() stops no gradient"),
    Case(71, nothing_learnt, "holds", USUAL),
    Case(71, refused_in_evaluation, "holds", USUAL),
    Case(71, another_output, "does_not_hold", USUAL),
    Case(71, no_gradients("torch-graph"), "depends_on_style", USUAL),
]

# Row 72: starts are judged by the factor between deviations


def starts(**factors: float) -> Change:
    """MindSpore starts as PyTorch does, but for values that are so many times as great."""

    def change(world: World) -> None:
        figures = copy.deepcopy(world[IMPLICIT_WEIGHTS, "torch"])
        for name, factor in factors.items():
            moments = figures[name.replace("_", " ")]
            moments.update({moment: factor * value for moment, value in moments.items()})
        world[IMPLICIT_WEIGHTS, "mindspore"] = figures

    return change


BOTH_GREATER = {"conv_weight": 15.0, "dense_weight": 15.0}
LSTM_GREATER = {**BOTH_GREATER, "lstm_bias": 2.0}

RULINGS += [
    Case(72, starts(), "outdated", USUAL),
    Case(72, starts(embedding_weight=0.01), "outdated", "set by hand: embedding."),
    Case(72, starts(batch_norm_scale=0.5), "outdated", "set by hand: batch norm."),
    Case(72, starts(lstm_hidden_weight=2.0), "outdated", "set by hand: lstm."),
    Case(72, starts(**BOTH_GREATER), "holds_with_changes", USUAL),
    Case(72, starts(**LSTM_GREATER, embedding_weight=0.2), "holds", USUAL),
    Case(72, starts(**LSTM_GREATER, embedding_weight=0.01), "holds_with_changes", USUAL),
    # Sampling moves a deviation by some percent, and that is no other distribution.
    Case(72, starts(conv_weight=1.09, dense_weight=1 / 1.09), "outdated", USUAL),
    Case(72, starts(conv_weight=1.11), "holds_with_changes", USUAL),
]

# Row 77: Ascend is judged on Ascend alone

OPERATORS = ("Conv2d", "Sort", "TopK")


def on_device(target: str, refused: tuple[str, ...] = (), greatest_stride: int = 100) -> Written:
    """What a device takes, but for operators that refuse float32 and strides that are too great."""
    dtypes: dict[str, Any] = {}
    for operator in OPERATORS:
        dtypes[f"{operator} float32"] = REFUSED if operator in refused else "Float32"
        dtypes[f"{operator} float16"] = "Float16"
    strides: dict[str, Any] = {}
    for stride, width in ((1, 128), (2, 64), (63, 3), (64, 2), (100, 2)):
        strides[f"Conv2d {stride}"] = REFUSED if stride > greatest_stride else width
        strides[f"MaxPool2d {stride}"] = REFUSED if stride > greatest_stride else width
    figures: Figures = {"target": target, "dtypes": dtypes, "strides": strides}
    return {(ASCEND_OPERATORS, "mindspore"): figures}


RUN_ON_ASCEND = "Run this row on an Ascend NPU"

RULINGS += [
    Case(77, on_device("CPU"), "not_checkable_here", RUN_ON_ASCEND),
    Case(77, on_device("CPU", OPERATORS, 63), "not_checkable_here", RUN_ON_ASCEND),
    Case(77, on_device("Ascend", OPERATORS, 63), "holds", USUAL),
    Case(77, on_device("Ascend", OPERATORS), "holds_with_changes", USUAL),
    Case(77, on_device("Ascend", ("Conv2d",), 63), "holds_with_changes", USUAL),
    Case(77, on_device("Ascend", (), 63), "holds_with_changes", USUAL),
    Case(77, on_device("Ascend"), "outdated", USUAL),
]


def test_operators_that_a_device_takes_alike_are_shown_together() -> None:
    evidence = ruling_in(77, on_device("Ascend", ("Conv2d", "TopK"), 63)).evidence
    assert "dtype of the result of Conv2d float32, TopK float32: raises TypeError" in evidence
    assert "Conv2d float16, Sort float16, TopK float16: Float16" in evidence
    assert "Sort float32: Float32" in evidence
    assert "Conv2d 64, MaxPool2d 64, Conv2d 100, MaxPool2d 100: raises TypeError" in evidence


# Row 87: zeros by hand must pool negative numbers as padding does

ALL_AROUND, BY_PADDING = "negative, zeros all around, then valid", "negative, padding=1"
PADDING = 'pad_mode="pad", padding=1'

RULINGS += [
    Case(87, unchanged, "does_not_hold", PADDING),
    Case(87, copied(MAX_POOL, GRAPH, ALL_AROUND, of=BY_PADDING), "depends_on_style", PADDING),
    Case(
        87, copied(MAX_POOL, MINDSPORE_STYLES, ALL_AROUND, of=BY_PADDING), "holds", "", "", PADDING
    ),
    Case(
        87,
        put(MAX_POOL, MINDSPORE_STYLES, BY_PADDING, value=[[2]]),
        "does_not_hold",
        unsaid=PADDING,
    ),
]

test_verdict_advice_and_evidence_follow_the_figures = following(RULINGS)
