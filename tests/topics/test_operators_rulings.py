"""Verdicts on operators: those of the recorded figures after a change, and of figures written down."""

import copy
from typing import Any

import pytest

from explorer.model.claim import ClaimVerdict
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
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import NORMAL, UNIFORM
from explorer.topics.question import MINDSPORE_STYLES, Question
from explorer.words.claims import what_text
from tests.support.topics import (
    Change,
    Ruled,
    World,
    copied,
    judge,
    put,
    ruled,
    together,
    unchanged,
)

REFUSED = {"raised": "TypeError", "message": "no such argument"}

CLAIMS = TOPIC.claims


def training_agrees(world: World) -> None:
    for engine in FOUR_ENGINES:
        figures = world[INFERENCE, engine]
        figures["training"] = figures["inference"][:2]


def momentum_means_the_same(world: World) -> None:
    world[BATCH_NORM_MOMENTUM, "mindspore"].update(world[BATCH_NORM_MOMENTUM, "torch"]["same"])


def no_swaps(world: World) -> None:
    calls = world[AXES, "mindspore"]
    calls["x.transpose(0, 3)"] = calls["mint.transpose(x, 0, 3)"] = REFUSED


def normal_weights(kind: str, zeros: float) -> Change:
    """MindSpore's weights are from N(0, 1); ``zeros`` is the share of zeros among its biases."""

    def change(world: World) -> None:
        figures = world[INITIAL_VALUES, "mindspore"]
        tests = figures[f"{kind} weight"]["ks"]
        tests[NORMAL]["p"], tests[UNIFORM]["p"] = 0.5, 0.0
        figures[f"{kind} bias"]["zeros"] = zeros

    return change


def other_weights(kind: str) -> Change:
    """MindSpore's weights are from no distribution of the claims."""
    return put(INITIAL_VALUES, ["mindspore"], f"{kind} weight", "ks", UNIFORM, "p", value=0.0)


def gradients_apart(*engines: str) -> Change:
    return put(OPERATOR_GRADIENTS, engines, "dense", "first", 0, 0, 0, value=9.0)


def no_gradient_of_dense(*engines: str) -> Change:
    return put(OPERATOR_GRADIENTS, engines, "dense", "first", value=REFUSED)


def masks_and_gradients_apart(world: World) -> None:
    """Each style has a mistake of its own."""
    gradients_apart("mindspore-graph")(world)
    put(DROPOUT_MASK, ["mindspore-tape"], "gradient", 0, value=9.0)(world)


def torch_is_not_uniform(kind: str) -> Change:
    return put(INITIAL_VALUES, ["torch"], f"{kind} bias", "ks", UNIFORM, "p", value=0.0)


def pools_same_in_pytorch(world: World) -> None:
    world[MAX_POOL, "torch-tape"]["same"] = world[MAX_POOL, "mindspore-tape"]["same"]


def still_at_inference(world: World) -> None:
    """MindSpore's running statistics stay as they are at inference, whatever the setting."""
    for engine in MINDSPORE_STYLES:
        states = world[BATCH_NORM_STATES, engine]
        unmoved = states["use_batch_statistics=None, inference"]["running"]
        for name, state in states.items():
            if "inference" in name:
                state["running"] = unmoved


def every_second_order_defined(world: World) -> None:
    """Of an operator that some engine has no second order of, all have one, and the same."""
    by_engine = [world[OPERATOR_GRADIENTS, engine] for engine in FOUR_ENGINES]
    for name, orders in by_engine[0].items():
        if any(raised(operators[name]["second"]) for operators in by_engine):
            for operators in by_engine:
                operators[name]["second"] = copy.deepcopy(orders["first"])


