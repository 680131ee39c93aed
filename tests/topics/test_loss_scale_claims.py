"""Claims about loss scaling: verdicts on the installed versions, and on other figures."""

from collections.abc import Callable

import pytest

from explorer.model.measurement import Measured
from explorer.topics.loss_scale.questions import (
    FINITENESS,
    GUIDE_EXAMPLE,
    SCALING,
    TOPIC,
    UNDERFLOW,
)
from explorer.topics.question import MINDSPORE_STYLES
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims, put

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

CLAIMS = TOPIC.claims


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


@pytest.mark.parametrize(
    ("row", "verdict", "cited", "advice"),
    [
        (
            12,
            "holds",
            "scaled gradient: [[2048, 4096, 6144]] (MindSpore graph and tape, PyTorch)",
            "unscale",
        ),
        (13, "holds", "right about: 14 of 14 (MindSpore graph and tape)", "all_finite"),
        (
            14,
            "holds",
            "unscaled in float16: 0 (MindSpore graph and tape)",
            "cast the gradients to float32 before you unscale",
        ),
    ],
)
def test_all_hold_on_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, cited: str, advice: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict
    assert cited in ruling.evidence
    assert advice in ruling.advice


def test_no_route_of_mindspore_s_own_skips_a_step_on_the_cpu(
    measured: dict[str, Measured],
) -> None:
    ruling = judge(CLAIMS[15], measured)
    assert ruling.verdict == "holds"
    assert "steps at which all scales are the same: 24 of 24" in ruling.evidence
    assert "overflowed steps that GradScaler.step skips: 5 of 5 (PyTorch)" in ruling.evidence
    assert "optimizer(gradients): steps to [-inf] (MindSpore graph and tape)" in ruling.evidence
    assert "TrainOneStepWithLossScaleCell: raises RuntimeError" in ruling.evidence
    assert "skip the step yourself" in ruling.advice


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
def test_other_figures_give_another_verdict(
    measured: dict[str, Measured], row: int, change: Callable[[World], None], verdict: str
) -> None:
    assert judge(CLAIMS[row], measured, change).verdict == verdict


def test_the_advice_on_unscaling_follows_what_happens_in_float16(
    measured: dict[str, Measured],
) -> None:
    float16_keeps_it = put(UNDERFLOW, SCALING, "float16", "unscaled there", value=1e-8)
    assert "cast" not in judge(CLAIMS[14], measured, float16_keeps_it).advice
