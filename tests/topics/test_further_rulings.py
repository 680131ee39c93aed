"""Verdicts on the guides' further statements, by figures on both sides of what they say."""

from typing import Any

import pytest

from explorer.topics.gradients import TOPIC as GRADIENTS
from explorer.topics.gradients.questions import DEFAULTS, FUNCTIONAL, TOLD_GRADIENT
from explorer.topics.loss_scale import TOPIC as LOSS_SCALE
from explorer.topics.loss_scale.questions import RANGE, SCALING
from explorer.topics.networks import TOPIC as NETWORKS
from explorer.topics.networks.questions import NOT_TRAINED
from explorer.topics.operators import TOPIC as OPERATORS
from explorer.topics.operators.questions import MAX_POOL
from explorer.topics.question import MINDSPORE_STYLES
from tests.support.topics import Ruled, ruled

GRAPH, TAPE = MINDSPORE_STYLES

FINITE = {"value": 900.0, "gradient": 80.0, "value_is_finite": True}
HIDDEN = {**FINITE, "gradient": "not finite"}
SHOWN = {**HIDDEN, "value_is_finite": False}


def at_the_limit(row: int, in_graph: Any, on_tape: Any) -> Ruled:
    """The ruling where the scaled and the steep loss of each style are these."""
    figures: dict[Any, Any] = {}
    for party in SCALING:
        limit = on_tape if party == TAPE else in_graph
        figures[RANGE, party] = {"scaled": limit, "steep": limit, "unscaled": FINITE}
    return ruled(LOSS_SCALE.claims[row], figures)


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


def pooling(in_graph: list[list[int]], on_tape: list[list[int]], setting: list[list[int]]) -> Ruled:
    """The ruling on zeros by hand, where PyTorch's padding gives [[1]] of all numbers."""
    figures: dict[Any, Any] = {}
    for party in (*MINDSPORE_STYLES, "torch-tape"):
        by_setting = [[1]] if party == "torch-tape" else setting
        figures[MAX_POOL, party] = {
            "padding=1": by_setting,
            "negative, padding=1": by_setting,
            "zeros all around, then valid": [[1]],
            "negative, zeros all around, then valid": in_graph if party == GRAPH else on_tape,
        }
    return ruled(OPERATORS.claims[87], figures)


@pytest.mark.row(87)
@pytest.mark.parametrize(
    ("in_graph", "on_tape", "verdict"),
    [
        ([[1]], [[1]], "holds"),
        ([[1]], [[0]], "depends_on_style"),
        ([[0]], [[0]], "does_not_hold"),
    ],
)
def test_zeros_by_hand_must_pool_negative_numbers_as_padding_does(
    in_graph: list[list[int]], on_tape: list[list[int]], verdict: str
) -> None:
    by_padding = pooling(in_graph, on_tape, setting=[[1]])
    assert by_padding.verdict == verdict
    assert ('pad_mode="pad", padding=1' in by_padding.advice) == (verdict != "holds")
    assert "padding=1" not in pooling(in_graph, on_tape, setting=[[2]]).advice


def untrained(in_graph: float, on_tape: float, saved: list[str]) -> Ruled:
    """The ruling where a Tensor that is changed to 9 has these outputs."""
    figures: dict[Any, Any] = {}
    for style, output in ((GRAPH, in_graph), (TAPE, on_tape)):
        figures[NOT_TRAINED, style] = {
            "changed": 9.0,
            "after": {"tensor": output, "buffer": 2.0, "parameter": 9.0},
            "saved": saved,
            "trained": [],
        }
    return ruled(NETWORKS.claims[88], figures)


@pytest.mark.row(88)
@pytest.mark.parametrize(
    ("in_graph", "on_tape", "saved", "verdict"),
    [
        (9.0, 9.0, ["tensor", "parameter"], "holds"),
        (9.0, 9.0, ["parameter"], "holds_with_changes"),
        (2.0, 9.0, ["parameter"], "depends_on_style"),
        (2.0, 2.0, ["parameter"], "does_not_hold"),
    ],
)
def test_a_tensor_must_be_seen_changed_and_be_saved(
    in_graph: float, on_tape: float, saved: list[str], verdict: str
) -> None:
    ruling = untrained(in_graph, on_tape, saved)
    assert ruling.verdict == verdict
    assert ("Parameter(requires_grad=False)" in ruling.advice) == ("tensor" not in saved)


@pytest.mark.row(89)
@pytest.mark.parametrize(
    ("in_graph", "by_torch", "verdict"),
    [
        (14.0, 14.0, "does_not_hold"),
        (13.0, 14.0, "depends_on_style"),
        (14.0, 15.0, "holds"),
    ],
)
def test_what_pytorch_does_too_is_nobody_s_own_way(
    in_graph: float, by_torch: float, verdict: str
) -> None:
    figures: dict[Any, Any] = {}
    for party, value in ((GRAPH, in_graph), (TAPE, 14.0), ("torch", by_torch)):
        figures[FUNCTIONAL, party] = {"value": value, "gradient": [2.0, 4.0, 6.0]}
    assert ruled(GRADIENTS.claims[89], figures).verdict == verdict


BOTH = [32.0, [[[4.0, 8.0]]]]
ALONE = [[8.0, 12.0]]
"""The output with the weight's gradient, and the first input's gradient."""


@pytest.mark.row(90)
@pytest.mark.parametrize(
    ("in_graph", "on_tape", "asked_for", "verdict"),
    [
        (BOTH, BOTH, BOTH, "holds"),
        (BOTH, ALONE, BOTH, "depends_on_style"),
        (ALONE, ALONE, BOTH, "does_not_hold"),
        (ALONE, ALONE, ALONE, "does_not_hold"),
    ],
)
def test_grad_must_return_output_and_weights_by_default(
    in_graph: Any, on_tape: Any, asked_for: Any, verdict: str
) -> None:
    figures: dict[Any, Any] = {}
    for style, by_default in ((GRAPH, in_graph), (TAPE, on_tape)):
        figures[DEFAULTS, style] = {"grad": by_default, "value_and_grad": asked_for}
    assert ruled(GRADIENTS.claims[90], figures).verdict == verdict


@pytest.mark.row(91)
@pytest.mark.parametrize(
    ("in_graph", "on_tape", "verdict"),
    [(0.0, 0.0, "holds"), (0.0, 81.0, "depends_on_style"), (81.0, 81.0, "does_not_hold")],
)
def test_a_bprop_that_is_no_derivative_is_used(
    in_graph: float, on_tape: float, verdict: str
) -> None:
    question = TOLD_GRADIENT.by(*MINDSPORE_STYLES)
    figures: dict[Any, Any] = {}
    for style, slope in ((GRAPH, in_graph), (TAPE, on_tape)):
        figures[question, style] = {
            "structure": "dx",
            "values": [[slope]],
            "raised": "",
            "message": "",
        }
    assert ruled(GRADIENTS.claims[91], figures).verdict == verdict