CHANGES: tuple[tuple[int, ClaimVerdict, Change], ...] = (
    (40, "does_not_hold", put(INFERENCE, ["mindspore-tape"], "inference", 1, 0, 0, value=7.0)),
    (
        40,
        "does_not_hold",
        put(INFERENCE, ["torch-graph"], "inference", value=[[[0.0] * 3] * 2] * 3),
    ),
    (40, "holds_with_changes", training_agrees),
    (43, "outdated", momentum_means_the_same),
    (43, "does_not_hold", put(BATCH_NORM_MOMENTUM, ["mindspore"], "0.9", 0, 0, value=3.0)),
    (44, "holds", no_swaps),
    (
        44,
        "does_not_hold",
        put(AXES, ["mindspore"], "ops.transpose(x, (3, 2, 1, 0))", "shape", value=[4, 2, 3, 1]),
    ),
    (44, "does_not_hold", put(AXES, ["torch"], "torch.transpose(x, 0, 3)", value=REFUSED)),
    (45, "depends_on_style", put(MAX_POOL, ["mindspore-graph"], "same", value=[[0, 2], [6, 8]])),
    (45, "holds_with_changes", put(MAX_POOL, ["keras"], "same", value=[[0, 2], [6, 8]])),
    (45, "does_not_hold", put(MAX_POOL, MINDSPORE_STYLES, "same", value=REFUSED)),
    (48, "does_not_hold", put(VALID_SIZES, ["torch"], "size 5, kernel 2, stride 2", 1, value=3)),
    (49, "holds", normal_weights("convolution", zeros=1.0)),
    (49, "holds_with_changes", normal_weights("convolution", zeros=0.0)),
    (49, "does_not_hold", other_weights("convolution")),
    (49, "does_not_hold", torch_is_not_uniform("convolution")),
    (50, "holds", normal_weights("dense", zeros=1.0)),
    (50, "holds_with_changes", normal_weights("dense", zeros=0.0)),
    (50, "does_not_hold", other_weights("dense")),
    (50, "does_not_hold", torch_is_not_uniform("dense")),
    (51, "does_not_hold", gradients_apart(*MINDSPORE_STYLES)),
    (51, "depends_on_style", gradients_apart("mindspore-graph")),
    (51, "depends_on_style", put(DROPOUT_MASK, ["mindspore-tape"], "gradient", 0, value=9.0)),
    (51, "does_not_hold", put(DROPOUT_MASK, ["torch-graph"], "gradient", 0, value=9.0)),
    (51, "does_not_hold", masks_and_gradients_apart),
    (51, "depends_on_style", no_gradient_of_dense("mindspore-tape")),
    (51, "does_not_hold", no_gradient_of_dense(*MINDSPORE_STYLES)),
)
"""A row, the verdict that it gets in a changed world, and the change."""


@pytest.mark.parametrize(
    ("row", "verdict", "change"),
    CHANGES,
    ids=[f"{row}-{place}-{verdict}" for place, (row, verdict, _) in enumerate(CHANGES)],
)
def test_verdict_follows_the_figures(row: int, verdict: ClaimVerdict, change: Change) -> None:
    ruling = judge(CLAIMS[row], change)
    before = judge(CLAIMS[row])
    assert ruling.verdict == verdict, ruling.evidence
    assert (ruling.verdict, ruling.evidence) != (before.verdict, before.evidence)


@pytest.mark.parametrize(
    ("row", "change", "before", "after"),
    [
        (42, still_at_inference, "goes on moving the running statistics", "None for the usual"),
        (45, pools_same_in_pytorch, 'PyTorch\'s pooling has no "same"', "where TensorFlow has"),
        (51, every_second_order_defined, "For a second order, avoid", "ties and bounds too."),
    ],
)
def test_advice_changes_with_the_figures_where_the_verdict_does_not(
    row: int, change: Change, before: str, after: str
) -> None:
    as_it_is, changed = judge(CLAIMS[row]), judge(CLAIMS[row], change)
    assert as_it_is.verdict == changed.verdict == "holds"
    assert before in as_it_is.advice
    assert before not in changed.advice
    assert after in changed.advice


def test_gradients_that_are_apart_are_named_beside_how_many_agree() -> None:
    change = gradients_apart("mindspore-graph")
    before, after = (judge(CLAIMS[51], by) for by in (unchanged, change))
    assert "derivatives that differ" not in before.evidence
    assert "first derivatives that agree" in after.evidence
    assert "derivatives that differ: dense" in after.evidence


def test_outputs_that_agree_in_training_are_told_beside_those_in_inference() -> None:
    ruling = judge(CLAIMS[40], training_agrees)
    assert what_text(ruling.observations[-1]).endswith(" in training")
    assert ruling.observations[-1].expected is False
    assert ruling.verdict == "holds_with_changes"


KEPT_03 = {"kept": 0.304}
KEPT_07 = {"kept": 0.697}
NOTICE = "After version 2.9.0, `keep_prob` will be removed"


