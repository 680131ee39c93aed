"""Claims about tape and graph: what the evidence deserves, and other verdicts in other worlds."""

from collections.abc import Callable

import pytest

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.topics.boards import judged
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    EXTRA_OUTPUT,
    REUSED,
    SECOND_BACKWARD,
    TOPIC,
    VARIABLE,
)
from explorer.words.claims import evidence_text
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, measured_for_claims, put

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

CLAIMS = TOPIC.claims


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_for_claims(workers, CLAIMS.values())


@pytest.mark.parametrize(
    ("row", "verdict", "cited"),
    [
        (
            18,
            "holds",
            "gradient moved by the extra output by up to: 1.5 (MindSpore graph and tape)",
        ),
        (22, "holds", "at [1, 2, 3]: [3, 12, 27] (MindSpore graph and tape)"),
        (
            23,
            "holds_with_changes",
            "0, and what it saves cannot be observed (MindSpore graph)",
        ),
        (24, "depends_on_style", "a forward inside a gradient leaves: 7 nodes and 4 saved tensors"),
        (24, "depends_on_style", "(MindSpore tape), TypeError: Only support jit_class instance"),
        (25, "holds", "Trying to backward through the graph a second time"),
        (29, "does_not_hold", "x.grad, as printed: None"),
        (30, "holds", "[2, 4, 6], then [4, 8, 12] (PyTorch tape); .grad after zero_grad(): None"),
        (31, "depends_on_style", "[2, 4, 6] (MindSpore tape and PyTorch tape)"),
        (31, "depends_on_style", "[1, 2, 3] (MindSpore graph and PyTorch graph)"),
    ],
)
def test_the_evidence_of_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, cited: str
) -> None:
    ruling = judge(CLAIMS[row], measured)
    assert ruling.verdict == verdict
    assert cited in ruling.evidence
    assert ruling.advice.endswith(".")


def no_shift_in_graphs(world: World) -> None:
    ways = world[EXTRA_OUTPUT, "mindspore-graph"]
    ways["every output"] = ways["first output alone"]


def no_shift(world: World) -> None:
    no_shift_in_graphs(world)
    ways = world[EXTRA_OUTPUT, "mindspore-tape"]
    ways["every output"] = ways["first output alone"]


def no_remedy_on_the_tape(world: World) -> None:
    ways = world[EXTRA_OUTPUT, "mindspore-tape"]
    ways["has_aux"] = ways["every output"]


def no_remedy(world: World) -> None:
    no_remedy_on_the_tape(world)
    ways = world[EXTRA_OUTPUT, "mindspore-graph"]
    ways["extra output stopped"] = ways["every output"]


def wrong_on_reuse(world: World) -> None:
    world[REUSED, "mindspore-graph"]["gradients"][1][0] *= 1.001


def wrong_on_every_reuse(world: World) -> None:
    wrong_on_reuse(world)
    world[REUSED, "mindspore-tape"]["callable"] = False


def backward_runs_twice(world: World) -> None:
    world[SECOND_BACKWARD, "torch-tape"]["plain"]["second"] = "ran"


def other_numbers_in_graphs(world: World) -> None:
    world[CALLED_AGAIN, "mindspore-graph"]["gradients"][2] = [[[4.0, 8.0, 12.0]]]


def retaining_fails(world: World) -> None:
    ways = world[SECOND_BACKWARD, "torch-tape"]
    ways["retain_graph"]["second"] = ways["plain"]["second"]


def no_accumulation(world: World) -> None:
    world[ACCUMULATION, "torch-tape"][".grad after each backward"][1] = [[2.0, 4.0, 6.0]]


def zero_grad_leaves(gradient: list[list[float]]) -> Callable[[World], None]:
    return put(ACCUMULATION, ["torch-tape"], "zero_grad()", value=gradient)


def a_grad_in_mindspore(world: World) -> None:
    world[CALLED_AGAIN, "mindspore-tape"]["weight.grad"] = "None"


def split_by_framework(world: World) -> None:
    summed, apart = world[ANSWERS, "torch-tape"], world[ANSWERS, "mindspore-graph"]
    world[ANSWERS, "torch-graph"] = summed
    world[ANSWERS, "mindspore-tape"] = apart


def all_apart(world: World) -> None:
    for engine in ("torch-tape", "mindspore-tape"):
        world[ANSWERS, engine] = world[ANSWERS, "mindspore-graph"]


def half_of_each(world: World) -> None:
    answers = world[ANSWERS, "torch-tape"]["by a"]
    answers[next(iter(answers))] = [1.5, 3.0, 4.5]


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (18, no_shift, "outdated"),
        (18, no_shift_in_graphs, "depends_on_style"),
        (18, no_remedy_on_the_tape, "depends_on_style"),
        (18, no_remedy, "does_not_hold"),
        (22, wrong_on_reuse, "depends_on_style"),
        (22, wrong_on_every_reuse, "does_not_hold"),
        (25, backward_runs_twice, "outdated"),
        (25, other_numbers_in_graphs, "depends_on_style"),
        (25, retaining_fails, "does_not_hold"),
        (30, no_accumulation, "does_not_hold"),
        (30, zero_grad_leaves([[4.0, 8.0, 12.0]]), "does_not_hold"),
        (30, other_numbers_in_graphs, "depends_on_style"),
        (30, a_grad_in_mindspore, "holds_with_changes"),
        (31, split_by_framework, "holds"),
        (31, all_apart, "does_not_hold"),
        (31, half_of_each, "does_not_hold"),
    ],
)
def test_another_world_gets_another_verdict(
    measured: dict[str, Measured], row: int, change: Callable[[World], None], verdict: str
) -> None:
    assert judge(CLAIMS[row], measured, change).verdict == verdict
    assert judge(CLAIMS[row], measured).verdict != verdict


def test_zeros_in_grad_are_as_good_as_none(measured: dict[str, Measured]) -> None:
    # As PyTorch left them until 2.0.
    ruling = judge(CLAIMS[30], measured, zero_grad_leaves([[0.0, 0.0, 0.0]]))
    assert ruling.verdict == "holds"
    assert ".grad after zero_grad(): [0, 0, 0] (PyTorch tape)" in ruling.evidence
    kept = judge(CLAIMS[30], measured, zero_grad_leaves([[0.0, 0.0, 12.0]]))
    assert kept.verdict == "does_not_hold"


def test_a_claim_without_its_measurement_says_why() -> None:
    lost = Measured(outcome="unsupported", error=Failure("MissingFramework", "no torch here"))
    row = judged(CLAIMS[29], {VARIABLE.measurement_name("torch-tape"): lost})
    assert row.verdict is None
    assert "no torch here" in evidence_text(row)
