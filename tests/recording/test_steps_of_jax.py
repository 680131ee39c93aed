"""Steps of JAX's programs that are recorded: what is particular to JAX, and PyTorch's step beside."""

from pathlib import Path

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.recordings import report_on
from explorer.model.arrays import unpack
from explorer.workers.workers import Workers
from tests.recording.conftest import SHAPES, Recorded
from tests.recording.test_steps import graph_of, trace_of
from tests.support.recorded_files import loaded_trace

pytestmark = pytest.mark.jax


def test_a_program_may_differentiate_numbers_and_loop_and_print(steps: Recorded) -> None:
    without, with_recorder = steps("jax").computed["odd"]
    assert with_recorder == without
    trace = steps("jax").trace("odd")
    assert trace.missing == ()
    assert lint(graph_of(trace)) == []
    scopes = {node.scope for node in graph_of(trace).nodes}
    assert {"scan[0]", "scan[1]", "scan[2]"} <= scopes
    assert steps("jax").computed["printed"] == 2  # once without a recorder, and once with one


def test_what_a_step_has_computed_is_not_compiled_again_to_be_recorded(steps: Recorded) -> None:
    compiled = steps("jax").computed["compiled_to_record"]
    assert compiled["calls"] == 0
    of_six, of_twelve = compiled["loops"]
    assert of_six == of_twelve


def test_gradients_that_are_mapped_over_examples_are_not_seen_and_that_is_said(
    steps: Recorded,
) -> None:
    assert steps("jax").computed["mapped"][1] == ["RecordingWarning"]
    trace = steps("jax").trace("mapped")
    assert [missing.kind for missing in trace.missing] == ["no_pass"]
    assert graph_of(trace).nodes


@pytest.mark.parametrize("name", ["eager", "compiled"])
def test_names_roles_and_layouts_are_those_of_pytorch(steps: Recorded, name: str) -> None:
    trace = trace_of(steps, "jax", name)
    roles = {start.name: start.role for start in trace.start}
    assert (roles["x"], roles["y"], roles["first.weight"]) == ("input", "input", "parameter")
    results = {leaf.name: leaf.value.shape for leaf in trace.results}
    assert {name: results[f"d{name}"] for name in SHAPES} == SHAPES
    changes = {change.name: change.after.shape for change in trace.state}
    assert {name: changes[name] for name in SHAPES} == SHAPES
    held = {node.name for node in graph_of(trace).nodes if node.kind == "output"}
    assert {"first.weight.exp_avg", "last.bias.exp_avg_sq"} <= held


def test_a_compiled_step_starts_from_the_state_of_its_optimizer(steps: Recorded) -> None:
    roles = {start.name: start.role for start in steps("jax").trace("compiled").start}
    assert roles["first.weight.exp_avg"] == "optimizer"
    roles = {start.name: start.role for start in steps("jax").trace("donated").start}
    assert roles["last.weight.momentum_buffer"] == "optimizer"


def test_running_statistics_of_a_module_are_buffers_that_change(steps: Recorded) -> None:
    trace = trace_of(steps, "jax", "module")
    roles = {start.name: start.role for start in trace.start}
    assert roles["norm.running_mean"] == "buffer"
    assert roles["first.weight.exp_avg"] == "optimizer"
    assert {"norm.running_mean", "norm.running_var"} <= {change.name for change in trace.state}


def test_the_values_of_a_start_that_a_compiled_call_overwrites_are_those_before(
    steps: Recorded, jax_weights: Path
) -> None:
    trace = steps("jax").trace("donated")
    (change,) = [change for change in trace.state if change.name == "first.weight"]
    (start,) = [start for start in trace.start if start.name == "first.weight"]
    assert np.array_equal(unpack(start.value).T, unpack(change.before))
    assert not np.array_equal(unpack(change.before), unpack(change.after))
    # The first of the two steps came before.
    assert not np.array_equal(unpack(change.before), np.load(jax_weights)["first.weight"])


def test_each_pass_of_a_step_has_its_loss_and_its_gradients(steps: Recorded) -> None:
    trace = trace_of(steps, "jax", "several_passes")
    losses = [leaf.name for leaf in trace.results if not leaf.value.shape]
    assert losses == ["loss", "loss_2"]
    trained = [start.name for start in trace.start if start.trained]
    assert sorted(trained) == ["bias", "generator.bias", "generator.weight", "weight"]


def test_ops_have_lines_and_backward_derives_from_forward(steps: Recorded) -> None:
    for name in ("eager", "compiled"):
        nodes = graph_of(steps("jax").trace(name)).nodes
        (first, *_) = [node for node in nodes if node.op == "dot_general"]
        assert first.source[0].startswith("recorded_jax_steps.py:")
        products = [n for n in nodes if n.op == "dot_general" and n.phase == "backward"]
        assert len(products) == 3
        assert all(node.forward is not None for node in products)
        kinds = {node.missing["forward"].kind for node in nodes if "forward" in node.missing}
        assert "outside_pass" in kinds  # the update


def test_a_step_that_ran_compiled_says_that_its_values_were_computed_op_by_op(
    steps: Recorded,
) -> None:
    compiled, eager = (
        graph_of(steps("jax").trace("compiled")),
        graph_of(steps("jax").trace("eager")),
    )
    assert (compiled.engine, compiled.notes) == ("jax-graph", ("op_by_op",))
    assert (eager.engine, eager.notes) == ("jax-tape", ())


@pytest.mark.torch
@pytest.mark.parametrize("name", ["eager", "compiled"])
def test_the_same_step_of_pytorch_has_no_divergence_up_to_the_updated_weights(
    steps: Recorded, beside_jax: Path, name: str
) -> None:
    beside = loaded_trace(beside_jax / "adam.trace")
    alignment = beside.diff(loaded_trace(steps("jax").folder / f"{name}.trace")).alignment
    assert (alignment.divergence, alignment.differing) == (None, ())


def test_a_step_is_the_same_whether_it_is_compiled_or_not(steps: Recorded) -> None:
    eager, compiled = (
        loaded_trace(steps("jax").folder / f"{name}.trace") for name in ("eager", "compiled")
    )
    alignment = eager.diff(compiled).alignment
    assert (alignment.divergence, alignment.differing) == (None, ())


def test_operations_of_a_record_are_computed_again_with_other_arguments(
    steps: Recorded, workers: Workers
) -> None:
    traces = {name: steps("jax").trace(name) for name in ("plain_norm", "large_epsilon")}
    (alignment,) = report_on(traces, workers).alignments
    assert alignment.untried == ""
    cause = alignment.seen[0].cause
    assert cause is not None
    assert cause.proven == "computed_again"
    assert cause.form == "arguments"
    assert dict(cause.arguments) == {"y": pytest.approx(0.01)}