@pytest.mark.row(41)
@pytest.mark.parametrize(
    ("keep_prob", "rate", "bare", "notice", "verdict", "advice"),
    [
        (KEPT_07, REFUSED, KEPT_03, "", "holds", "can be relied on."),
        (KEPT_07, KEPT_07, KEPT_03, NOTICE, "holds_with_changes", "will drop what it keeps."),
        (KEPT_07, KEPT_07, KEPT_03, "", "holds_with_changes", "means keep_prob in MindSpore."),
        (KEPT_07, KEPT_07, KEPT_07, NOTICE, "holds_with_changes", "means p in MindSpore."),
        (KEPT_07, KEPT_07, REFUSED, "", "holds_with_changes", "defaults of the evidence."),
        (REFUSED, KEPT_07, KEPT_07, "", "outdated", "what is true now."),
        (KEPT_03, KEPT_07, KEPT_03, "", "does_not_hold", "what was measured."),
        (KEPT_07, KEPT_03, KEPT_03, "", "does_not_hold", "what was measured."),
    ],
)
def test_dropout_is_judged_by_the_shares_that_survive(
    keep_prob: Any, rate: Any, bare: Any, notice: str, verdict: str, advice: str
) -> None:
    mindspore = {
        "keep_prob=0.7": keep_prob,
        "p=0.3": rate,
        "0.3 alone": bare,
        "notice": notice,
    }
    world: dict[tuple[Question, str], Figures] = {
        (DROPOUT_SETTINGS, "mindspore"): mindspore,
        (DROPOUT_SETTINGS, "torch"): {"p=0.3": KEPT_07, "0.3 alone": KEPT_07},
        (DROPOUT_SETTINGS, "keras"): {"rate=0.3": KEPT_07},
    }
    ruling = ruled(TOPIC.claims[41], world)
    assert ruling.verdict == verdict
    assert ruling.advice.endswith(advice)
    assert (NOTICE in ruling.evidence) == bool(notice)


MISSPELT = {"raised": "ValueError", "message": "got 'VAILD'"}

# Padding by hand

GUIDES = [[0, 2], [6, 8]]
OTHERS = [[4, 5], [7, 8]]


def by_hand(graph: Any, tape: Any, meant: Any = GUIDES, keras: Any = GUIDES) -> Ruled:
    figures = {}
    for style, printed in zip(MINDSPORE_STYLES, (graph, tape), strict=True):
        figures[PADDING_BY_HAND, style] = {"as printed": printed, "as meant": meant}
    for party in MAX_POOL.asks:
        pooled = keras if party == "keras" else GUIDES
        figures[MAX_POOL, party] = {"zeros top and left, then valid": pooled}
    return ruled(TOPIC.claims[46], figures)


@pytest.mark.row(46)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (by_hand(GUIDES, GUIDES), "holds", "can be relied on"),
        (by_hand(MISSPELT, MISSPELT), "does_not_hold", 'Write pad_mode="valid"'),
        (by_hand(MISSPELT, MISSPELT, OTHERS), "does_not_hold", "Do not rely"),
        (by_hand(OTHERS, MISSPELT, OTHERS), "does_not_hold", "Do not rely"),
        (by_hand(OTHERS, OTHERS), "does_not_hold", "Do not rely"),
        (by_hand(GUIDES, MISSPELT), "depends_on_style", "Check which style"),
        (by_hand(GUIDES, GUIDES, keras=OTHERS), "does_not_hold", "Do not rely"),
    ],
)
def test_lines_that_are_refused_as_printed_do_not_hold_though_they_were_meant_well(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


# The odd zero: how many zeros stand before and after an axis, by window

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
) -> Ruled:
    same = {"mindspore": mindspore, "torch": torch, "keras": AFTER}
    figures = {(CONVOLUTION_SIDES, library): same[library] for library in LIBRARIES}
    figures[CONVOLUTION_SIDES_OF_A_NUMBER, "mindspore"] = BEFORE
    figures[CONVOLUTION_SIDES_OF_A_NUMBER, "torch"] = number
    figures[STRIDED_CONVOLUTION, "mindspore"] = strided
    figures[STRIDED_CONVOLUTION, "torch"] = {"same": MISSPELT, "padding=1": NUMBER}
    return ruled(TOPIC.claims[47], figures)


