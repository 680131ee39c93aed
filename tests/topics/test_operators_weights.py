"""Every verdict on layers' weights and on Ascend's operators, by figures that are written down."""

from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.operators.questions import (
    ASCEND_OPERATORS,
    BATCH_NORM_STATES,
    EVALUATED_BATCH_NORM,
    IMPLICIT_WEIGHTS,
    TOPIC,
)
from explorer.topics.question import Question
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims, put, unchanged, written

CLAIMS = TOPIC.claims
Change = Callable[[World], None]

# Row 71

STATE = "track_running_stats=False, inference"
STYLES = ("torch-tape", "torch-graph")
START, MOVED = [[1.0, 1.0], [0.0, 0.0]], [[0.9, 1.06], [0.82, 0.45]]
OUTPUT = [[-1.0, 1.0]]
NONE_LEARNT = {"output": OUTPUT, "gradients": [[0.5], [0.0, 0.0], [0.0, 0.0]]}

LEARNT: dict[tuple[Question, str], Figures] = {
    (EVALUATED_BATCH_NORM, "torch"): {
        mode: {"before": START, "after": MOVED, "output": OUTPUT, "running mean": None}
        for mode in ("evaluation", "training")
    },
    **{
        (BATCH_NORM_STATES, style): {
            STATE: {"output": OUTPUT, "gradients": [[0.5], [0.99, -0.61], [-8.2, -4.5]]}
        }
        for style in STYLES
    },
}


def nothing_learnt(world: World) -> None:
    world[EVALUATED_BATCH_NORM, "torch"]["evaluation"]["after"] = START
    for style in STYLES:
        world[BATCH_NORM_STATES, style][STATE] = NONE_LEARNT


def refused_in_evaluation(world: World) -> None:
    nothing_learnt(world)
    for style in STYLES:
        world[BATCH_NORM_STATES, style][STATE] = {"raised": "RuntimeError", "message": "no grad"}


def another_output(world: World) -> None:
    nothing_learnt(world)
    world[EVALUATED_BATCH_NORM, "torch"]["evaluation"]["output"] = [[-1.001, 1.0]]


