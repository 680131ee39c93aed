"""Claims about schedules: the installed versions' verdicts, and those of other figures."""

from collections.abc import Callable

import pytest

from explorer.model.measurement import Measured
from explorer.topics.schedules.questions import BY_HAND, CELLS, LISTS, PIECEWISE, TOPIC, USED
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, studied

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    """What the claims measure, taken from one run of the study."""
    return studied("schedules", workers).measured


@pytest.mark.parametrize(
    ("row", "verdict", "evidence"),
    [
        (
            54,
            "holds_with_changes",
            "0.05, 0.01, 0.01, 0.01, 0.01, 0.01] (MindSpore); its documentation: This",
        ),
        (55, "holds_with_changes", "[0.09, 0.081, 0.0729, 0.06561, 0.059049]"),
        (56, "outdated", "cosine decay over 20 steps: other rates than PyTorch's from step 11"),
        (63, "outdated", "LambdaLR, MultiplicativeLR; not in MindSpore: OneCycleLR"),
        (
            65,
            "holds_with_changes",
            "a list: [0.09, 0.01] (MindSpore)",
        ),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, evidence: str
) -> None:
    ruling = judge(TOPIC.claims[row], measured)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def not_ending(world: World) -> None:
    world[PIECEWISE, "mindspore"]["deprecated"] = ""


def one_step_late(world: World) -> None:
    world[PIECEWISE, "mindspore"]["rates"][2] = 0.1


def gone(world: World) -> None:
    refusal = {"raised": "AttributeError", "message": "no attribute 'piecewise_constant_lr'"}
    world[PIECEWISE, "mindspore"]["rates"] = refusal


def torch_moves_by_itself(world: World) -> None:
    ways = world[USED, "torch"]
    ways["SGD, never stepped"] = ways["SGD, stepped by hand"]


def cell_stays(world: World) -> None:
    world[USED, "mindspore"]["nn.SGD with a Cell"] = [0.1] * 5


def experimental_moves_by_itself(world: World) -> None:
    ways = world[USED, "mindspore"]
    ways["experimental SGD, never stepped"] = ways["experimental SGD, stepped by hand"]


def other_rates(world: World) -> None:
    world[USED, "torch"]["SGD, stepped by hand"]["said"][0] = 0.1


def cosine_agrees(world: World) -> None:
    world[BY_HAND, "torch"]["cosine"] = world[LISTS, "mindspore"]["cosine"]


def none_agrees(world: World) -> None:
    for name in ("exponential", "natural exponential", "polynomial"):
        world[BY_HAND, "torch"][name] = [0.2] * 20


def one_is_gone(world: World) -> None:
    for question in (LISTS, CELLS):
        refusal = {"raised": "AttributeError", "message": "gone"}
        world[question, "mindspore"]["exponential"] = refusal


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (54, not_ending, "holds"),
        (54, one_step_late, "does_not_hold"),
        (54, gone, "outdated"),
        (55, torch_moves_by_itself, "does_not_hold"),
        (55, cell_stays, "does_not_hold"),
        (55, other_rates, "does_not_hold"),
        (55, experimental_moves_by_itself, "holds"),
        (56, cosine_agrees, "outdated"),
        (56, none_agrees, "does_not_hold"),
        (56, one_is_gone, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(
    measured: dict[str, Measured], row: int, change: Callable[[World], None], verdict: str
) -> None:
    assert judge(TOPIC.claims[row], measured, change).verdict == verdict