@pytest.mark.row(47)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (odd_zero(BEFORE), "holds", 'as pad_mode="pad", padding=n, and never as "same"'),
        (odd_zero(NO_SAME), "holds", "MindSpore gives other values by default and same."),
        (odd_zero(NO_STRIDES), "holds_with_changes", "never as"),
        (odd_zero(NO_STRIDES, strided=ALL_ALIKE), "holds_with_changes", "names and defaults"),
        (odd_zero(NO_STRIDES, strided=NONE_ALIKE), "holds_with_changes", "names and defaults"),
        (odd_zero(AFTER), "outdated", "what is true now"),
        (odd_zero(BOTH), "does_not_hold", "Do not rely"),
        (odd_zero(BEFORE, mindspore=BEFORE), "does_not_hold", "Do not rely"),
        (odd_zero(BEFORE, mindspore=BOTH), "does_not_hold", "Do not rely"),
        (odd_zero(NO_STRIDES, number=AFTER), "does_not_hold", "Do not rely"),
        (odd_zero(NO_SAME, number=BOTH), "does_not_hold", "Do not rely"),
    ],
)
def test_the_odd_zero_is_judged_by_same_and_by_numbers(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_advice_names_a_setting_only_where_it_was_seen_to_differ() -> None:
    assert "same" not in odd_zero(NO_STRIDES, strided=ALL_ALIKE).advice


# Row 71

STATE = "track_running_stats=False, inference"


def no_gradients(*engines: str) -> Change:
    """In evaluation scale and shift get no gradient."""

    def change(world: World) -> None:
        for engine in engines:
            gradients = world[BATCH_NORM_STATES, engine][STATE]["gradients"]
            gradients[1:] = [[0.0] * len(gradient) for gradient in gradients[1:]]

    return change


def no_step(world: World) -> None:
    evaluated = world[EVALUATED_BATCH_NORM, "torch"]["evaluation"]
    evaluated["after"] = evaluated["before"]


def another_output(world: World) -> None:
    nothing_learnt(world)
    world[EVALUATED_BATCH_NORM, "torch"]["evaluation"]["output"][0][0][0][0] -= 0.001


TORCH_STYLES = ("torch-tape", "torch-graph")
NO_GRAD = {"raised": "RuntimeError", "message": "no grad"}
nothing_learnt = together(no_step, no_gradients(*TORCH_STYLES))
refused_in_evaluation = together(
    no_step, put(BATCH_NORM_STATES, TORCH_STYLES, STATE, value=NO_GRAD)
)


@pytest.mark.row(71)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "does_not_hold", "eval() stops no gradient"),
        (nothing_learnt, "holds", "can be relied on"),
        (refused_in_evaluation, "holds", "can be relied on"),
        (another_output, "does_not_hold", "Do not rely"),
        (no_gradients("torch-graph"), "depends_on_style", "Check which style"),
    ],
)
def test_evaluation_is_judged_by_gradients_and_by_a_step(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[71], change)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


# Row 72


def uniform(bound: float) -> Figures:
    """Moments of values drawn uniformly within a bound of zero."""
    return {"minimum": -bound, "maximum": bound, "mean": 0.0, "std": bound / 3**0.5}


def normal(deviation: float) -> Figures:
    """Moments of some thousand values drawn from a normal distribution."""
    greatest = 3.5 * deviation
    return {"minimum": -greatest, "maximum": greatest, "mean": 0.0, "std": deviation}


def constant(value: float) -> Figures:
    """Moments of values that are all the same."""
    return {"minimum": value, "maximum": value, "mean": value, "std": 0.0}


def weights(**others: Figures) -> Figures:
    """The parameters of one library that starts as PyTorch does, but for ``others``."""
    figures = {
        "conv weight": uniform(0.1179),
        "dense weight": uniform(0.125),
        "embedding weight": normal(1.0),
        "lstm input weight": uniform(0.125),
        "lstm hidden weight": uniform(0.125),
        "lstm bias": uniform(0.125),
    }
    for norm in ("batch norm", "layer norm", "group norm"):
        figures[f"{norm} scale"] = constant(1.0)
        figures[f"{norm} shift"] = constant(0.0)
    for name, values in others.items():
        figures[name.replace("_", " ")] = values
    return figures


@pytest.mark.row(72)
@pytest.mark.parametrize(
    ("mindspore", "verdict", "advice"),
    [
        (weights(embedding_weight=normal(0.01)), "outdated", "set by hand: embedding."),
        (weights(), "outdated", "what is true now"),
        (weights(batch_norm_scale=constant(0.5)), "outdated", "set by hand: batch norm."),
        (weights(lstm_hidden_weight=uniform(0.25)), "outdated", "set by hand: lstm."),
        (
            weights(conv_weight=normal(1.0), dense_weight=normal(1.0)),
            "holds_with_changes",
            "names and defaults",
        ),
        (
            weights(
                conv_weight=normal(1.0),
                dense_weight=normal(1.0),
                embedding_weight=normal(0.2),
                lstm_bias=uniform(0.25),
            ),
            "holds",
            "can be relied on",
        ),
        (
            weights(
                conv_weight=normal(1.0),
                dense_weight=normal(1.0),
                embedding_weight=normal(0.01),
                lstm_bias=uniform(0.25),
            ),
            "holds_with_changes",
            "names and defaults",
        ),
        # Sampling moves a deviation by some percent, and that is no other distribution.
        (
            weights(conv_weight=uniform(0.1179 * 1.09), dense_weight=uniform(0.125 / 1.09)),
            "outdated",
            "what is true now",
        ),
        (weights(conv_weight=uniform(0.1179 * 1.11)), "holds_with_changes", "names and defaults"),
    ],
)
def test_starts_are_judged_by_the_factor_between_deviations(
    mindspore: Figures, verdict: str, advice: str
) -> None:
    world = {
        (IMPLICIT_WEIGHTS, "mindspore"): mindspore,
        (IMPLICIT_WEIGHTS, "torch"): weights(),
        (IMPLICIT_WEIGHTS, "keras"): weights(embedding_weight=uniform(0.05)),
    }
    ruling = ruled(CLAIMS[72], world)
    assert ruling.verdict == verdict
    assert advice in ruling.advice


