"""Claims 40 to 51: the installed versions' verdicts, and those of other figures."""

import copy
from collections.abc import Callable

import pytest

from explorer.model.claim import ClaimVerdict
from explorer.model.measurement import Measured
from explorer.topics.attempts import raised
from explorer.topics.operators.questions import (
    AXES,
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    FOUR_ENGINES,
    INFERENCE,
    INITIAL_VALUES,
    MAX_POOL,
    OPERATOR_GRADIENTS,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import NORMAL, UNIFORM
from explorer.topics.question import MINDSPORE_STYLES, Target
from explorer.words.claims import what_text
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_once, put, unchanged

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

Change = Callable[[World], None]

CLAIMS = TOPIC.claims
RAISED = {"raised": "TypeError", "message": "unexpected"}


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    """What the study measures, which the claims share."""
    return measured_once(workers, TOPIC.measurements(Target()))


@pytest.mark.parametrize(
    ("row", "verdict", "evidence"),
    [
        (40, "holds", "in inference: equal (MindSpore graph and tape, PyTorch tape and graph)"),
        (41, "holds_with_changes", "Dropout(0.3): 0.304 (MindSpore)"),
        (42, "holds", "number of states: 4 (PyTorch); number of settings: 3 (MindSpore)"),
        (43, "holds", "by default: 0.9 (MindSpore and PyTorch), 0.99 (Keras)"),
        (44, "holds_with_changes", "transposes that swap two axes: x.transpose(0, 3)"),
        (45, "holds", "[[4, 5], [7, 8]] (MindSpore graph and tape, Keras)"),
        (
            46,
            "does_not_hold",
            "[[0, 2], [6, 8]] (MindSpore graph and tape, PyTorch tape and graph, Keras)",
        ),
        (46, "does_not_hold", "the printed lines: raises ValueError (MindSpore graph and tape);"),
        (46, "does_not_hold", "the lines as meant: [[0, 2], [6, 8]] (MindSpore graph and tape)"),
        (
            47,
            "holds_with_changes",
            "right/bottom 11 times, left/top 0 times, 46 settings refused (PyTorch)",
        ),
        (47, "holds_with_changes", "padding=1: [73, 154, 279, 438] (MindSpore and PyTorch)"),
        (47, "holds_with_changes", "by default: [258, 186, 187, 113] (MindSpore)"),
        (47, "holds_with_changes", "same: [258, 186, 187, 113] (MindSpore)"),
        (48, "holds", "average pool: 0 (MindSpore, PyTorch and Keras)"),
        (
            49,
            "does_not_hold",
            "of the weight: in [-0.1178, 0.1178], p = 0.9 for uniform, 0 for normal (MindSpore)",
        ),
        (50, "does_not_hold", "of the bias: in [-0.1249, 0.1248]"),
        (51, "holds", "first derivatives that agree with PyTorch tape's: 48 of 48"),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: ClaimVerdict, evidence: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict, ruling.evidence
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def training_agrees(world: World) -> None:
    for engine in FOUR_ENGINES:
        figures = world[INFERENCE, engine]
        figures["training"] = figures["inference"][:2]


def states_shifted(*engines: str) -> Change:
    """In some styles training does what inference does."""

    def change(world: World) -> None:
        for engine in engines:
            states = world[BATCH_NORM_STATES, engine]
            states["use_batch_statistics=None, training"] = states[
                "use_batch_statistics=None, inference"
            ]

    return change


def momentum_means_the_same(world: World) -> None:
    world[BATCH_NORM_MOMENTUM, "mindspore"].update(world[BATCH_NORM_MOMENTUM, "torch"]["same"])


def no_swaps(world: World) -> None:
    calls = world[AXES, "mindspore"]
    calls["x.transpose(0, 3)"] = calls["mint.transpose(x, 0, 3)"] = RAISED


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
    return put(OPERATOR_GRADIENTS, engines, "dense", "first", value=RAISED)


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
    (41, "outdated", put(DROPOUT_SETTINGS, ["mindspore"], "keep_prob=0.7", value=RAISED)),
    (41, "holds", put(DROPOUT_SETTINGS, ["mindspore"], "p=0.3", value=RAISED)),
    (
        41,
        "does_not_hold",
        put(DROPOUT_SETTINGS, ["mindspore"], "keep_prob=0.7", "kept", value=0.3),
    ),
    (41, "does_not_hold", put(DROPOUT_SETTINGS, ["mindspore"], "p=0.3", "kept", value=0.3)),
    (42, "depends_on_style", states_shifted("mindspore-tape")),
    (42, "depends_on_style", states_shifted("mindspore-graph")),
    (42, "does_not_hold", states_shifted(*MINDSPORE_STYLES)),
    (43, "outdated", momentum_means_the_same),
    (43, "does_not_hold", put(BATCH_NORM_MOMENTUM, ["mindspore"], "0.9", 0, 0, value=3.0)),
    (44, "holds", no_swaps),
    (
        44,
        "does_not_hold",
        put(AXES, ["mindspore"], "ops.transpose(x, (3, 2, 1, 0))", "shape", value=[4, 2, 3, 1]),
    ),
    (44, "does_not_hold", put(AXES, ["torch"], "torch.transpose(x, 0, 3)", value=RAISED)),
    (45, "depends_on_style", put(MAX_POOL, ["mindspore-graph"], "same", value=[[0, 2], [6, 8]])),
    (45, "holds_with_changes", put(MAX_POOL, ["keras"], "same", value=[[0, 2], [6, 8]])),
    (45, "does_not_hold", put(MAX_POOL, MINDSPORE_STYLES, "same", value=RAISED)),
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
def test_verdict_follows_the_figures(
    measured: dict[str, Measured], row: int, verdict: ClaimVerdict, change: Change
) -> None:
    ruling = judge(CLAIMS[row], measured, change)
    before = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict, ruling.evidence
    assert (ruling.verdict, ruling.evidence) != (before.verdict, before.evidence)


def test_advice_of_dropout_says_what_a_bare_number_means(measured: dict[str, Measured]) -> None:
    ruling = judge(CLAIMS[41], measured)
    assert "a bare number means keep_prob" in ruling.advice
    assert "Dropout(0.3) will drop what it keeps" in ruling.advice
    assert "`keep_prob` will be removed, `p` will become the primary argument" in ruling.evidence
    renamed = put(DROPOUT_SETTINGS, ["mindspore"], "0.3 alone", "kept", value=0.7)
    advice = judge(CLAIMS[41], measured, renamed).advice
    assert "a bare number means p" in advice
    assert "will drop" not in advice


@pytest.mark.parametrize(
    ("row", "change", "before", "after"),
    [
        (42, still_at_inference, "goes on moving the running statistics", "None for the usual"),
        (45, pools_same_in_pytorch, 'PyTorch\'s pooling has no "same"', "where TensorFlow has"),
        (51, every_second_order_defined, "For a second order, avoid", "ties and bounds too."),
    ],
)
def test_advice_changes_with_the_figures_where_the_verdict_does_not(
    measured: dict[str, Measured], row: int, change: Change, before: str, after: str
) -> None:
    as_it_is, changed = judge(CLAIMS[row], measured), judge(CLAIMS[row], measured, change)
    assert as_it_is.verdict == changed.verdict == "holds"
    assert before in as_it_is.advice
    assert before not in changed.advice
    assert after in changed.advice


def test_gradients_that_are_apart_are_named_beside_how_many_agree(
    measured: dict[str, Measured],
) -> None:
    change = gradients_apart("mindspore-graph")
    before, after = (judge(CLAIMS[51], measured, by) for by in (unchanged, change))
    assert "derivatives that differ" not in before.evidence
    assert "first derivatives that agree" in after.evidence
    assert "derivatives that differ: dense" in after.evidence


def test_outputs_that_agree_in_training_are_told_beside_those_in_inference(
    measured: dict[str, Measured],
) -> None:
    ruling = judge(CLAIMS[40], measured, training_agrees)
    assert what_text(ruling.observations[-1]).endswith(" in training")
    assert ruling.observations[-1].expected is False
    assert ruling.verdict == "holds_with_changes"
