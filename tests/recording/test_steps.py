"""Steps of training programs that are recorded where they run: the same bits, and what traces hold."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.engines import Framework
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph, Node
from explorer.model.trace import Trace
from tests.recording.conftest import SHAPES, STEPS, TELLING, Recorded, each, marked, weights
from tests.support.command_line import ROOT, python
from tests.support.command_line import explorer as run
from tests.support.narrowing import present
from tests.support.recorded_files import loaded_trace


class Programs(NamedTuple):
    """The steps of one framework: its programs, what they train, and what differs in their traces.

    A program's trace is called by the program and ``suffix``; ``missing`` is what a whole step lacks
    (MindSpore's optimizer is compiled), ``error`` what the program that raises does, and ``runs`` an
    op that ran before it.
    """

    names: tuple[str, ...]
    suffix: str
    weights: list[str]
    missing: frozenset[str]
    error: str
    runs: str


PROGRAMS: dict[Framework, Programs] = {
    "torch": Programs(
        (
            "plain",
            "micro_batches",
            "mixed_precision",
            "several_passes",
            "gradient_penalty",
            "hooks",
            "checkpoint",
            "reentrant_checkpoint",
        ),
        "-3",
        weights("first", "norm", "middle", "last"),
        frozenset(),
        "RuntimeError",
        "aten.sum.default",
    ),
    "mindspore": Programs(
        (
            "plain",
            "one_step_cell",
            "auxiliary",
            "micro_batches",
            "loss_scaling",
            "several_passes",
            "gradient_penalty",
            "hooks",
            "recompute",
        ),
        "-3",
        weights("first", "block.norm", "block.middle", "last"),
        frozenset({"compiled_calls"}),
        "RuntimeError",
        "",
    ),
    "jax": Programs(
        ("eager", "compiled", "donated", "split", "several_passes", "module"),
        "",
        [],
        frozenset(),
        "TypeError",
        "reduce_sum",
    ),
}

EACH_PROGRAM = each({name: programs.names for name, programs in PROGRAMS.items()}, STEPS)

WITH_LOSSES: tuple[Framework, ...] = ("torch", "mindspore")
"""The frameworks whose programs print the loss of each step."""

EACH_WITH_LOSSES = each({name: PROGRAMS[name].names for name in WITH_LOSSES}, STEPS)


def graph_of(trace: Trace) -> GradGraph:
    return present(trace.graph)


def ops_of(trace: Trace, name: str) -> list[Node]:
    return [node for node in graph_of(trace).nodes if node.op == name and node.kind == "op"]


def trace_of(steps: Recorded, framework: Framework, name: str) -> Trace:
    """The trace of a program."""
    recordings = steps(framework)
    recordings.of_program(name)
    return recordings.trace(f"{name}{PROGRAMS[framework].suffix}")


def outcome(steps: Recorded, framework: Framework, name: str) -> list[object]:
    """What a step computed that was recorded otherwise, and what the program was warned of."""
    computed, warned = steps(framework).computed[name]
    return [computed, warned]


def undisturbed(steps: Recorded, framework: Framework) -> object:
    """What that step computes by itself."""
    computed = steps(framework).computed
    return computed["one"] if framework == "jax" else computed["one_step"][0]


# What the program computes


@pytest.mark.parametrize("framework", marked(*WITH_LOSSES))
def test_every_program_is_run_with_nothing_but_numpy_and_msgspec(
    steps: Recorded, framework: Framework
) -> None:
    computed = steps(framework).computed
    names = PROGRAMS[framework].names
    assert tuple(computed["programs"]) in (names, TELLING.get(STEPS[framework]))
    assert computed["foreign"] == []


@pytest.mark.parametrize(("framework", "name"), EACH_PROGRAM)
def test_losses_weights_and_random_numbers_are_the_same_bits_with_and_without(
    steps: Recorded, framework: Framework, name: str
) -> None:
    without, recorded = steps(framework).of_program(name)
    assert recorded == without


@pytest.mark.parametrize("framework", marked(*PROGRAMS))
def test_nothing_of_the_recorder_is_left_in_the_framework(
    steps: Recorded, framework: Framework
) -> None:
    computed = steps(framework).computed
    if framework == "jax":
        assert computed["is_put_back"]
    else:
        before, after = computed["left_behind"]
        assert after == before


# What does not work is said, and does not stop the step


@pytest.mark.parametrize("framework", marked(*PROGRAMS))
def test_a_fault_of_the_recorder_is_a_warning_and_in_the_trace(
    steps: Recorded, framework: Framework
) -> None:
    expected = [undisturbed(steps, framework), ["RecordingWarning"]]
    assert outcome(steps, framework, "failing") == expected
    (missing,) = steps(framework).trace("failing").missing
    assert missing.kind == "fault"
    assert present(missing.error).type == "ZeroDivisionError"


@pytest.mark.parametrize("framework", marked(*PROGRAMS))
def test_a_step_that_needs_more_memory_goes_on_unrecorded(
    steps: Recorded, framework: Framework
) -> None:
    assert outcome(steps, framework, "full") == [undisturbed(steps, framework), []]
    full, whole = (steps(framework).trace(name) for name in ("full", "one"))
    assert [missing.kind for missing in full.missing] == ["memory"]
    assert 0 < len(graph_of(full).nodes) < len(graph_of(whole).nodes)
    assert lint(graph_of(full)) == []


@pytest.mark.parametrize("framework", marked(*PROGRAMS))
def test_what_a_step_raises_is_the_program_s_and_what_ran_before_is_recorded(
    steps: Recorded, framework: Framework
) -> None:
    recordings, programs = steps(framework), PROGRAMS[framework]
    assert recordings.computed["raises"] == programs.error
    trace = recordings.trace("raised")
    assert [missing.kind for missing in trace.missing] == ["raised"]
    if programs.runs:
        assert programs.runs in {node.op for node in graph_of(trace).nodes}
    if framework == "mindspore":
        assert recordings.trace("after").missing == ()
        assert recordings.computed["after_raising"][0] == undisturbed(steps, framework)


# What a trace holds


@pytest.mark.parametrize(("framework", "name"), EACH_PROGRAM)
def test_each_graph_is_sound_and_has_the_loss_and_the_gradient_of_each_weight(
    steps: Recorded, framework: Framework, name: str
) -> None:
    trace = trace_of(steps, framework, name)
    assert {missing.kind for missing in trace.missing} == PROGRAMS[framework].missing
    assert lint(graph_of(trace)) == []
    trained = PROGRAMS[framework].weights
    results = {leaf.name for leaf in trace.results}
    if framework == "jax":
        trained = [start.name for start in trace.start if start.trained]
        assert len(trained) >= len(SHAPES)
        # Its updates are functions: the updated weights are results, too.
        results = {node.name for node in graph_of(trace).nodes if node.kind == "output"}
        assert results.issuperset(trained)
    assert {"loss", *(f"d{weight}" for weight in trained)} <= results


@pytest.mark.parametrize(("framework", "name"), EACH_WITH_LOSSES)
def test_the_loss_is_the_one_that_the_program_saw(
    steps: Recorded, framework: Framework, name: str
) -> None:
    losses, _, _ = steps(framework).of_program(name)[0]
    seen = {
        leaf.name: float(unpack(leaf.value))
        for leaf in trace_of(steps, framework, name).results
        if not leaf.value.shape
    }
    scales = {"mixed_precision": 256, "loss_scaling": 512}
    loss = seen["loss_2" if name == "gradient_penalty" else "loss"] / scales.get(name, 1)
    if name in ("micro_batches", "several_passes"):
        loss += seen["loss_2"]
    assert loss == pytest.approx(losses[3], rel=1e-6)


@pytest.mark.parametrize("framework", marked(*WITH_LOSSES))
def test_a_start_has_the_values_before_the_step_and_the_state_those_after(
    steps: Recorded, framework: Framework
) -> None:
    trace = trace_of(steps, framework, "plain")
    start = {start.name: start.value for start in trace.start}
    for change in trace.state:
        assert change.before == start[change.name]
        assert change.after != change.before


@pytest.mark.parametrize(
    ("framework", "target", "buffer", "scopes", "op"),
    [
        pytest.param(
            "torch",
            "target",
            "mean",
            {"first", "norm", "middle", "drop", "last", "CrossEntropyLoss"},
            "aten.addmm.default",
            marks=pytest.mark.torch,
        ),
        pytest.param(
            "mindspore",
            "labels",
            "block.norm.running_mean",
            {"first", "block.middle", "last"},
            "MatMul",
            marks=pytest.mark.mindspore,
        ),
    ],
)
def test_modules_lines_inputs_and_state_are_those_of_the_program(
    steps: Recorded, framework: Framework, target: str, buffer: str, scopes: set[str], op: str
) -> None:
    trace = trace_of(steps, framework, "plain")
    graph, products = graph_of(trace), ops_of(trace, op)
    assert scopes <= {node.scope for node in graph.nodes if node.kind == "op"}
    program = "recorded_steps.py:" if framework == "torch" else "recorded_mindspore_steps.py:"
    assert all(node.source[0].startswith(program) for node in products)

    roles = {start.name: start.role for start in trace.start}
    assert roles["x"] == roles[target] == "input"
    assert roles["first.weight"] == "parameter"
    assert roles[buffer] == "buffer"
    assert roles["first.weight.exp_avg"] == "optimizer"
    changed = {change.name for change in trace.state}
    assert {buffer, *PROGRAMS[framework].weights} <= changed
    assert trace.step == 3
    if framework == "torch":
        assert graph.layers["drop"].settings["p"] == 0.2
        assert trace.random["torch"] != trace.random_after["torch"]  # dropout drew
        assert trace.random["numpy"] == trace.random_after["numpy"]
    else:
        forward = [node for node in products if node.phase == "forward"]
        assert [node.scope for node in forward] == ["first", "block.middle", "last"]
        linked = [node for node in products if node.phase == "backward"]
        assert {node.forward for node in linked} == {node.id for node in forward}
        assert graph.layers["first"].name == "nn.Dense"
        assert "first.weight.exp_avg" in changed
        assert trace.settings["mode"] == "PYNATIVE_MODE"


# PyTorch alone


@pytest.mark.torch
def test_a_folder_that_is_not_there_is_a_warning(steps: Recorded) -> None:
    loss, warned = steps("torch").computed["no_folder"]
    assert (loss, warned) == (steps("torch").computed["one_step"][0], ["RecordingWarning"])


@pytest.mark.torch
def test_a_block_inside_another_records_nothing_and_says_so(steps: Recorded) -> None:
    _, warned = steps("torch").computed["nested"]
    assert warned == ["RecordingWarning"]
    inner = steps("torch").trace("inner")
    assert inner.graph is None
    assert [missing.kind for missing in inner.missing] == ["inside_another"]
    assert graph_of(steps("torch").trace("outer")).nodes


@pytest.mark.torch
def test_a_loop_records_its_first_steps_and_each_nth(steps: Recorded) -> None:
    expected = [f"step-{number:06d}.trace" for number in (1, 2, 4, 8)]
    assert steps("torch").computed["loop"] == expected


@pytest.mark.torch
def test_settings_say_that_autocast_was_on(steps: Recorded) -> None:
    assert steps("torch").trace("mixed_precision-3").settings["autocast.cpu"] == "bfloat16"
    assert "autocast.cpu" not in steps("torch").trace("plain-3").settings


@pytest.mark.torch
def test_what_an_optimizer_does_comes_after_backward_and_derives_from_no_forward_op(
    steps: Recorded,
) -> None:
    graph = graph_of(steps("torch").trace("micro_batches-3"))
    (norm,) = [node for node in graph.nodes if node.op == "aten._foreach_norm.Scalar"]
    assert (norm.phase, norm.missing["forward"].kind) == ("backward", "outside_pass")
    linked = [node for node in graph.nodes if node.tape == "AddmmBackward0"]
    assert all(node.forward is not None for node in linked)
    assert len(linked) > 12  # of both micro-batches


# MindSpore alone


@pytest.mark.whole
@pytest.mark.mindspore
def test_the_cells_that_only_wrap_a_net_are_no_part_of_names(steps: Recorded) -> None:
    trace = steps("mindspore").trace("one_step_cell-3")
    scopes = {node.scope for node in graph_of(trace).nodes if node.kind == "op"}
    assert scopes == {
        "",
        "first",
        "block",
        "block.norm",
        "block.middle",
        "last",
        "CrossEntropyLoss",
    }


@pytest.mark.mindspore
def test_a_model_and_inputs_have_the_names_that_they_are_given(steps: Recorded) -> None:
    assert steps("mindspore").computed["named"] == steps("mindspore").computed["one_step"]
    trace = steps("mindspore").trace("named")
    names = {start.name for start in trace.start if start.role != "constant"}
    assert {"whole.first.weight", "whole.block.norm.running_mean", "given"} <= names
    assert "x" not in names
    assert "whole.block" in {node.scope for node in graph_of(trace).nodes}


@pytest.mark.mindspore
def test_a_compiled_optimizer_is_one_op_behind_the_pass_that_reads_the_gradients(
    steps: Recorded,
) -> None:
    trace = steps("mindspore").trace("plain-3")
    graph = graph_of(trace)
    (update,) = ops_of(trace, "Adam")
    assert (update.phase, update.missing["forward"].kind) == ("backward", "outside_pass")
    nodes = graph.by_id()
    read = {nodes[edge.origin].op for edge in graph.edges if edge.target == update.id}
    assert {"MatMul", "BiasAddBackward", "parameter"} <= read
    made = {nodes[edge.target].name for edge in graph.edges if edge.origin == update.id}
    assert set(PROGRAMS["mindspore"].weights) <= made


@pytest.mark.mindspore
def test_clipping_comes_behind_the_passes_whose_gradients_the_program_adds(steps: Recorded) -> None:
    trace = steps("mindspore").trace("micro_batches-3")
    roots = [node for node in ops_of(trace, "Sqrt") if "forward" in node.missing]
    assert [node.phase for node in roots] == ["backward"]
    graph = graph_of(trace)
    (result,) = [node for node in graph.nodes if node.name == "dfirst.weight"]
    (origin,) = [edge.origin for edge in graph.edges if edge.target == result.id]
    assert "Add" in graph.by_id()[origin].op  # the sum over both


@pytest.mark.mindspore
@pytest.mark.parametrize("name", ["plain", pytest.param("recompute", marks=pytest.mark.whole)])
def test_values_have_the_noise_of_rounding(steps: Recorded, name: str) -> None:
    trace = steps("mindspore").trace(f"{name}-3")
    (tanh,) = [node for node in ops_of(trace, "Tanh") if node.phase == "forward"]
    (output,) = tanh.outputs
    assert 1e-9 < present(output.noise) < 1e-4


# Beside each other, and beside an engine on a scenario: in the shell and in Python


def path_of(steps: Recorded, name: str) -> str:
    return str(steps("torch").folder / f"{name}.trace")


# Steps that are the same, and steps that are not


@pytest.mark.torch
@pytest.mark.parametrize("other", ["checkpoint-3", "reentrant_checkpoint-3"])
def test_a_step_is_the_same_whether_a_block_is_computed_again_or_not(
    steps: Recorded, other: str
) -> None:
    plain = loaded_trace(path_of(steps, "plain-3"))
    alignment = plain.diff(loaded_trace(path_of(steps, other))).alignment
    assert (alignment.divergence, alignment.differing) == (None, ())
    assert alignment.contradictions == ()
    assert alignment.left_coverage.whole.unpaired == 0


@pytest.mark.torch
def test_a_trace_is_drawn_and_printed(steps: Recorded, tmp_path: Path) -> None:
    loaded = loaded_trace(path_of(steps, "full"))
    assert "not recorded: the tensors of the step need more than 0 MB" in str(loaded)
    picture = loaded.graph(depth="all")
    assert "<svg" in picture.text
    assert "full" in picture.description


@pytest.mark.torch
def test_a_trace_without_a_graph_is_refused_with_the_reason(steps: Recorded) -> None:
    inner = loaded_trace(path_of(steps, "inner"))
    with pytest.raises(UsageError, match="'inner' has no graph: nothing was recorded"):
        inner.graph()


# The shell


@pytest.mark.torch
def test_diff_of_two_steps_says_what_differs_and_ends_with_1(steps: Recorded) -> None:
    one, other = path_of(steps, "plain-1"), path_of(steps, "plain-3")
    done = run("diff", one, other)
    assert done.returncode == 1
    assert "the nets start from different values of" in done.stdout
    document = json.loads(run("diff", one, other, "--json").stdout)
    assert (document["left"], document["right"]) == ("torch-tape@plain-1", "torch-tape@plain-3")


@pytest.mark.torch
@pytest.mark.whole
def test_what_has_no_effect_on_a_trace_is_refused(steps: Recorded, tmp_path: Path) -> None:
    path = path_of(steps, "plain-1")
    for command in (
        ["diff", path, path, "--device", "cuda"],
        ["graph", path, "-o", str(tmp_path / "a.svg"), "--engine", "torch-tape"],
    ):
        done = run(*command)
        assert done.returncode == 2
        assert f"{command[-2]} has no effect on" in done.stderr


@pytest.mark.torch
@pytest.mark.whole
def test_graph_of_a_trace_is_a_file(steps: Recorded, tmp_path: Path) -> None:
    picture = tmp_path / "step.svg"
    done = run("graph", path_of(steps, "plain-3"), "-o", str(picture))
    assert (done.returncode, done.stderr) == (0, "")
    assert "<svg" in picture.read_text()
    document = tmp_path / "step.json"
    assert run("graph", path_of(steps, "plain-3"), "-o", str(document)).returncode == 0
    assert json.loads(document.read_text())["engine"] == "torch-tape@plain-3"


# A scenario's net, recorded by a program of its own


PROGRAM = """
import runpy
import sys

import torch

import explorer

scenario = runpy.run_path(sys.argv[1])
net = scenario["torch_net"]()
with torch.no_grad():
    for name, array in scenario["parameters"]().items():
        net.get_parameter(name).copy_(torch.from_numpy(array))
arrays = scenario["inputs"]().values()
inputs = [torch.from_numpy(array).requires_grad_() for array in arrays]
with explorer.record(sys.argv[2]):
    loss, _ = net(*inputs)
    loss.backward()
"""


@pytest.mark.torch
@pytest.mark.sample
@pytest.mark.whole
def test_a_recorded_step_of_a_scenario_s_net_is_the_same_as_its_engine_s(tmp_path: Path) -> None:
    trace = tmp_path / "own.trace"
    python("-c", PROGRAM, ROOT / "scenarios" / "dense_mse.py", trace)
    done = run("diff", str(trace), "dense_mse", "torch-tape")
    assert "torch-tape@own" in done.stdout, done.stderr
    assert "no divergence" in done.stdout
    assert done.returncode == 0
