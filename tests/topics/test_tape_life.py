"""The life of the tape: what was recorded, kept and freed, against closed forms."""

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.measurement import Measured
from explorer.model.study import StudyRecord
from explorer.numeric.differences import greatest_difference
from explorer.scenario.find import find
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import Question, Target
from explorer.topics.studies import target
from explorer.topics.tape_life.figures import Life
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    COMPILED,
    CUT_OFF,
    EVERY,
    EXTRA_OUTPUT,
    FORWARD_ALONE,
    FREEING,
    HOOKS,
    IN_PLACE,
    LIFETIME,
    MINDSPORE,
    REUSED,
    SECOND_BACKWARD,
    SECOND_BACKWARD_OF_LITTLE,
    SWITCHES,
    TAPES,
    TOPIC,
    VARIABLE,
)
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import studied

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

FiguresOf = Callable[[Question, str], dict[str, Any]]


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    return studied("tape-life", workers)


@pytest.fixture(scope="module")
def figures_of(record: StudyRecord) -> FiguresOf:
    """Gives a copy of what an engine answered to a question."""
    return lambda question, engine: dict(record.figures[question.measurement_name(engine)])


def test_everything_is_measured(record: StudyRecord) -> None:
    errors = {name: outcome.error for name, outcome in record.measured.items() if outcome.error}
    assert errors == {}
    assert record.scenario == "mlp_cross_entropy"


@pytest.mark.parametrize("engine", EVERY)
def test_what_is_kept_grows_through_the_forward_and_is_gone_after_the_backward(
    figures_of: FiguresOf, engine: str
) -> None:
    steps = figures_of(LIFETIME, engine)["steps"]
    forward = [step["bytes"] for step in steps if step["phase"] == "forward"]
    assert forward == sorted(forward)
    assert forward[-1] > 0
    assert steps[-1]["phase"] == "backward"
    assert (steps[-1]["tensors"], steps[-1]["bytes"]) == (0, 0)


def test_the_joint_graph_keeps_what_pytorchs_tape_keeps(figures_of: FiguresOf) -> None:
    # Of the hidden layer [4, 5] the result of relu, of the outputs [4, 3] log-softmax, the weight's
    # sum, and the labels, which are int64.
    expected = 4 * (4 * 5 + 4 * 3 + 1) + 8 * 4
    for engine in ("torch-tape", "torch-graph"):
        assert max(step["bytes"] for step in figures_of(LIFETIME, engine)["steps"]) == expected
    between = figures_of(LIFETIME, "torch-graph")["between"]
    assert between["least memory"]["bytes"] == expected
    assert between["as written"]["bytes"] >= expected


def test_a_backward_frees_saved_tensors_and_leaves_nodes(figures_of: FiguresOf) -> None:
    moments = figures_of(FREEING, "torch-tape")
    nodes = moments["after the forward"]["nodes"]
    assert moments["after the forward"]["tensors"] > 0
    assert (moments["after backward"]["nodes"], moments["after backward"]["tensors"]) == (nodes, 0)
    assert moments["after backward(retain_graph=True)"] == moments["after the forward"]
    assert moments["after backward, the outputs dropped"]["nodes"] == 0

    inside, *after = figures_of(FREEING, "mindspore-tape").values()
    assert inside["tensors"] > 10
    assert all(moment["tensors"] <= 1 for moment in after)


def test_a_second_backward_fails_without_retain_graph(figures_of: FiguresOf) -> None:
    ways = figures_of(SECOND_BACKWARD, "torch-tape")
    message = ways["plain"]["second"]["message"]
    assert message.startswith("Trying to backward through the graph a second time")
    assert ways["plain"][".grad"] == [[[2, 4, 6]], [[2, 4, 6]]]
    for way in ("retain_graph", "create_graph"):
        assert ways[way]["second"] == "ran"
        assert ways[way][".grad"] == [[[2, 4, 6]], [[4, 8, 12]]]
    on_tape = {way: figures[".grad is on a tape"] for way, figures in ways.items()}
    assert on_tape == {"plain": False, "retain_graph": False, "create_graph": True}


def test_a_compiled_net_is_one_node_of_the_tape_and_refuses_a_second_backward(
    figures_of: FiguresOf,
) -> None:
    compiled = figures_of(COMPILED, "torch-graph")
    assert compiled["nodes"] == ["CompiledFunctionBackward"]
    assert compiled["second"]["raised"] == "RuntimeError"