# Row 77

NOT_TAKEN = {"raised": "TypeError", "message": "float16 only"}
OPERATORS = ("Conv2d", "Sort", "TopK")


def on_device(target: str, refused: tuple[str, ...] = (), greatest_stride: int = 100) -> Figures:
    """What a device takes, but for operators that refuse float32 and strides that are too great."""
    dtypes: dict[str, Any] = {}
    for operator in OPERATORS:
        dtypes[f"{operator} float32"] = NOT_TAKEN if operator in refused else "Float32"
        dtypes[f"{operator} float16"] = "Float16"
    strides: dict[str, Any] = {}
    for stride, width in ((1, 128), (2, 64), (63, 3), (64, 2), (100, 2)):
        strides[f"Conv2d {stride}"] = NOT_TAKEN if stride > greatest_stride else width
        strides[f"MaxPool2d {stride}"] = NOT_TAKEN if stride > greatest_stride else width
    return {"target": target, "dtypes": dtypes, "strides": strides}


@pytest.mark.row(77)
@pytest.mark.parametrize(
    ("figures", "verdict", "advice"),
    [
        (on_device("CPU"), "not_checkable_here", "Run this row on an Ascend NPU"),
        (on_device("CPU", OPERATORS, 63), "not_checkable_here", "Run this row on an Ascend NPU"),
        (on_device("Ascend", OPERATORS, 63), "holds", "can be relied on"),
        (on_device("Ascend", OPERATORS), "holds_with_changes", "names and defaults"),
        (on_device("Ascend", ("Conv2d",), 63), "holds_with_changes", "names and defaults"),
        (on_device("Ascend", (), 63), "holds_with_changes", "names and defaults"),
        (on_device("Ascend"), "outdated", "what is true now"),
    ],
)
def test_ascend_is_judged_on_ascend_alone(figures: Figures, verdict: str, advice: str) -> None:
    ruling = ruled(CLAIMS[77], {(ASCEND_OPERATORS, "mindspore"): figures})
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.row(77)
def test_operators_that_a_device_takes_alike_are_shown_together() -> None:
    figures = on_device("Ascend", ("Conv2d", "TopK"), 63)
    evidence = ruled(CLAIMS[77], {(ASCEND_OPERATORS, "mindspore"): figures}).evidence
    assert "dtype of the result of Conv2d float32, TopK float32: raises TypeError" in evidence
    assert "Conv2d float16, Sort float16, TopK float16: Float16" in evidence
    assert "Sort float32: Float32" in evidence
    assert "Conv2d 64, MaxPool2d 64, Conv2d 100, MaxPool2d 100: raises TypeError" in evidence


ALL_AROUND, BY_PADDING = "negative, zeros all around, then valid", "negative, padding=1"


@pytest.mark.row(87)
@pytest.mark.parametrize(
    ("change", "verdict", "is_advised"),
    [
        (unchanged, "does_not_hold", True),
        (
            copied(MAX_POOL, MINDSPORE_STYLES[:1], ALL_AROUND, of=BY_PADDING),
            "depends_on_style",
            True,
        ),
        (copied(MAX_POOL, MINDSPORE_STYLES, ALL_AROUND, of=BY_PADDING), "holds", False),
        (put(MAX_POOL, MINDSPORE_STYLES, BY_PADDING, value=[[2]]), "does_not_hold", False),
    ],
)
def test_zeros_by_hand_must_pool_negative_numbers_as_padding_does(
    change: Change, verdict: str, is_advised: bool
) -> None:
    ruling = judge(CLAIMS[87], change)
    assert ruling.verdict == verdict
    assert ('pad_mode="pad", padding=1' in ruling.advice) == is_advised
