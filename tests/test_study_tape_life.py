"""The study of the tape's life: what was recorded, kept and freed against closed forms, and what it
says without figures.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.model.graph import Edge, GradGraph, Node, Output
from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.model.study import StudyRecord
from explorer.numeric.differences import greatest_difference
from explorer.scenario.contract import find
from explorer.topics import tape_life
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.studying import run, target
from explorer.topics.tape_life.asking import ENGINES, refusal, right
from explorer.topics.tape_life.lifetime import Watch, crossing, savers
from explorer.topics.tape_life.telling import tell
from explorer.workers.workers import Workers
from tests.measured_once import remember

Figures = Callable[[str, str], dict[str, Any]]
MINDSPORE = tape_life.MINDSPORE
TAPES = ("torch-tape", "mindspore-tape")


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    looked_at = target(tape_life.STUDY, None, "cpu")
    made = run(tape_life.STUDY, looked_at, workers)
    remember(tape_life.measurements(looked_at), made.measured)
    return made


@pytest.fixture(scope="module")
def figures(record: StudyRecord) -> Figures:
    return lambda question, engine: dict(record.figures[f"tape-life.{question}.{engine}"])


def test_everything_is_measured(record: StudyRecord) -> None:
    assert {name: each.error for name, each in record.measured.items() if each.error} == {}
    assert record.scenario == "mlp_cross_entropy"


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_kept_grows_through_the_forward_and_is_gone_after_the_backward(
    figures: Figures, engine: str
) -> None:
    steps = figures("lifetime", engine)["steps"]
    forward = [step["bytes"] for step in steps if step["phase"] == "forward"]
    assert forward == sorted(forward)
    assert forward[-1] > 0
    assert steps[-1]["phase"] == "backward"
    assert (steps[-1]["tensors"], steps[-1]["bytes"]) == (0, 0)


def test_the_joint_graph_keeps_what_pytorchs_tape_keeps(figures: Figures) -> None:
    """Of the hidden layer [4, 5] the result of relu, of the outputs [4, 3] log-softmax, the labels,
    and the weight's sum.
    """
    tape, graph = (figures("lifetime", engine) for engine in ("torch-tape", "torch-graph"))
    most = {max(step["bytes"] for step in each["steps"]) for each in (tape, graph)}
    assert most == {4 * (4 * 5 + 4 * 3 + 1) + 8 * 4}
    assert graph["between"]["least memory"]["bytes"] == most.pop()
    assert graph["between"]["as written"]["bytes"] >= graph["between"]["least memory"]["bytes"]


def test_a_backward_frees_saved_tensors_and_leaves_nodes(figures: Figures) -> None:
    moments = figures("freeing", "torch-tape")
    nodes = moments["after the forward"]["nodes"]
    assert moments["after the forward"]["tensors"] > 0
    assert (moments["after backward"]["nodes"], moments["after backward"]["tensors"]) == (nodes, 0)
    assert moments["after backward(retain_graph=True)"] == moments["after the forward"]
    assert moments["after backward, the outputs dropped"]["nodes"] == 0
    inside, *after = figures("freeing", "mindspore-tape").values()
    assert inside["tensors"] > 10
    assert all(each["tensors"] <= 1 for each in after)


def test_a_second_backward_fails_without_retain_graph(figures: Figures) -> None:
    ways = figures("second_backward", "torch-tape")
    assert ways["plain"]["second"]["message"].startswith(
        "Trying to backward through the graph a second time"
    )
    assert ways["plain"][".grad"] == [[[2, 4, 6]], [[2, 4, 6]]]
    for way in ("retain_graph", "create_graph"):
        assert ways[way]["second"] == "ran"
        assert ways[way][".grad"] == [[[2, 4, 6]], [[4, 8, 12]]]
    assert [each[".grad is on a tape"] for each in ways.values()] == [False, False, True]
    compiled = figures("compiled", "torch-graph")
    assert compiled["nodes"] == ["CompiledFunctionBackward"]
    assert compiled["second"]["raised"] == "RuntimeError"


def test_a_second_backward_runs_where_nothing_was_saved_and_stops_half_way_where_something_was(
    figures: Figures,
) -> None:
    little = figures("second_backward_of_little", "torch-tape")
    assert little["x + 1"] == {"second": "ran", ".grad": [2, 2, 2]}
    assert little["exp(x) + y + 1"]["second"]["raised"] == "RuntimeError"
    assert little["exp(x) + y + 1"]["y.grad"] == [2, 2, 2]


def test_grad_accumulates_until_it_is_zeroed(figures: Figures) -> None:
    sums = figures("accumulation", "torch-tape")
    assert sums[".grad after each backward"] == [[[2, 4, 6]], [[4, 8, 12]]]
    assert sums["zero_grad(set_to_none=False)"] == [[0, 0, 0]]
    assert sums["zero_grad()"] is None
    assert sums["autograd.grad returns"] == [[2, 4, 6]]
    assert sums[".grad after autograd.grad"] is None


@pytest.mark.parametrize("engine", ["torch-graph", *MINDSPORE])
def test_a_gradient_function_gives_the_same_numbers_again(figures: Figures, engine: str) -> None:
    gradients = figures("called_again", engine)["gradients"]
    assert len(gradients) == 3
    assert all(greatest_difference(each[0], [[2, 4, 6]]) == 0 for each in gradients)


@pytest.mark.parametrize("engine", MINDSPORE)
def test_mindspore_has_no_backward_and_no_grad(figures: Figures, engine: str) -> None:
    found = figures("called_again", engine)
    assert found["loss.backward"]["raised"] == found["weight.grad"]["raised"] == "AttributeError"


@pytest.mark.parametrize("engine", MINDSPORE)
def test_one_gradient_function_serves_all_values_and_shapes(figures: Figures, engine: str) -> None:
    found = figures("reused", engine)
    assert found["callable"]
    for values, gradient in zip(found["inputs"], found["gradients"], strict=True):
        assert greatest_difference(gradient, (3 * np.array(values) ** 2).tolist()) == 0


def test_mindspores_tape_records_inside_a_gradient_alone_and_graph_style_nowhere(
    figures: Figures,
) -> None:
    tape, graph = (figures("forward_alone", engine) for engine in MINDSPORE)
    assert (
        tape["by itself"] == tape["inside a gradient, under _no_grad"] == {"nodes": 0, "saved": 0}
    )
    life = figures("lifetime", "mindspore-tape")
    saved = sum(life["savers"].values())
    assert tape["inside a gradient"] == {"nodes": len(life["nodes"]), "saved": saved}
    assert saved > 10
    assert all(
        each == {"nodes": 0, "saved": 0} for each in graph.values() if isinstance(each, dict)
    )


def test_nothing_is_recorded_under_a_switch(figures: Figures) -> None:
    found = figures("switches", "torch-tape")
    assert found["plain"] == {"saved": 4, "nodes": 4, "gradient": [3, 12, 27]}
    for label in ("no_grad", "inference_mode", "detach", "requires_grad=False"):
        assert (found[label]["saved"], found[label]["nodes"]) == (0, 0)
        assert found[label]["gradient"]["raised"] == "RuntimeError"
    assert (
        "Inference tensors cannot be saved"
        in found["inference_mode, then on a tape"]["gradient"]["message"]
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_cut_off_has_no_part_in_the_derivative(figures: Figures, engine: str) -> None:
    found = figures("cut_off", engine)
    assert found.pop("plain") == [0, 3, 12]
    refused = [name for name, each in found.items() if isinstance(each, dict)]
    assert refused == (["_no_grad"] if engine == "mindspore-graph" else [])
    assert all(each == [0, 1, 4] for name, each in found.items() if name not in refused)


def test_a_change_in_place_raises_or_is_harmless_or_is_silently_wrong(figures: Figures) -> None:
    truth = [math.exp(x) for x in (0, 1, 2)]
    for engine in ("torch-tape", "torch-graph"):
        assert (
            "modified by an inplace operation" in figures("in_place", engine)["result"]["message"]
        )
    assert figures("in_place", "mindspore-tape")["result"] == pytest.approx(truth, rel=1e-5)
    assert figures("in_place", "mindspore-graph")["result"] == pytest.approx(
        [each + 1 for each in truth], rel=1e-5
    )
    for engine in MINDSPORE:
        assert figures("in_place", engine)["operand"] == [0, 2, 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hook_changes_the_gradient(figures: Figures, engine: str) -> None:
    assert figures("hooks", engine)["doubled"] == [0, 4, 8]


@pytest.mark.parametrize("engine", TAPES)
def test_hooks_are_called_from_the_output_to_the_leaf(figures: Figures, engine: str) -> None:
    order = figures("hooks", engine)["order"]
    leaf = [kind for kind in order if kind.startswith("leaf")]
    assert order[0] == "tensor"
    assert order.index("module, before its backward") < order.index(leaf[0])
    assert leaf == (
        ["leaf, before accumulation", "leaf, after accumulation"]
        if engine == "torch-tape"
        else ["leaf"]
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_one_tensor_as_both_arguments_tells_styles_apart(figures: Figures, engine: str) -> None:
    expected = [2, 4, 6] if engine.endswith("tape") else [1, 2, 3]
    assert figures("answers", engine) == {"by a": {"da": expected}, "by b": {"db": expected}}


@pytest.mark.parametrize("engine", ["torch-tape", *MINDSPORE])
def test_an_extra_output_shifts_the_gradient_unless_it_is_cut_off(
    figures: Figures, engine: str
) -> None:
    found = figures("extra_output", engine)
    alone, along = found.pop("first output alone"), found.pop("every output")
    column = [
        1.5,
        1.0,
        1.0,
        1.25,
    ]  # the sums of x over the batch, which dz/dw adds to every column of w
    assert (
        greatest_difference(
            along, [[g + shift for g in row] for row, shift in zip(alone, column, strict=True)]
        )
        < 1e-5
    )
    assert len(found) == (2 if engine in MINDSPORE else 1)
    assert all(greatest_difference(each, alone) == 0 for each in found.values())


def test_a_variable_is_a_tensor_and_a_seed_multiplies(figures: Figures) -> None:
    assert figures("variable", "torch-tape") == {
        "torch.autograd.Variable exists": True,
        "type": "torch.Tensor",
        "is a Tensor": True,
        "leaf.grad": [[4, 4], [4, 4]],
        "x is a leaf": False,
    }


def test_the_findings_are_made_of_the_figures(record: StudyRecord, figures: Figures) -> None:
    nodes = len(figures("lifetime", "mindspore-tape")["nodes"])
    assert any(
        f"the forward leaves {nodes} nodes on a tape" in finding for finding in record.findings
    )
    assert any(
        "wrong, [2, 3.718, 8.389] (MindSpore, graph)" in finding for finding in record.findings
    )
    assert [chart.name for chart in record.charts] == ["bytes-alive", "bytes-kept"]
    assert all(series.x[0] == 0 and series.x[-1] == 2 for series in record.charts[0].series)


def test_figures_are_the_same_at_every_run(record: StudyRecord, workers: Workers) -> None:
    scenario = str(find(tape_life.DEFAULT))
    again = [
        tape_life.of_scenario(question, engine, scenario)
        for question in ("lifetime", "freeing")
        for engine in TAPES
    ]
    again += [
        tape_life.asked(question, engine)
        for question in ("hooks", "in_place", "called_again")
        for engine in MINDSPORE
    ]
    for name, each in measure(again, workers).items():
        assert each.figures == record.figures[name], name


def test_without_figures_nothing_is_claimed() -> None:
    telling = tell(Evidence({}))
    assert (telling.findings, telling.charts) == ((), ())
    assert all(set(row[1:]) == {"-"} for row in telling.tables[0].rows)
    lost = Measured(outcome="crashed", error=Failure("crashed", "exit code 3"))
    told = tell(Evidence({"tape-life.hooks.torch-tape": lost}))
    assert "No figures of hooks.torch-tape: crashed: exit code 3." in told.tables[0].note


def test_a_watch_counts_a_storage_once_and_forgets_what_died() -> None:
    watch = Watch({7})
    boxes = [watch.pack(None, 3, 12), watch.pack(None, 3, 12), watch.pack(None, 7, 4)]
    assert watch.kept() == {"tensors": 3, "bytes": 12, "of inputs and parameters": 4}
    boxes.pop()
    assert watch.kept() == {"tensors": 2, "bytes": 12, "of inputs and parameters": 0}
    boxes.clear()
    assert watch.kept() == {"tensors": 0, "bytes": 0, "of inputs and parameters": 0}


def test_a_forward_value_is_kept_from_its_making_to_its_last_reader_also_through_a_view() -> None:
    def node(number: int, op: str, phase: Any, kind: Any = "op") -> Node:
        return Node(
            id=f"n{number}",
            op=op,
            kind=kind,
            phase=phase,
            order=number,
            outputs=(Output((2, 3), "float32"),),
        )

    nodes = (
        node(0, "parameter", "forward", "parameter"),
        node(1, "aten.exp.default", "forward"),
        node(2, "aten.t.default", "forward"),
        node(3, "aten.mul.Tensor", "backward"),
        node(4, "aten.mm.default", "backward"),
    )
    edges = (
        Edge("n0", "n1"),
        Edge("n1", "n2"),
        Edge("n1", "n3", kind="saved"),
        Edge("n2", "n4", kind="saved"),
    )
    graph = GradGraph(
        engine="torch-graph",
        case="",
        stage="joint",
        nodes=nodes,
        edges=(*edges, Edge("n0", "n3", kind="saved")),
    )
    kept = [
        (step["op"], step["bytes"], step["of inputs and parameters"]) for step in crossing(graph)
    ]
    assert kept == [
        ("aten.exp.default", 24, 24),
        ("aten.t.default", 24, 24),
        ("aten.mul.Tensor", 24, 0),
        ("aten.mm.default", 0, 0),
    ]
    assert savers(graph) == {"aten.exp.default": 1, "parameter": 1}


def test_a_derivative_is_judged_by_its_closed_form() -> None:
    assert right([0.0, 2.0, 4.0], [0, 2, 4]) == "right"
    assert right([0.0, 2.0, 4.001], [0, 2, 4]) == "wrong"
    assert right({"raised": "RuntimeError", "message": "no. Hint"}, [0]) == "raises"
    assert refusal({"raised": "RuntimeError", "message": "no. Hint"}) == "RuntimeError: no"
    assert len(refusal({"raised": "RuntimeError", "message": "x" * 500})) < 120