def test_a_second_backward_runs_where_nothing_was_saved_and_stops_half_way_where_something_was(
    figures_of: FiguresOf,
) -> None:
    little = figures_of(SECOND_BACKWARD_OF_LITTLE, "torch-tape")
    assert little["x + 1"] == {"second": "ran", ".grad": [2, 2, 2]}
    assert little["exp(x) + y + 1"]["second"]["raised"] == "RuntimeError"
    assert little["exp(x) + y + 1"]["y.grad"] == [2, 2, 2]


def test_grad_accumulates_until_it_is_zeroed(figures_of: FiguresOf) -> None:
    sums = figures_of(ACCUMULATION, "torch-tape")
    assert sums[".grad after each backward"] == [[[2, 4, 6]], [[4, 8, 12]]]
    assert sums["zero_grad(set_to_none=False)"] == [[0, 0, 0]]
    assert sums["zero_grad()"] is None
    assert sums["autograd.grad returns"] == [[2, 4, 6]]
    assert sums[".grad after autograd.grad"] is None


@pytest.mark.parametrize("engine", CALLED_AGAIN.asks)
def test_a_gradient_function_gives_the_same_numbers_again(
    figures_of: FiguresOf, engine: str
) -> None:
    gradients = figures_of(CALLED_AGAIN, engine)["gradients"]
    assert len(gradients) == 3
    for gradient in gradients:
        assert greatest_difference(gradient[0], [[2, 4, 6]]) == 0


@pytest.mark.parametrize("engine", MINDSPORE)
def test_mindspore_has_no_backward_and_no_grad(figures_of: FiguresOf, engine: str) -> None:
    figures = figures_of(CALLED_AGAIN, engine)
    assert figures["loss.backward"]["raised"] == "AttributeError"
    assert figures["weight.grad"]["raised"] == "AttributeError"


@pytest.mark.parametrize("engine", MINDSPORE)
def test_one_gradient_function_serves_all_values_and_shapes(
    figures_of: FiguresOf, engine: str
) -> None:
    figures = figures_of(REUSED, engine)
    assert figures["callable"]
    for values, gradient in zip(figures["inputs"], figures["gradients"], strict=True):
        assert greatest_difference(gradient, (3 * np.array(values) ** 2).tolist()) == 0


def test_mindspores_tape_records_inside_a_gradient_alone(figures_of: FiguresOf) -> None:
    tape = figures_of(FORWARD_ALONE, "mindspore-tape")
    nothing = {"nodes": 0, "saved": 0}
    assert tape["by itself"] == nothing
    assert tape["inside a gradient, under _no_grad"] == nothing

    life = figures_of(LIFETIME, "mindspore-tape")
    saved = sum(life["savers"].values())
    assert tape["inside a gradient"] == {"nodes": len(life["nodes"]), "saved": saved}
    assert saved > 10


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


def test_mindspores_graph_style_leaves_no_tape_and_does_not_take_the_switch(
    figures_of: FiguresOf,
) -> None:
    graph = figures_of(FORWARD_ALONE, "mindspore-graph")
    # What a compiled net saves cannot be observed; a count would be the absence of a look.
    for way in ("by itself", "inside a gradient"):
        assert graph[way] == {"nodes": 0, "saved": None}
    refused = graph["inside a gradient, under _no_grad"]
    assert refused["raised"] == "TypeError"
    assert "_no_grad" in refused["message"]


def test_nothing_is_recorded_under_a_switch(figures_of: FiguresOf) -> None:
    switches = figures_of(SWITCHES, "torch-tape")
    assert switches["plain"] == {"saved": 4, "nodes": 4, "gradient": [3, 12, 27]}
    for way in ("no_grad", "inference_mode", "detach", "requires_grad=False"):
        assert (switches[way]["saved"], switches[way]["nodes"]) == (0, 0)
        assert switches[way]["gradient"]["raised"] == "RuntimeError"
    refused = switches["inference_mode, then on a tape"]["gradient"]
    assert "Inference tensors cannot be saved" in refused["message"]


@pytest.mark.parametrize("engine", EVERY)
def test_what_is_cut_off_has_no_part_in_the_derivative(figures_of: FiguresOf, engine: str) -> None:
    ways = figures_of(CUT_OFF, engine)
    assert ways.pop("plain") == [0, 3, 12]
    refused = [way for way, figure in ways.items() if isinstance(figure, dict)]
    assert refused == (["_no_grad"] if engine == "mindspore-graph" else [])
    for way, figure in ways.items():
        assert way in refused or figure == [0, 1, 4]


