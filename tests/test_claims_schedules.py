"""Claims about schedules: the verdicts that the installed versions deserve, and other verdicts for
other figures.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.claim import Ruling
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.schedules import (
    CELLS,
    HAND_TORCH,
    LISTS,
    PIECEWISE,
    USED_MINDSPORE,
    USED_TORCH,
)
from explorer.topics.schedules.claims import CLAIMS
from explorer.topics.topic import Claim
from explorer.workers.workers import Workers
from tests.study_runs import studied

Doctor = Callable[[dict[str, Any]], None]
BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    """What the claims measure, taken from one run of the study."""
    return studied("schedules", workers).measured


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
    ("number", "verdict", "evidence"),
    [
        (
            54,
            "holds_with_changes",
            "0.05, 0.05, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01]; its documentation: This interface",
        ),
        (55, "holds_with_changes", "[0.09, 0.081, 0.0729, 0.06561, 0.059049]"),
        (
            56,
            "holds_with_changes",
            "only with a function of your own in PyTorch: inverse; part: cosine (from step 11)",
        ),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], number: int, verdict: str, evidence: str
) -> None:
    ruling = judge(BY_ID[number], measured)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def _not_ending(figures: dict[str, Any]) -> None:
    figures[PIECEWISE.name]["deprecated"] = ""


def _late(figures: dict[str, Any]) -> None:
    figures[PIECEWISE.name]["rates"][2] = 0.1


def _gone(figures: dict[str, Any]) -> None:
    figures[PIECEWISE.name]["rates"] = {
        "raised": "AttributeError",
        "message": "no attribute 'piecewise_constant_lr'",
    }


def _torch_moves_by_itself(figures: dict[str, Any]) -> None:
    figures[USED_TORCH.name]["SGD, never stepped"] = figures[USED_TORCH.name][
        "SGD, stepped by hand"
    ]


def _cell_stays(figures: dict[str, Any]) -> None:
    figures[USED_MINDSPORE.name]["nn.SGD with a Cell"] = [0.1] * 5


def _experimental_moves_by_itself(figures: dict[str, Any]) -> None:
    ours = figures[USED_MINDSPORE.name]
    ours["experimental SGD, never stepped"] = ours["experimental SGD, stepped by hand"]


def _other_rates(figures: dict[str, Any]) -> None:
    figures[USED_TORCH.name]["SGD, stepped by hand"]["said"][0] = 0.1


def _cosine_agrees(figures: dict[str, Any]) -> None:
    figures[HAND_TORCH.name]["cosine"] = figures[LISTS.name]["cosine"]


def _none_agrees(figures: dict[str, Any]) -> None:
    for name in ("exponential", "natural exponential", "polynomial"):
        figures[HAND_TORCH.name][name] = [0.2] * 20


def _one_is_gone(figures: dict[str, Any]) -> None:
    for name in (LISTS.name, CELLS.name):
        figures[name]["exponential"] = {"raised": "AttributeError", "message": "gone"}


@pytest.mark.parametrize(
    ("number", "doctor", "verdict"),
    [
        (54, _not_ending, "holds"),
        (54, _late, "does_not_hold"),
        (54, _gone, "outdated"),
        (55, _torch_moves_by_itself, "does_not_hold"),
        (55, _cell_stays, "does_not_hold"),
        (55, _other_rates, "does_not_hold"),
        (55, _experimental_moves_by_itself, "holds"),
        (56, _cosine_agrees, "holds"),
        (56, _none_agrees, "does_not_hold"),
        (56, _one_is_gone, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(
    measured: dict[str, Measured], number: int, doctor: Doctor, verdict: str
) -> None:
    assert judge(BY_ID[number], measured, doctor).verdict == verdict
