"""Claims about networks: what the evidence deserves, and other verdicts on other evidence."""

from collections.abc import Callable

import pytest

from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.topics.judging import judged
from explorer.topics.networks.questions import (
    CONTAINERS,
    KINDS_OF_DATA,
    MODES,
    PARTS,
    STARTING_MODE,
    TOPIC,
)
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

CLAIMS = TOPIC.claims


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


def test_the_rows_are_those_of_networks() -> None:
    assert sorted(CLAIMS) == [32, 33, 34, 35, 36, 39, 74, 76, 78]
    assert {claim.heading for claim in CLAIMS.values()} == {"networks"}


@pytest.mark.parametrize(
    ("row", "verdict", "cited"),
    [
        (32, "holds", "False in a new Cell, True in a new Module"),
        (33, "holds", "batch norm differs by at most"),
        (34, "holds", "list 0"),
        (35, "holds_with_changes", "norm.moving_mean"),
        (36, "holds_with_changes", "requires_grad_"),
        (39, "outdated", "loop_to_tensor: the value is refused (TypeError: For 'make_range'"),
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


def same_parameters(world: World) -> None:
    world[PARTS, "mindspore"]["get_parameters"] = world[PARTS, "torch"]["parameters"]


def other_children(world: World) -> None:
    world[PARTS, "mindspore"]["name_cells"] = ["norm"]


def variable_is_back(world: World) -> None:
    world[KINDS_OF_DATA, "torch"]["Variable_is"] = "Variable"
    world[KINDS_OF_DATA, "mindspore"] |= {"buffers": [], "tensor_has": []}


def requires_grad_decides_nothing(world: World) -> None:
    world[KINDS_OF_DATA, "torch"]["has_gradient"]["weight"] = True


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (32, one_mode, "outdated"),
        (32, training_mode_at_random, "does_not_hold"),
        (33, another_norm, "does_not_hold"),
        (33, dropout_in_inference, "does_not_hold"),
        (34, lists_register, "outdated"),
        (34, containers_register_nothing, "does_not_hold"),
        (35, same_parameters, "holds"),
        (35, other_children, "does_not_hold"),
        (36, variable_is_back, "holds"),
        (36, requires_grad_decides_nothing, "outdated"),
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
    assert "No module named 'mindspore'" in row.evidence