def test_a_change_in_place_raises_or_is_harmless_or_is_silently_wrong(
    figures_of: FiguresOf,
) -> None:
    truth = [math.exp(x) for x in (0, 1, 2)]
    for engine in ("torch-tape", "torch-graph"):
        message = figures_of(IN_PLACE, engine)["result"]["message"]
        assert "modified by an inplace operation" in message
    tape, graph = (figures_of(IN_PLACE, engine) for engine in MINDSPORE)
    assert tape["result"] == pytest.approx(truth, rel=1e-5)
    assert graph["result"] == pytest.approx([value + 1 for value in truth], rel=1e-5)
    assert tape["operand"] == graph["operand"] == [0, 2, 4]


@pytest.mark.parametrize("engine", EVERY)
def test_a_hook_changes_the_gradient(figures_of: FiguresOf, engine: str) -> None:
    assert figures_of(HOOKS, engine)["doubled"] == [0, 4, 8]


@pytest.mark.parametrize(
    ("engine", "hooks_of_the_leaf"),
    [
        ("torch-tape", ["leaf, before accumulation", "leaf, after accumulation"]),
        ("mindspore-tape", ["leaf"]),
    ],
)
def test_hooks_are_called_from_the_output_to_the_leaf(
    figures_of: FiguresOf, engine: str, hooks_of_the_leaf: list[str]
) -> None:
    order = figures_of(HOOKS, engine)["order"]
    leaf = [kind for kind in order if kind.startswith("leaf")]
    assert leaf == hooks_of_the_leaf
    assert order[0] == "tensor"
    assert order.index("module, before its backward") < order.index(leaf[0])


@pytest.mark.parametrize("engine", EVERY)
def test_one_tensor_as_both_arguments_tells_styles_apart(
    figures_of: FiguresOf, engine: str
) -> None:
    expected = [2, 4, 6] if engine in TAPES else [1, 2, 3]
    assert figures_of(ANSWERS, engine) == {"by a": {"da": expected}, "by b": {"db": expected}}


@pytest.mark.parametrize("engine", EXTRA_OUTPUT.asks)
def test_an_extra_output_shifts_the_gradient_unless_it_is_cut_off(
    figures_of: FiguresOf, engine: str
) -> None:
    ways = figures_of(EXTRA_OUTPUT, engine)
    alone, along = ways.pop("first output alone"), ways.pop("every output")
    # The sums of x over the batch, which dz/dw adds to every column of w.
    shifts = np.array([[1.5], [1.0], [1.0], [1.25]])
    assert greatest_difference(along, (np.array(alone) + shifts).tolist()) < 1e-5
    assert len(ways) == (2 if engine in MINDSPORE else 1)
    for gradient in ways.values():
        assert greatest_difference(gradient, alone) == 0


def test_a_variable_is_a_tensor_and_a_seed_multiplies(figures_of: FiguresOf) -> None:
    assert figures_of(VARIABLE, "torch-tape") == {
        "torch.autograd.Variable exists": True,
        "type": "torch.Tensor",
        "is a Tensor": True,
        # x = x * 2 has overwritten the leaf, and x.grad warns that it is none.
        "x.grad as printed": None,
        "warned": ["The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"],
        "leaf.grad": [[4, 4], [4, 4]],
        "x is a leaf": False,
    }


def test_the_findings_are_made_of_the_figures(record: StudyRecord, figures_of: FiguresOf) -> None:
    nodes = len(figures_of(LIFETIME, "mindspore-tape")["nodes"])
    findings = "\n".join(record.findings)
    assert f"{nodes} nodes (MindSpore tape)" in findings
    assert "in MindSpore graph ([2, 3.718, 8.389] for [1, 2.718, 7.389]); " in findings
    assert [chart.name for chart in record.charts] == ["bytes-alive", "bytes-kept"]
    for series in record.charts[0].series:
        assert (series.x[0], series.x[-1]) == (0, 2)


def test_figures_are_the_same_at_every_run(record: StudyRecord, workers: Workers) -> None:
    target = Target(str(find(str(TOPIC.default_scenario))))
    again = []
    for question in (
        LIFETIME.by(*TAPES),
        FREEING,
        HOOKS.by(*MINDSPORE),
        IN_PLACE.by(*MINDSPORE),
        CALLED_AGAIN.by(*MINDSPORE),
    ):
        again += question.measurements(target)
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == record.figures[name], name


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


def test_what_is_told_can_be_read_whichever_measurement_fails(record: StudyRecord) -> None:
    looked_at = target(TOPIC, None, "cpu")
    check_telling(telling_text(TOPIC, Evidence(record.measured, looked_at)))
    check_every_failure(TOPIC, record.measured, looked_at)
