"""Claims about networks, devices and data parallel training: what the evidence deserves, and other
verdicts on other evidence.
"""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.topics.data_parallel import claims as parallel
from explorer.topics.devices import claims as devices
from explorer.topics.judging import needed, row
from explorer.topics.measuring import measure
from explorer.topics.networks import claims as networks
from explorer.workers.workers import Workers

CLAIMS = {claim.id: claim for claim in (*networks.CLAIMS, *devices.CLAIMS)}
World = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measure(needed(CLAIMS.values()), workers)


@pytest.mark.parametrize(
    ("number", "verdict", "cited"),
    [
        (32, "holds", "False in a new Cell, True in a new Module"),
        (33, "holds", "batch norm differs by at most"),
        (34, "holds", "list 0"),
        (35, "holds_with_changes", "norm.moving_mean"),
        (36, "holds_with_changes", "requires_grad_"),
        (39, "holds_with_changes", "loop_to_tensor"),
        (37, "holds_with_changes", "can not be modified"),
    ],
)
def test_the_evidence_of_the_installed_versions(
    measured: dict[str, Measured], number: int, verdict: str, cited: str
) -> None:
    found = row(CLAIMS[number], measured)
    assert (found.verdict, cited in found.evidence) == (verdict, True), found.evidence


def one_mode(world: World) -> None:
    world["cells.starting_mode.mindspore"] = world["cells.starting_mode.torch"]


def another_norm(world: World) -> None:
    world["cells.modes.mindspore"]["training"]["norm"][0][0] *= 1.001


def lists_register(world: World) -> None:
    world["cells.containers.torch"]["list"] = 4


def same_parameters(world: World) -> None:
    world["cells.parts.mindspore"]["get_parameters"] = world["cells.parts.torch"]["parameters"]


def other_children(world: World) -> None:
    world["cells.parts.mindspore"]["name_cells"] = ["norm"]


def variable_is_back(world: World) -> None:
    world["cells.kinds_of_data.torch"]["Variable_is"] = "Variable"
    world["cells.kinds_of_data.mindspore"] |= {"buffers": [], "tensor_has": []}


def requires_grad_decides_nothing(world: World) -> None:
    world["cells.kinds_of_data.torch"]["has_gradient"]["weight"] = True


def every_slice_is_refused(world: World) -> None:
    for name, figure in world["cells.slices.mindspore"].items():
        if name.endswith(".graph"):
            figure["value"] = {"raised": "TypeError", "message": "no"}


def nothing_is_restricted(world: World) -> None:
    slices = world["cells.slices.mindspore"]
    slices["loop_to_tensor.graph"] = slices["loop_to_tensor.tape"]
    world["cells.compilations.mindspore"]["fixed"] = 1


def a_second_device_is_taken(world: World) -> None:
    world["devices.moves.mindspore"]["set_device_again"] = None


def nothing_moves_a_tensor(world: World) -> None:
    world["devices.moves.mindspore"]["tensor_api"] = ["to"]


def a_gpu_that_needs_cpu(world: World) -> None:
    world["devices.host.torch"]["elsewhere"]["cuda:0"] = {
        "raised": "TypeError",
        "message": "use Tensor.cpu()",
    }
    world["devices.host.torch"]["elsewhere_by_cpu"] = {"cuda:0": [1.0, 1.0]}


def a_gpu_that_does_not(world: World) -> None:
    a_gpu_that_needs_cpu(world)
    world["devices.host.torch"]["elsewhere"]["cuda:0"] = [1.0, 1.0]


@pytest.mark.parametrize(
    ("number", "doctored", "verdict"),
    [
        (32, one_mode, "outdated"),
        (33, another_norm, "does_not_hold"),
        (34, lists_register, "outdated"),
        (35, same_parameters, "holds"),
        (35, other_children, "does_not_hold"),
        (36, variable_is_back, "holds"),
        (36, requires_grad_decides_nothing, "outdated"),
        (39, every_slice_is_refused, "depends_on_style"),
        (39, nothing_is_restricted, "outdated"),
        (37, a_second_device_is_taken, "outdated"),
        (37, nothing_moves_a_tensor, "holds"),
        (38, a_gpu_that_needs_cpu, "holds"),
        (38, a_gpu_that_does_not, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(
    measured: dict[str, Measured], number: int, doctored: Callable[[World], None], verdict: str
) -> None:
    world = copy.deepcopy({name: each.figures for name, each in measured.items()})
    doctored(world)
    other = {
        name: msgspec.structs.replace(each, figures=world[name]) for name, each in measured.items()
    }
    assert row(CLAIMS[number], measured).verdict != verdict
    assert row(CLAIMS[number], other).verdict == verdict


def ranks(mean: list[list[float]], *, evened: bool) -> list[dict[str, Any]]:
    """Figures of two ranks that average to ``mean`` or not, with starts that are ``evened`` out or
    not.
    """
    return [
        {
            "rank": rank,
            "local": [[2.0, 4.0, 6.0]] if rank == 0 else [[84.0, 168.0, 252.0]],
            "mean": mean,
            "first_weights_own_seed": [[float(rank)]],
            "after_step_own_seed": [[0.0 if evened else float(rank)]],
        }
        for rank in (0, 1)
    ]


@pytest.mark.parametrize(
    ("mean", "evened", "verdict"),
    [
        ([[43.0, 86.0, 129.0]], False, "holds"),
        ([[43.0, 86.0, 129.0]], True, "holds_with_changes"),
        ([[86.0, 172.0, 258.0]], False, "does_not_hold"),
    ],
)
def test_data_parallel_is_judged_by_the_mean_and_by_what_becomes_of_different_starts(
    mean: list[list[float]], evened: bool, verdict: str
) -> None:
    figures = {"ranks": ranks(mean, evened=evened)}
    measured = {
        each.name: Measured(outcome="ok", figures=figures)
        for each in parallel.CLAIMS[0].measurements
    }
    assert row(parallel.CLAIMS[0], measured).verdict == verdict


def test_a_claim_whose_framework_is_missing_says_so_and_has_no_verdict(
    measured: dict[str, Measured],
) -> None:
    lost = Measured(
        outcome="unsupported", error=Failure("MissingFramework", "No module named 'mindspore'")
    )
    found = row(CLAIMS[32], {**measured, "cells.starting_mode.mindspore": lost})
    assert found.verdict is None
    assert "No module named 'mindspore'" in found.evidence
