"""Steps of training programs that are recorded where they run: the same bits, and what traces hold."""

import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph
from explorer.model.trace import Trace
from tests.recording.conftest import Recordings

pytestmark = pytest.mark.torch

PROGRAMS = (
    "plain",
    "micro_batches",
    "mixed_precision",
    "several_passes",
    "gradient_penalty",
    "hooks",
    "checkpoint",
    "reentrant_checkpoint",
)
"""The programs of tests/nets/recorded_steps.py, which imports PyTorch."""

WEIGHTS = [
    f"{layer}.{part}"
    for layer in ("first", "norm", "middle", "last")
    for part in ("weight", "bias")
]


def graph_of(trace: Trace) -> GradGraph:
    assert trace.graph is not None
    return trace.graph


# What the program computes


def test_every_program_is_run(recordings: Recordings) -> None:
    assert tuple(recordings.computed["programs"]) == PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_weights_and_random_numbers_are_the_same_bits_with_and_without(
    recordings: Recordings, name: str
) -> None:
    without, recorded = recordings.computed["programs"][name]
    assert recorded == without


def test_only_numpy_and_msgspec_are_needed_beside_pytorch(recordings: Recordings) -> None:
    assert recordings.computed["foreign"] == []


def test_nothing_of_the_recorder_is_left_in_pytorch(recordings: Recordings) -> None:
    before, after = recordings.computed["left_behind"]
    assert after == before


# What does not work is said, and does not stop the step


def test_a_fault_of_the_recorder_is_a_warning_and_in_the_trace(recordings: Recordings) -> None:
    loss, warned = recordings.computed["failing"]
    assert loss == recordings.computed["one_step"][0]
    assert warned == ["RecordingWarning"]
    (missing,) = recordings.trace("failing").missing
    assert missing.kind == "fault"
    assert missing.error is not None
    assert missing.error.type == "ZeroDivisionError"


def test_a_step_that_needs_more_memory_goes_on_unrecorded(recordings: Recordings) -> None:
    loss, warned = recordings.computed["full"]
    assert (loss, warned) == (recordings.computed["one_step"][0], [])
    full, whole = recordings.trace("full"), recordings.trace("one")
    assert [missing.kind for missing in full.missing] == ["memory"]
    assert 0 < len(graph_of(full).nodes) < len(graph_of(whole).nodes)
    assert lint(graph_of(full)) == []


def test_a_folder_that_is_not_there_is_a_warning(recordings: Recordings) -> None:
    loss, warned = recordings.computed["no_folder"]
    assert (loss, warned) == (recordings.computed["one_step"][0], ["RecordingWarning"])


def test_what_a_step_raises_is_the_program_s_and_what_ran_before_is_recorded(
    recordings: Recordings,
) -> None:
    assert recordings.computed["raises"] == "RuntimeError"
    trace = recordings.trace("raised")
    assert [missing.kind for missing in trace.missing] == ["raised"]
    assert "aten.sum.default" in {node.op for node in graph_of(trace).nodes}


def test_a_block_inside_another_records_nothing_and_says_so(recordings: Recordings) -> None:
    _, warned = recordings.computed["nested"]
    assert warned == ["RecordingWarning"]
    inner = recordings.trace("inner")
    assert inner.graph is None
    assert [missing.kind for missing in inner.missing] == ["inside_another"]
    assert graph_of(recordings.trace("outer")).nodes


def test_a_loop_records_its_first_steps_and_each_nth(recordings: Recordings) -> None:
    expected = [f"step-{number:06d}.trace" for number in (1, 2, 4, 8)]
    assert recordings.computed["loop"] == expected


# What a trace holds


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_graph_is_sound_and_has_the_gradient_of_each_weight(
    recordings: Recordings, name: str
) -> None:
    trace = recordings.trace(f"{name}-3")
    assert trace.missing == ()
    assert lint(graph_of(trace)) == []
    results = {leaf.name for leaf in trace.results}
    assert {f"d{weight}" for weight in WEIGHTS} | {"loss"} <= results


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loss_is_the_one_that_the_program_saw(recordings: Recordings, name: str) -> None:
    trace = recordings.trace(f"{name}-3")
    losses, _, _ = recordings.computed["programs"][name][0]
    values = {
        leaf.name: float(unpack(leaf.value)) for leaf in trace.results if not leaf.value.shape
    }
    seen = {
        "micro_batches": lambda: values["loss"] + values["loss_2"],
        "several_passes": lambda: values["loss"] + values["loss_2"],
        "mixed_precision": lambda: values["loss"] / 256,
        "gradient_penalty": lambda: values["loss_2"],
    }
    loss = seen.get(name, lambda: values["loss"])()
    assert loss == pytest.approx(losses[3], rel=1e-6)


def test_modules_lines_inputs_and_state_are_those_of_the_program(recordings: Recordings) -> None:
    trace = recordings.trace("plain-3")
    graph = graph_of(trace)
    scopes = {node.scope for node in graph.nodes if node.kind == "op"}
    assert {"first", "norm", "middle", "drop", "last", "CrossEntropyLoss"} <= scopes
    products = [node for node in graph.nodes if node.op == "aten.addmm.default"]
    assert all(node.source[0].startswith("recorded_steps.py:") for node in products)
    assert graph.layers["drop"].settings["p"] == 0.2

    roles = {start.name: start.role for start in trace.start}
    assert roles["x"] == roles["target"] == "input"
    assert roles["first.weight"] == "parameter"
    assert roles["mean"] == "buffer"
    assert roles["first.weight.exp_avg"] == "optimizer"
    assert {"mean", *WEIGHTS} <= {change.name for change in trace.state}
    assert trace.step == 3
    assert trace.random["torch"] != trace.random_after["torch"]  # dropout drew
    assert trace.random["numpy"] == trace.random_after["numpy"]


def test_a_start_has_the_values_before_the_step_and_the_state_those_after(
    recordings: Recordings,
) -> None:
    trace = recordings.trace("plain-3")
    start = {start.name: start.value for start in trace.start}
    for change in trace.state:
        assert change.before == start[change.name]
        assert change.after != change.before


def test_settings_say_that_autocast_was_on(recordings: Recordings) -> None:
    assert recordings.trace("mixed_precision-3").settings["autocast.cpu"] == "bfloat16"
    assert "autocast.cpu" not in recordings.trace("plain-3").settings


def test_what_an_optimizer_does_comes_after_backward_and_derives_from_no_forward_op(
    recordings: Recordings,
) -> None:
    graph = graph_of(recordings.trace("micro_batches-3"))
    (norm,) = [node for node in graph.nodes if node.op == "aten._foreach_norm.Scalar"]
    assert (norm.phase, norm.missing["forward"].kind) == ("backward", "outside_pass")
    linked = [node for node in graph.nodes if node.tape == "AddmmBackward0"]
    assert all(node.forward is not None for node in linked)
    assert len(linked) > 12  # of both micro-batches
