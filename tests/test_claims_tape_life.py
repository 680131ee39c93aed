"""Claims about tape and graph: what the evidence deserves, and other verdicts on other evidence."""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.topics.judging import needed, row
from explorer.topics.tape_life import claims as tape
from explorer.workers.workers import Workers
from tests.measured_once import once

CLAIMS = {claim.id: claim for claim in tape.CLAIMS}
World = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return once(workers, needed(CLAIMS.values()))


def test_the_rows_are_those_of_the_tape() -> None:
    assert list(CLAIMS) == [18, 22, 23, 24, 25, 27, 28, 29, 30, 31]


@pytest.mark.parametrize(
    ("number", "verdict", "cited"),
    [
        (18, "holds", "mindspore-graph: moved by up to 1.5"),
        (22, "holds", "[1, 2, 3] → [3, 12, 27]"),
        (23, "depends_on_style", "in graph style 0, with 0 saved tensors"),
        (
            24,
            "depends_on_style",
            "MindSpore's tape 0 by itself, 4 inside a gradient and 0 under mindspore._no_grad",
        ),
        (25, "holds", "Trying to backward through the graph a second time"),
        (27, "depends_on_style", "and 0 of 4 calls with other values compiled again"),
        (28, "holds", "4 calls written; 10 operators in the final graph"),
        (29, "holds_with_changes", "Variable(…) gives a torch.Tensor"),
        (30, "holds", ".grad is [2, 4, 6], then [4, 8, 12]; zero_grad() leaves None"),
        (
            31,
            "depends_on_style",
            "torch-tape [2, 4, 6]; mindspore-tape [2, 4, 6]; torch-graph [1, 2, 3]; mindspore-graph [1, 2, 3]",
        ),
    ],
)
def test_the_evidence_of_the_installed_versions(
    measured: dict[str, Measured], number: int, verdict: str, cited: str
) -> None:
    found = row(CLAIMS[number], measured)
    assert (found.verdict, cited in found.evidence) == (verdict, True), found.evidence
    assert found.advice.endswith(".")


def no_shift(world: World) -> None:
    for engine in ("mindspore-tape", "mindspore-graph"):
        found = world[f"tape-life.extra_output.{engine}"]
        found["every output"] = found["first output alone"]


def no_shift_in_graphs(world: World) -> None:
    found = world["tape-life.extra_output.mindspore-graph"]
    found["every output"] = found["first output alone"]


def no_remedy(world: World) -> None:
    found = world["tape-life.extra_output.mindspore-tape"]
    found["has_aux"] = found["every output"]


def wrong_on_reuse(world: World) -> None:
    world["tape-life.reused.mindspore-graph"]["gradients"][1][0] *= 1.001


def wrong_on_every_reuse(world: World) -> None:
    wrong_on_reuse(world)
    world["tape-life.reused.mindspore-tape"]["callable"] = False


def no_tape_in_mindspore(world: World) -> None:
    world["tape-life.lifetime.mindspore-tape"]["nodes"] = []


def graph_style_records(world: World) -> None:
    world["tape-life.forward_alone.mindspore-graph"]["inside a gradient"]["saved"] = 1


def no_tape_in_torch(world: World) -> None:
    world["tape-life.lifetime.torch-tape"]["nodes"] = []


def nothing_to_switch_off(world: World) -> None:
    world["tape-life.forward_alone.mindspore-tape"]["inside a gradient"]["saved"] = 0


def a_switch_without_effect(world: World) -> None:
    world["tape-life.switches.torch-tape"]["no_grad"]["saved"] = 4


def backward_runs_twice(world: World) -> None:
    world["tape-life.second_backward.torch-tape"]["plain"]["second"] = "ran"


def other_numbers_in_graphs(world: World) -> None:
    world["tape-life.called_again.mindspore-graph"]["gradients"][2] = [[[4.0, 8.0, 12.0]]]


def retaining_fails(world: World) -> None:
    found = world["tape-life.second_backward.torch-tape"]
    found["retain_graph"]["second"] = found["plain"]["second"]


def another_graph_for_other_values(world: World) -> None:
    world["stages.branch.mindspore-graph"]["inputs times -1"]["fingerprint"] = "0" * 12


def compiled_for_every_value(world: World) -> None:
    world["stages.other_values.mindspore-graph"]["inputs times 1"]["compiled again"] = True


