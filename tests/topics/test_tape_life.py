"""The life of the tape as it is recorded, against closed forms: what was kept and freed."""

from typing import Any

import msgspec
import pytest

from explorer.model.measurement import Measured
from explorer.scenario.find import find
from explorer.topics.measurements import measure
from explorer.topics.question import Question, Target
from explorer.topics.tape_life.figures import Life
from explorer.topics.tape_life.questions import (
    COMPILED,
    FORWARD_ALONE,
    LIFETIME,
)
from explorer.workers.workers import Workers
from tests.support.topics import recorded_study


def figures_of(question: Question, engine: str) -> dict[str, Any]:
    """A copy of what an engine answered to a question."""
    return dict(recorded_study("tape-life")[question.measurement_name(engine)].figures)


def test_the_joint_graph_keeps_what_pytorchs_tape_keeps() -> None:
    # Of the hidden layer [4, 5] the result of relu, of the outputs [4, 3] log-softmax, the weight's
    # sum, and the labels, which are int64.
    expected = 4 * (4 * 5 + 4 * 3 + 1) + 8 * 4
    for engine in ("torch-tape", "torch-graph"):
        assert max(step["bytes"] for step in figures_of(LIFETIME, engine)["steps"]) == expected
    between = figures_of(LIFETIME, "torch-graph")["between"]
    assert between["least memory"]["bytes"] == expected
    assert between["as written"]["bytes"] >= expected


@pytest.mark.whole
@pytest.mark.mindspore
def test_what_a_backward_saves_is_nothing_that_its_forward_left(workers: Workers) -> None:
    # The backward of a checkpoint computes its forward again, and saves as it does so.
    asked = [FORWARD_ALONE.on("checkpointing"), LIFETIME.on("checkpointing")]
    figures: dict[str, Measured] = {}
    for question in asked:
        (measurement,) = question.by("mindspore-tape").measurements(Target())
        figures |= measure([measurement], workers)
    alone, life = (outcome.figures for outcome in figures.values())
    saved_in_all = sum(life["savers"].values())
    saved = alone["inside a gradient"]["saved"]
    assert saved == msgspec.convert(life, Life).after_forward.tensors
    assert 0 < saved < saved_in_all


@pytest.mark.whole
@pytest.mark.torch
def test_a_net_that_cannot_be_compiled_spoils_no_later_measurement(workers: Workers) -> None:
    def measured(question: Question, scenario: str) -> Measured:
        target = Target(str(find(scenario)))
        (outcome,) = measure(question.measurements(target), workers).values()
        return outcome

    # It differentiates inside, where torch.func forbids the hooks that the compiler is watched by.
    failed = measured(COMPILED, "physics_informed")
    assert failed.error is not None
    assert "saved tensor hooks" in failed.error.message
    # And a net without weights is compiled like any other.
    for question in (LIFETIME.by("torch-tape"), COMPILED):
        assert measured(question, "polynomial").error is None