@pytest.mark.row(71)
@pytest.mark.parametrize(
    ("change", "verdict", "advice"),
    [
        (unchanged, "does_not_hold", "eval() stops no gradient"),
        (nothing_learnt, "holds", "The statement can be relied on."),
        (refused_in_evaluation, "holds", "The statement can be relied on."),
        (another_output, "does_not_hold", "the evidence has what was measured"),
        (
            put(BATCH_NORM_STATES, ["torch-graph"], STATE, value=NONE_LEARNT),
            "depends_on_style",
            "Check which style you use",
        ),
    ],
)
def test_evaluation_is_judged_by_gradients_and_by_a_step(
    change: Change, verdict: str, advice: str
) -> None:
    ruling = judge(CLAIMS[71], written(LEARNT), change)
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
        (weights(), "outdated", "the evidence has what is true now"),
        (weights(batch_norm_scale=constant(0.5)), "outdated", "set by hand: batch norm."),
        (weights(lstm_hidden_weight=uniform(0.25)), "outdated", "set by hand: lstm."),
        (
            weights(conv_weight=normal(1.0), dense_weight=normal(1.0)),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        (
            weights(
                conv_weight=normal(1.0),
                dense_weight=normal(1.0),
                embedding_weight=normal(0.2),
                lstm_bias=uniform(0.25),
            ),
            "holds",
            "The statement can be relied on.",
        ),
        (
            weights(
                conv_weight=normal(1.0),
                dense_weight=normal(1.0),
                embedding_weight=normal(0.01),
                lstm_bias=uniform(0.25),
            ),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        # Sampling moves a deviation by some percent, and that is no other distribution.
        (
            weights(conv_weight=uniform(0.1179 * 1.09), dense_weight=uniform(0.125 / 1.09)),
            "outdated",
            "the evidence has what is true now",
        ),
        (
            weights(conv_weight=uniform(0.1179 * 1.11)),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
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
    ruling = judge(CLAIMS[72], written(world))
    assert ruling.verdict == verdict
    assert advice in ruling.advice


# Row 77

REFUSED = {"raised": "TypeError", "message": "float16 only"}
OPERATORS = ("Conv2d", "Sort", "TopK")


def on_device(target: str, refused: tuple[str, ...] = (), greatest_stride: int = 100) -> Figures:
    """What a device takes, but for operators that refuse float32 and strides that are too great."""
    dtypes: dict[str, Any] = {}
    for operator in OPERATORS:
        dtypes[f"{operator} float32"] = REFUSED if operator in refused else "Float32"
        dtypes[f"{operator} float16"] = "Float16"
    strides: dict[str, Any] = {}
    for stride, width in ((1, 128), (2, 64), (63, 3), (64, 2), (100, 2)):
        strides[f"Conv2d {stride}"] = REFUSED if stride > greatest_stride else width
        strides[f"MaxPool2d {stride}"] = REFUSED if stride > greatest_stride else width
    return {"target": target, "dtypes": dtypes, "strides": strides}


@pytest.mark.row(77)
@pytest.mark.parametrize(
    ("figures", "verdict", "advice"),
    [
        (on_device("CPU"), "not_checkable_here", "Run this row on an Ascend NPU"),
        (on_device("CPU", OPERATORS, 63), "not_checkable_here", "Run this row on an Ascend NPU"),
        (on_device("Ascend", OPERATORS, 63), "holds", "The statement can be relied on."),
        (
            on_device("Ascend", OPERATORS),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        (
            on_device("Ascend", ("Conv2d",), 63),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        (
            on_device("Ascend", (), 63),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        (on_device("Ascend"), "outdated", "the evidence has what is true now"),
    ],
)
def test_ascend_is_judged_on_ascend_alone(figures: Figures, verdict: str, advice: str) -> None:
    ruling = judge(CLAIMS[77], written({(ASCEND_OPERATORS, "mindspore"): figures}))
    assert ruling.verdict == verdict
    assert advice in ruling.advice


@pytest.mark.row(77)
def test_operators_that_a_device_takes_alike_are_shown_together() -> None:
    figures = on_device("Ascend", ("Conv2d", "TopK"), 63)
    evidence = judge(CLAIMS[77], written({(ASCEND_OPERATORS, "mindspore"): figures})).evidence
    assert "dtype of the result of Conv2d float32, TopK float32: raises TypeError" in evidence
    assert "Conv2d float16, Sort float16, TopK float16: Float16" in evidence
    assert "Sort float32: Float32" in evidence
    assert "Conv2d 64, MaxPool2d 64, Conv2d 100, MaxPool2d 100: raises TypeError" in evidence


@pytest.mark.mindspore
@pytest.mark.torch
def test_the_installed_versions_on_weights(workers: Workers) -> None:
    measured = measured_for_claims(workers, [CLAIMS[71], CLAIMS[72]])
    evaluated = measured[EVALUATED_BATCH_NORM.measurement_name("torch")].figures
    assert evaluated["evaluation"]["before"] == START
    assert evaluated["evaluation"]["after"] == evaluated["training"]["after"] != START
    assert evaluated["evaluation"]["running mean"] is None

    starts = {}
    for library in ("mindspore", "torch", "keras"):
        starts[library] = measured[IMPLICIT_WEIGHTS.measurement_name(library)].figures
    assert starts["mindspore"].keys() == starts["torch"].keys() == starts["keras"].keys()
    assert starts["mindspore"]["embedding weight"]["std"] == pytest.approx(0.01, rel=0.05)
    assert starts["torch"]["embedding weight"]["std"] == pytest.approx(1, rel=0.05)
    for library in ("mindspore", "torch"):
        assert starts[library]["batch norm scale"] == constant(1.0)
        for name in ("lstm input weight", "lstm hidden weight", "lstm bias"):
            # U(-1/8, 1/8) for a hidden width of 64, in both.
            assert starts[library][name]["std"] == pytest.approx(0.125 / 3**0.5, rel=0.05)
    assert judge(CLAIMS[71], measured).verdict == "does_not_hold"
    assert judge(CLAIMS[72], measured).verdict == "outdated"
    assert "and PyTorch, embedding: 100" in judge(CLAIMS[72], measured).evidence


@pytest.mark.mindspore
def test_the_cpu_takes_what_ascend_may_not(workers: Workers) -> None:
    measured = measured_for_claims(workers, [CLAIMS[77]])
    figures = measured[ASCEND_OPERATORS.measurement_name("mindspore")].figures
    assert figures == on_device("CPU") | {"strides": {**figures["strides"]}}
    assert figures["strides"]["Conv2d 64"] == 2
    assert judge(CLAIMS[77], measured).verdict == "not_checkable_here"
