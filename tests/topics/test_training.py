"""Training steps as they are recorded: routes leave the same weights, and rules part where it is told."""

import numpy as np
import pytest

from explorer.model.study import Cell
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import PARTIES, Target
from explorer.topics.training.claims_steps import weights_of
from explorer.topics.training.findings_routes import REFERENCE, TAPE, StepRoute, states_by_route
from explorer.topics.training.questions import (
    INDUCTOR,
    TOPIC,
    WITHOUT_SET_GRAD,
)
from explorer.topics.training.update_rules import (
    NEAR,
    farthest,
    step_differences,
)
from explorer.workers.workers import Workers
from tests.support.tellings import table_of, telling_text
from tests.support.topics import recorded_study

NOT_ANNOUNCED = StepRoute(WITHOUT_SET_GRAD, TAPE, "GradOperation step, tape, no set_grad()")


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """What is recorded of the study."""
    return Evidence(recorded_study("training"))


def test_a_hand_written_step_without_set_grad_runs_its_forward_twice_on_the_tape(
    evidence: Evidence,
) -> None:
    states = states_by_route(evidence)
    reference, not_announced = states[REFERENCE], states[NOT_ANNOUNCED]
    assert farthest(not_announced, reference) == "norm.running_var"
    once = np.array(reference[0]["norm.running_var"])
    twice = np.array(not_announced[0]["norm.running_var"])
    # A running variance of 1 becomes 0.9 + 0.1 of the batch's, and is moved on once more.
    of_batch = (once - 0.9) / 0.1
    np.testing.assert_allclose(twice, 0.9 * once + 0.1 * of_batch, rtol=1e-5)
    assert max(step_differences(weights_of(not_announced), weights_of(reference))) <= NEAR


@pytest.mark.whole
@pytest.mark.torch
@pytest.mark.usefixtures("own_nurseries")  # PyTorch reads the variable when it is imported
def test_inductor_without_a_compiler_is_an_outcome_with_its_own_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with Workers() as fresh_workers:
        measured = measure(INDUCTOR.measurements(Target()), fresh_workers)
    outcome = measured[INDUCTOR.measurement_name("torch")]
    assert outcome.outcome == "ok"
    assert raised(outcome.figures)
    assert "compiler" in outcome.figures["message"].lower()


def library(measurement: str) -> str:
    """The library that a measurement was made in; its name ends with the party."""
    return PARTIES[measurement.rpartition(".")[2]].library


@pytest.mark.parametrize(
    ("framework", "verdicts"),
    [
        ("torch", {"MindSpore": {"not measured"}, "PyTorch": {"same"}}),
        ("mindspore", {"MindSpore": {"not compared"}, "PyTorch": {"not measured"}}),
    ],
)
def test_routes_and_rules_of_one_framework_are_not_compared(
    framework: str, verdicts: dict[str, set[str]]
) -> None:
    measured = recorded_study("training")
    own = {name: measured[name] for name in measured if library(name) == framework}
    telling = telling_text(TOPIC, Evidence(own))

    routes = table_of(telling, "step 1")
    of_routes: dict[Cell, set[Cell]] = {}
    for row in routes.rows:
        of_routes.setdefault(row[0], set()).add(row[-1])
    assert of_routes == verdicts
    # A rule that PyTorch has is not MindSpore's alone where PyTorch was not measured.
    for row in table_of(telling, "torch.optim").rows:
        assert row[-1] != "MindSpore alone" or row[3] == EMPTY, row
        assert row[-1] not in ("same", "parts"), row
        assert row[4:6] == (None, None), row