def one_tape_for_all_values(world: World) -> None:
    found = world["stages.branch.mindspore-tape"]
    found["inputs times -1"] = found["inputs times 1"]


def optimizer_outside(world: World) -> None:
    world["stages.training_passes.mindspore-graph"]["passes"][-1]["update"] = 0


def many_calls_written(world: World) -> None:
    world["stages.gradient_passes.mindspore-graph"]["written"] *= 2


def more_calls_than_operators(world: World) -> None:
    world["stages.gradient_passes.mindspore-graph"]["written"] *= 4


def another_leaf_gradient(world: World) -> None:
    world["tape-life.variable.torch-tape"]["leaf.grad"] = [[2.0, 2.0], [2.0, 2.0]]


def a_type_of_its_own(world: World) -> None:
    world["tape-life.variable.torch-tape"]["is a Tensor"] = False


def variable_gone(world: World) -> None:
    world["tape-life.variable.torch-tape"]["torch.autograd.Variable exists"] = False


def no_accumulation(world: World) -> None:
    world["tape-life.accumulation.torch-tape"][".grad after each backward"][1] = [[2.0, 4.0, 6.0]]


def a_grad_in_mindspore(world: World) -> None:
    world["tape-life.called_again.mindspore-tape"]["weight.grad"] = "None"


def split_by_framework(world: World) -> None:
    world["tape-life.answers.torch-graph"], world["tape-life.answers.mindspore-tape"] = (
        world["tape-life.answers.torch-tape"],
        world["tape-life.answers.mindspore-graph"],
    )


def all_apart(world: World) -> None:
    for engine in ("torch-tape", "mindspore-tape"):
        world[f"tape-life.answers.{engine}"] = world["tape-life.answers.mindspore-graph"]


@pytest.mark.parametrize(
    ("number", "doctor", "verdict"),
    [
        (18, no_shift, "outdated"),
        (18, no_shift_in_graphs, "depends_on_style"),
        (18, no_remedy, "does_not_hold"),
        (22, wrong_on_reuse, "depends_on_style"),
        (22, wrong_on_every_reuse, "does_not_hold"),
        (23, no_tape_in_mindspore, "holds"),
        (23, graph_style_records, "does_not_hold"),
        (23, no_tape_in_torch, "does_not_hold"),
        (24, nothing_to_switch_off, "holds"),
        (24, graph_style_records, "does_not_hold"),
        (24, a_switch_without_effect, "does_not_hold"),
        (25, backward_runs_twice, "outdated"),
        (25, other_numbers_in_graphs, "depends_on_style"),
        (25, retaining_fails, "does_not_hold"),
        (27, one_tape_for_all_values, "holds"),
        (27, another_graph_for_other_values, "does_not_hold"),
        (27, compiled_for_every_value, "does_not_hold"),
        (28, optimizer_outside, "does_not_hold"),
        (28, many_calls_written, "holds_with_changes"),
        (28, more_calls_than_operators, "does_not_hold"),
        (29, another_leaf_gradient, "does_not_hold"),
        (29, a_type_of_its_own, "holds"),
        (29, variable_gone, "outdated"),
        (30, no_accumulation, "does_not_hold"),
        (30, other_numbers_in_graphs, "depends_on_style"),
        (30, a_grad_in_mindspore, "holds_with_changes"),
        (31, split_by_framework, "holds"),
        (31, all_apart, "does_not_hold"),
    ],
)
def test_another_world_gets_another_verdict(
    measured: dict[str, Measured], number: int, doctor: Callable[[World], None], verdict: str
) -> None:
    world = {name: copy.deepcopy(each.figures) for name, each in measured.items()}
    doctor(world)
    doctored = {
        name: msgspec.structs.replace(each, figures=world[name]) for name, each in measured.items()
    }
    found = row(CLAIMS[number], doctored)
    assert found.verdict == verdict, found.evidence
    assert found.verdict != row(CLAIMS[number], measured).verdict


def test_a_claim_without_its_measurement_says_why(measured: dict[str, Measured]) -> None:
    lost = Measured(outcome="unsupported", error=Failure("MissingFramework", "no torch here"))
    found = row(CLAIMS[29], {**measured, "tape-life.variable.torch-tape": lost})
    assert found.verdict is None
    assert "no torch here" in found.evidence
