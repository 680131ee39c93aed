"""Steps of MindSpore's training programs that are recorded where they run: the same bits, and traces."""

import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph, Node
from explorer.model.trace import Trace
from tests.recording.conftest import Recordings

pytestmark = pytest.mark.mindspore

PROGRAMS = (
    "plain",
    "one_step_cell",
    "auxiliary",
    "micro_batches",
    "loss_scaling",
    "several_passes",
    "gradient_penalty",
    "hooks",
    "recompute",
)
"""The programs of tests/nets/recorded_mindspore_steps.py, which imports MindSpore."""

WEIGHTS = [
    f"{layer}.{part}"
    for layer in ("first", "block.norm", "block.middle", "last")
    for part in ("weight", "bias")
]
"""By PyTorch's names."""


def graph_of(trace: Trace) -> GradGraph:
    assert trace.graph is not None
    return trace.graph


def ops_of(trace: Trace, name: str) -> list[Node]:
    return [node for node in graph_of(trace).nodes if node.op == name and node.kind == "op"]


# What the program computes


def test_every_program_is_run(mindspore_recordings: Recordings) -> None:
    assert tuple(mindspore_recordings.computed["programs"]) == PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_weights_and_random_numbers_are_the_same_bits_with_and_without(
    mindspore_recordings: Recordings, name: str
) -> None:
    without, recorded = mindspore_recordings.computed["programs"][name]
    assert recorded == without


def test_only_numpy_and_msgspec_are_needed_beside_mindspore(
    mindspore_recordings: Recordings,
) -> None:
    assert mindspore_recordings.computed["foreign"] == []


def test_nothing_of_the_recorder_is_left_in_mindspore(mindspore_recordings: Recordings) -> None:
    before, after = mindspore_recordings.computed["left_behind"]
    assert after == before


# What does not work is said, and does not stop the step


def test_a_fault_of_the_recorder_is_a_warning_and_in_the_trace(
    mindspore_recordings: Recordings,
) -> None:
    loss, warned = mindspore_recordings.computed["failing"]
    assert loss == mindspore_recordings.computed["one_step"][0]
    assert warned == ["RecordingWarning"]
    (missing,) = mindspore_recordings.trace("failing").missing
    assert missing.kind == "fault"
    assert missing.error is not None
    assert missing.error.type == "ZeroDivisionError"


def test_a_step_that_needs_more_memory_goes_on_unrecorded(
    mindspore_recordings: Recordings,
) -> None:
    loss, warned = mindspore_recordings.computed["full"]
    assert (loss, warned) == (mindspore_recordings.computed["one_step"][0], [])
    full, whole = mindspore_recordings.trace("full"), mindspore_recordings.trace("one")
    assert [missing.kind for missing in full.missing] == ["memory"]
    assert 0 < len(graph_of(full).nodes) < len(graph_of(whole).nodes)
    assert lint(graph_of(full)) == []


def test_what_a_step_raises_is_the_program_s_and_the_next_step_is_recorded(
    mindspore_recordings: Recordings,
) -> None:
    assert mindspore_recordings.computed["raises"] == "RuntimeError"
    trace = mindspore_recordings.trace("raised")
    assert [missing.kind for missing in trace.missing] == ["raised"]
    assert mindspore_recordings.trace("after").missing == ()
    assert (
        mindspore_recordings.computed["after_raising"][0]
        == (mindspore_recordings.computed["one_step"][0])
    )


# What a trace holds


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_graph_is_sound_and_has_the_gradient_of_each_weight(
    mindspore_recordings: Recordings, name: str
) -> None:
    trace = mindspore_recordings.trace(f"{name}-3")
    assert {missing.kind for missing in trace.missing} == {"compiled_calls"}  # the optimizer
    assert lint(graph_of(trace)) == []
    results = {leaf.name for leaf in trace.results}
    assert {f"d{weight}" for weight in WEIGHTS} | {"loss"} <= results


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loss_is_the_one_that_the_program_saw(
    mindspore_recordings: Recordings, name: str
) -> None:
    trace = mindspore_recordings.trace(f"{name}-3")
    losses, _, _ = mindspore_recordings.computed["programs"][name][0]
    values = {
        leaf.name: float(unpack(leaf.value)) for leaf in trace.results if not leaf.value.shape
    }
    seen = {
        "micro_batches": lambda: values["loss"] + values["loss_2"],
        "several_passes": lambda: values["loss"] + values["loss_2"],
        "loss_scaling": lambda: values["loss"] / 512,
        "gradient_penalty": lambda: values["loss_2"],
    }
    loss = seen.get(name, lambda: values["loss"])()
    assert loss == pytest.approx(losses[3], rel=1e-6)


