"""The life of the tape as it is recorded, against closed forms: what was kept and freed."""

import math
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
    CUT_OFF,
    EVERY,
    FORWARD_ALONE,
    FREEING,
    HOOKS,
    IN_PLACE,
    LIFETIME,
    MINDSPORE,
    SECOND_BACKWARD_OF_LITTLE,
)
from explorer.workers.workers import Workers
from tests.support.topics import recorded_study


def figures_of(question: Question, engine: str) -> dict[str, Any]:
    """A copy of what an engine answered to a question."""
    return dict(recorded_study("tape-life")[question.measurement_name(engine)].figures)


@pytest.mark.parametrize("engine", EVERY)
def test_what_is_kept_grows_through_the_forward_and_is_gone_after_the_backward(engine: str) -> None:
    steps = figures_of(LIFETIME, engine)["steps"]
    forward = [step["bytes"] for step in steps if step["phase"] == "forward"]
    assert forward == sorted(forward)
    assert forward[-1] > 0
    assert steps[-1]["phase"] == "backward"
    assert (steps[-1]["tensors"], steps[-1]["bytes"]) == (0, 0)


def test_the_joint_graph_keeps_what_pytorchs_tape_keeps() -> None:
    # Of the hidden layer [4, 5] the result of relu, of the outputs [4, 3] log-softmax, the weight's
    # sum, and the labels, which are int64.
    expected = 4 * (4 * 5 + 4 * 3 + 1) + 8 * 4
    for engine in ("torch-tape", "torch-graph"):
        assert max(step["bytes"] for step in figures_of(LIFETIME, engine)["steps"]) == expected
    between = figures_of(LIFETIME, "torch-graph")["between"]
    assert between["least memory"]["bytes"] == expected
    assert between["as written"]["bytes"] >= expected


def test_a_backward_frees_saved_tensors_and_leaves_nodes() -> None:
    moments = figures_of(FREEING, "torch-tape")
    nodes = moments["after the forward"]["nodes"]
    assert moments["after the forward"]["tensors"] > 0
    assert (moments["after backward"]["nodes"], moments["after backward"]["tensors"]) == (nodes, 0)
    assert moments["after backward(retain_graph=True)"] == moments["after the forward"]
    assert moments["after backward, the outputs dropped"]["nodes"] == 0

    inside, *after = figures_of(FREEING, "mindspore-tape").values()
    assert inside["tensors"] > 10
    assert all(moment["tensors"] <= 1 for moment in after)


def test_a_compiled_net_is_one_node_of_the_tape_and_refuses_a_second_backward() -> None:
    compiled = figures_of(COMPILED, "torch-graph")
    assert compiled["nodes"] == ["CompiledFunctionBackward"]
    assert compiled["second"]["raised"] == "RuntimeError"


def test_a_second_backward_runs_where_nothing_was_saved_and_stops_half_way_where_something_was() -> (
    None
):
    little = figures_of(SECOND_BACKWARD_OF_LITTLE, "torch-tape")
    assert little["x + 1"] == {"second": "ran", ".grad": [2, 2, 2]}
    assert little["exp(x) + y + 1"]["second"]["raised"] == "RuntimeError"
    assert little["exp(x) + y + 1"]["y.grad"] == [2, 2, 2]


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


@pytest.mark.parametrize("engine", EVERY)
def test_what_is_cut_off_has_no_part_in_the_derivative(engine: str) -> None:
    ways = figures_of(CUT_OFF, engine)
    assert ways.pop("plain") == [0, 3, 12]
    refused = [way for way, figure in ways.items() if isinstance(figure, dict)]
    assert refused == (["_no_grad"] if engine == "mindspore-graph" else [])
    for way, figure in ways.items():
        assert way in refused or figure == [0, 1, 4]


def test_a_change_in_place_raises_or_is_harmless_or_is_silently_wrong() -> None:
    truth = [math.exp(x) for x in (0, 1, 2)]
    for engine in ("torch-tape", "torch-graph"):
        message = figures_of(IN_PLACE, engine)["result"]["message"]
        assert "modified by an inplace operation" in message
    tape, graph = (figures_of(IN_PLACE, engine) for engine in MINDSPORE)
    assert tape["result"] == pytest.approx(truth, rel=1e-5)
    assert graph["result"] == pytest.approx([value + 1 for value in truth], rel=1e-5)
    assert tape["operand"] == graph["operand"] == [0, 2, 4]


@pytest.mark.parametrize("engine", EVERY)
def test_a_hook_changes_the_gradient(engine: str) -> None:
    assert figures_of(HOOKS, engine)["doubled"] == [0, 4, 8]


@pytest.mark.parametrize(
    ("engine", "hooks_of_the_leaf"),
    [
        ("torch-tape", ["leaf, before accumulation", "leaf, after accumulation"]),
        ("mindspore-tape", ["leaf"]),
    ],
)
def test_hooks_are_called_from_the_output_to_the_leaf(
    engine: str, hooks_of_the_leaf: list[str]
) -> None:
    order = figures_of(HOOKS, engine)["order"]
    leaf = [kind for kind in order if kind.startswith("leaf")]
    assert leaf == hooks_of_the_leaf
    assert order[0] == "tensor"
    assert order.index("module, before its backward") < order.index(leaf[0])


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
