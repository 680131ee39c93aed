"""Claims about networks: what the evidence deserves, and other verdicts on other evidence."""

from collections.abc import Callable

import pytest

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.topics.boards import judged
from explorer.topics.networks.questions import (
    CONTAINERS,
    MODES,
    STARTING_MODE,
    TOPIC,
)
from explorer.words.claims import evidence_text
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

CLAIMS = TOPIC.claims


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


@pytest.mark.parametrize(
    ("row", "verdict", "cited"),
    [
        (32, "holds", "new Cell: False (MindSpore); training of a new Module: True (PyTorch)"),
        (33, "holds", "greatest difference of the frameworks in batch norm"),
        (34, "holds", "parameters found in a list: 0 (MindSpore and PyTorch)"),
        (
            35,
            "does_not_hold",
            "named_children(): block, fc (PyTorch); cells_and_names(): (itself), block, ",
        ),
        (
            35,
            "does_not_hold",
            "cells_and_names(): (itself), block, block.0, block.1, fc (MindSpore);",
        ),
        (35, "does_not_hold", "block.1.moving_mean"),
        (36, "outdated", "kinds of data: Tensor, Parameter, Buffer (PyTorch)"),
        (
            36,
            "outdated",
            "Tensor, Parameter, buffer (register_buffer) (MindSpore); Variable is: Tensor (PyTorch)",
        ),
        (
            39,
            "holds_with_changes",
            "for index in range(at), where at is a tensor: the value is refused (TypeError: For 'make_range'",
        ),
    ],
)
def test_the_evidence_of_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, cited: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict
    assert cited in ruling.evidence


def one_mode(world: World) -> None:
    world[STARTING_MODE, "mindspore"] = world[STARTING_MODE, "torch"]


def training_mode_at_random(world: World) -> None:
    world[STARTING_MODE, "torch"]["own"] = False


def another_norm(world: World) -> None:
    world[MODES, "mindspore"]["training"]["norm"][0][0] *= 1.001


def dropout_in_inference(world: World) -> None:
    world[MODES, "torch"]["inference"]["dropout_zeros"] = 50


def lists_register(world: World) -> None:
    world[CONTAINERS, "torch"]["list"] = 4


def containers_register_nothing(world: World) -> None:
    world[CONTAINERS, "mindspore"]["CellList"] = 0


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (32, one_mode, "outdated"),
        (32, training_mode_at_random, "does_not_hold"),
        (33, another_norm, "does_not_hold"),
        (33, dropout_in_inference, "does_not_hold"),
        (34, lists_register, "outdated"),
        (34, containers_register_nothing, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(
    measured: dict[str, Measured], row: int, change: Callable[[World], None], verdict: str
) -> None:
    assert judge(CLAIMS[row], measured).verdict != verdict
    assert judge(CLAIMS[row], measured, change).verdict == verdict


def test_a_claim_whose_framework_is_missing_says_so_and_has_no_verdict(
    measured: dict[str, Measured],
) -> None:
    failure = Failure("MissingFramework", "No module named 'mindspore'")
    lost = Measured(outcome="unsupported", error=failure)
    name = STARTING_MODE.measurement_name("mindspore")
    row = judged(CLAIMS[32], {**measured, name: lost})
    assert row.verdict is None
    assert "No module named 'mindspore'" in evidence_text(row)