def test_cells_lines_inputs_and_state_are_those_of_the_program(
    mindspore_recordings: Recordings,
) -> None:
    trace = mindspore_recordings.trace("plain-3")
    products = ops_of(trace, "MatMul")
    forward = [node for node in products if node.phase == "forward"]
    assert [node.scope for node in forward] == ["first", "block.middle", "last"]
    assert all(node.source[0].startswith("recorded_mindspore_steps.py:") for node in products)
    linked = [node for node in products if node.phase == "backward"]
    assert {node.forward for node in linked} == {node.id for node in forward}
    assert graph_of(trace).layers["first"].name == "nn.Dense"

    roles = {start.name: start.role for start in trace.start}
    assert roles["x"] == roles["labels"] == "input"
    assert roles["first.weight"] == "parameter"
    assert roles["block.norm.running_mean"] == "buffer"
    assert roles["first.weight.exp_avg"] == "optimizer"
    changed = {change.name for change in trace.state}
    assert {"block.norm.running_mean", "first.weight.exp_avg", *WEIGHTS} <= changed
    assert trace.step == 3
    assert trace.settings["mode"] == "PYNATIVE_MODE"


def test_a_start_has_the_values_before_the_step_and_the_state_those_after(
    mindspore_recordings: Recordings,
) -> None:
    trace = mindspore_recordings.trace("plain-3")
    start = {start.name: start.value for start in trace.start}
    for change in trace.state:
        assert change.before == start[change.name]
        assert change.after != change.before


def test_the_cells_that_only_wrap_a_net_are_no_part_of_names(
    mindspore_recordings: Recordings,
) -> None:
    trace = mindspore_recordings.trace("one_step_cell-3")
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


def test_a_model_and_inputs_have_the_names_that_they_are_given(
    mindspore_recordings: Recordings,
) -> None:
    assert mindspore_recordings.computed["named"] == mindspore_recordings.computed["one_step"]
    trace = mindspore_recordings.trace("named")
    names = {start.name for start in trace.start if start.role != "constant"}
    assert {"whole.first.weight", "whole.block.norm.running_mean", "given"} <= names
    assert "x" not in names
    assert "whole.block" in {node.scope for node in graph_of(trace).nodes}


def test_a_compiled_optimizer_is_one_op_behind_the_pass_that_reads_the_gradients(
    mindspore_recordings: Recordings,
) -> None:
    trace = mindspore_recordings.trace("plain-3")
    graph = graph_of(trace)
    (update,) = ops_of(trace, "Adam")
    assert (update.phase, update.missing["forward"].kind) == ("backward", "outside_pass")
    nodes = graph.by_id()
    read = {nodes[edge.origin].op for edge in graph.edges if edge.target == update.id}
    assert {"MatMul", "BiasAddBackward", "parameter"} <= read
    made = {nodes[edge.target].name for edge in graph.edges if edge.origin == update.id}
    assert set(WEIGHTS) <= made


def test_clipping_comes_behind_the_passes_whose_gradients_the_program_adds(
    mindspore_recordings: Recordings,
) -> None:
    trace = mindspore_recordings.trace("micro_batches-3")
    roots = [node for node in ops_of(trace, "Sqrt") if "forward" in node.missing]
    assert [node.phase for node in roots] == ["backward"]
    graph = graph_of(trace)
    (result,) = [node for node in graph.nodes if node.name == "dfirst.weight"]
    (origin,) = [edge.origin for edge in graph.edges if edge.target == result.id]
    assert "Add" in graph.by_id()[origin].op  # the sum over both


@pytest.mark.parametrize("name", ["plain", "recompute"])
def test_values_have_the_noise_of_rounding(mindspore_recordings: Recordings, name: str) -> None:
    trace = mindspore_recordings.trace(f"{name}-3")
    (tanh,) = [node for node in ops_of(trace, "Tanh") if node.phase == "forward"]
    (output,) = tanh.outputs
    assert output.noise is not None
    assert 1e-9 < output.noise < 1e-4
