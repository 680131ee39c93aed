"""Claims about loss scaling: the verdicts that the installed versions deserve, and other verdicts
for other figures.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.claim import Ruling
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale import measurement
from explorer.topics.loss_scale.claims import CLAIMS
from explorer.topics.topic import Claim
from explorer.workers.workers import Workers
from tests.measured_once import once

Doctor = Callable[[dict[str, Any]], None]
BY_ID = {claim.id: claim for claim in CLAIMS}
BOTH = ("mindspore-graph", "mindspore-tape")
ALL = (*BOTH, "torch")


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return once(workers, (each for claim in CLAIMS for each in claim.measurements))


def judge(
    claim: Claim, measured: dict[str, Measured], doctor: Doctor = lambda figures: None
) -> Ruling:
    figures = {each.name: copy.deepcopy(measured[each.name].figures) for each in claim.measurements}
    doctor(figures)
    return claim.judge(
        Evidence({name: Measured(outcome="ok", figures=each) for name, each in figures.items()}),
        claim.expects,
    )


@pytest.mark.parametrize(
    ("row", "verdict", "evidence", "advice"),
    [
        (
            12,
            "holds",
            "loss 1024, gradient [[2048, 4096, 6144]]; unscaled 1 and [[2, 4, 6]]",
            "unscale",
        ),
        (13, "holds", "right about 14 of 14", "all_finite"),
        (14, "holds", "unscaled there 0", "cast the gradients to float32 before you unscale"),
        (15, "holds", "the same scale everywhere at 24 of 24 steps", "skip the step yourself"),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, evidence: str, advice: str
) -> None:
    ruling = judge(BY_ID[row], measured)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert advice in ruling.advice


def put(question: str, engines: tuple[str, ...], *path: str, value: Any) -> Doctor:
    """Sets one figure of a question for some engines."""

    def doctor(figures: dict[str, Any]) -> None:
        for engine in engines:
            place = figures[measurement(question, engine).name]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value

    return doctor


def eager(figures: dict[str, Any]) -> None:
    """MindSpore's tape steps after an overflow."""
    figures[measurement("life", "mindspore-tape").name]["turns"][0]["stepped"] = True


def early(figures: dict[str, Any]) -> None:
    """The scale grows in the middle of a window, everywhere."""
    for engine in ALL:
        figures[measurement("life", engine).name]["turns"][3]["after"] *= 2


def calm(figures: dict[str, Any]) -> None:
    """Nothing ever overflows, so nothing is shown."""
    for engine in ALL:
        for turn in figures[measurement("life", engine).name]["turns"]:
            turn.update(finite=True, stepped=True, after=turn["scale"])


@pytest.mark.parametrize(
    ("row", "doctor", "verdict"),
    [
        (
            12,
            put("guide_example", ("mindspore-tape",), "unscaled", "gradient", value=[[2, 4, 7]]),
            "depends_on_style",
        ),
        (12, put("guide_example", BOTH, "scaled", "loss", value=512.0), "does_not_hold"),
        (
            13,
            put("finiteness", ("mindspore-graph",), "nan, float16", value=True),
            "depends_on_style",
        ),
        (13, put("finiteness", BOTH, "zeros, float32", value=False), "does_not_hold"),
        (
            14,
            put("underflow", ("mindspore-tape",), "float16", "without", value=1e-8),
            "depends_on_style",
        ),
        (14, put("underflow", ALL, "float16", "unscaled in float32", value=0.0), "does_not_hold"),
        (15, eager, "depends_on_style"),
        (15, early, "does_not_hold"),
        (15, calm, "does_not_hold"),
    ],
)
def test_other_figures_give_another_verdict(
    measured: dict[str, Measured], row: int, doctor: Doctor, verdict: str
) -> None:
    assert judge(BY_ID[row], measured, doctor).verdict == verdict


def test_the_advice_on_unscaling_follows_what_happens_in_float16(
    measured: dict[str, Measured],
) -> None:
    keeps = put("underflow", ALL, "float16", "unscaled there", value=1e-8)
    assert "cast" not in judge(BY_ID[14], measured, keeps).advice


def test_every_claim_is_called_by_its_row() -> None:
    assert sorted(BY_ID) == [12, 13, 14, 15]
    assert {claim.topic for claim in CLAIMS} == {"loss scaling"}
