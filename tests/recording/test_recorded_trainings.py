"""Trainings that are recorded where they run: the same bits, and what is recorded of each step."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import AnyArray, unpack
from explorer.model.results import Leaf
from explorer.model.training import Training
from explorer.recording.files import read_training
from tests.recording.test_recorded_steps import WEIGHTS
from tests.support.command_line import ROOT, environment

pytestmark = pytest.mark.torch

PROGRAM = ROOT / "tests" / "nets" / "recorded_trainings.py"
PROGRAMS = (
    "plain",
    "micro_batches",
    "mixed_precision",
    "scheduled_and_averaged",
    "sgd_in_groups",
)


class Recordings(NamedTuple):
    computed: dict[str, Any]
    folder: Path

    def training(self, name: str) -> Training:
        return read_training(self.folder / f"{name}.training")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    folder = tmp_path_factory.mktemp("trainings")
    return Recordings(printed_by(PROGRAM, folder), folder)


def printed_by(program: Path, folder: Path) -> Any:
    """What a program prints as JSON."""
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def values(leaves: tuple[Leaf, ...]) -> dict[str, AnyArray]:
    return {leaf.name: unpack(leaf.value) for leaf in leaves}


# What the program computes


def test_every_program_is_run(recordings: Recordings) -> None:
    assert tuple(recordings.computed["programs"]) == PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_weights_and_random_numbers_are_the_same_bits_with_and_without(
    recordings: Recordings, name: str
) -> None:
    without, recorded = recordings.computed["programs"][name]
    assert recorded == without


def test_nothing_but_numpy_and_msgspec_is_needed_and_nothing_is_left_in_pytorch(
    recordings: Recordings,
) -> None:
    assert recordings.computed["foreign"] == []
    before, after = recordings.computed["left_behind"]
    assert after == before


def test_what_is_compiled_is_compiled_once_and_computes_the_same(tmp_path: Path) -> None:
    computed = printed_by(ROOT / "tests" / "nets" / "recorded_compiled.py", tmp_path)
    for without, recorded in computed.values():
        assert recorded == without
        assert recorded[1] == 1


# What does not work is said, and does not stop the training


def test_a_fault_of_the_recorder_is_a_warning_and_the_steps_before_are_kept(
    recordings: Recordings,
) -> None:
    computed, warned = recordings.computed["failing"]
    assert computed == recordings.computed["programs"]["micro_batches"][0]
    assert warned == ["RecordingWarning"]
    training = recordings.training("failing/micro_batches")
    assert [step.number for step in training.steps] == [1, 2]
    assert [missing.kind for missing in training.missing] == ["fault"]


def test_no_step_is_recorded_once_the_steps_need_more_memory(recordings: Recordings) -> None:
    assert recordings.computed["full"] == recordings.computed["programs"]["micro_batches"][0]
    training = recordings.training("full")
    assert 1 <= len(training.steps) < 8
    assert [missing.kind for missing in training.missing] == ["full"]


def test_a_step_that_raises_is_left_out_and_the_file_has_those_before(
    recordings: Recordings,
) -> None:
    assert recordings.computed["raises"] == "RuntimeError"
    training = recordings.training("raises")
    assert [step.number for step in training.steps] == [1, 2]
    assert [missing.kind for missing in training.missing] == ["raised"]


def test_a_program_that_is_killed_leaves_whole_steps(recordings: Recordings) -> None:
    assert 1 <= len(recordings.training("killed").steps) < 10


def test_the_file_of_a_folder_is_written_when_the_program_ends(recordings: Recordings) -> None:
    assert len(recordings.training("run").steps) == 3


# What is recorded


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_step_has_every_weight_before_and_after_and_both_gradients(
    recordings: Recordings, name: str
) -> None:
    training = recordings.training(name)
    assert training.missing == ()
    assert {start.name for start in training.start} == {"mean", *WEIGHTS}
    for step in training.steps:
        assert {leaf.name for leaf in step.weights} == set(WEIGHTS)
        assert {leaf.name for leaf in step.gradients} == set(WEIGHTS)
        assert {leaf.name for leaf in step.given} == (set() if step.skipped else set(WEIGHTS))
        assert [leaf.name for leaf in step.buffers] == ["mean"]


def test_the_losses_are_those_that_the_program_saw(recordings: Recordings) -> None:
    for name in ("plain", "mixed_precision"):
        losses = recordings.computed["programs"][name][0][0]
        recorded = [step.batches[0].loss for step in recordings.training(name).steps]
        assert recorded == losses
    for step, loss in zip(
        recordings.training("micro_batches").steps,
        recordings.computed["programs"]["micro_batches"][0][0],
        strict=True,
    ):
        halves = [batch.loss for batch in step.batches if batch.loss is not None]
        assert len(halves) == 2
        assert sum(halves) * 2 == pytest.approx(loss, rel=1e-6)


def test_data_are_the_inputs_and_targets_and_nothing_that_was_computed(
    recordings: Recordings,
) -> None:
    (batch,) = recordings.training("mixed_precision").steps[0].batches
    assert [leaf.name for leaf in batch.data] == ["x", "target"]
    one, other = recordings.training("micro_batches").steps[0].batches
    assert values(one.data)["x"].shape == (4, 6)
    assert (values(one.data)["x"] != values(other.data)["x"]).all()


def test_each_of_several_passes_has_the_gradients_that_it_added(recordings: Recordings) -> None:
    step = recordings.training("micro_batches").steps[3]
    one, other = (values(batch.gradients) for batch in step.batches)
    for name, gradient in values(step.gradients).items():
        np.testing.assert_allclose(one[name] + other[name], gradient, rtol=1e-4, atol=1e-6)
        assert not np.allclose(one[name], other[name])
    (batch,) = recordings.training("plain").steps[0].batches
    assert batch.gradients == ()


def test_steps_that_are_due_have_their_graphs_and_all_else_is_the_same(
    recordings: Recordings,
) -> None:
    plain = recordings.computed["programs"]["micro_batches"][0]
    assert recordings.computed["with_graphs"] == plain
    training, without = recordings.training("graphs"), recordings.training("micro_batches")
    graphs = {step.number: step.graph for step in training.steps if step.graph is not None}
    assert list(graphs) == [1, 4, 8]
    for graph in graphs.values():
        assert lint(graph) == []
        ops = [node.op for node in graph.nodes]
        assert "aten._foreach_norm.Scalar" in ops
        assert "aten.clone.default" not in ops  # of what the recorder computes, nothing is seen
    bare = [msgspec.structs.replace(step, graph=None) for step in training.steps]
    assert bare == list(without.steps)


def test_clipping_has_its_norm_and_the_gradients_before_and_after_it(
    recordings: Recordings,
) -> None:
    step = recordings.training("micro_batches").steps[0]
    gradients, given = values(step.gradients), values(step.given)
    norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))
    assert step.norm == pytest.approx(norm, rel=1e-5)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(given[name], gradient * 0.1 / norm, rtol=1e-4)


def test_a_scaler_has_its_scale_and_a_step_that_it_skips(recordings: Recordings) -> None:
    steps = recordings.training("mixed_precision").steps
    skipped = [step for step in steps if step.skipped]
    assert len(skipped) == 1
    number = skipped[0].number
    assert [step.scale for step in steps] == [256.0] * number + [128.0] * (12 - number)
    before, after = steps[number - 2], skipped[0]
    assert after.weights == before.weights
    assert after.state == before.state
    gradients, given = values(steps[0].gradients), values(steps[0].given)
    factors = {name: gradients[name] / given[name] for name in gradients}
    assert steps[0].norm is not None
    for factor in factors.values():
        np.testing.assert_allclose(factor[np.isfinite(factor)], 256 * steps[0].norm, rtol=1e-3)


def test_settings_are_those_of_the_update_and_averages_those_after_it(
    recordings: Recordings,
) -> None:
    steps = recordings.training("scheduled_and_averaged").steps
    assert [step.groups[0].settings["lr"] for step in steps[:4]] == [0.01, 0.01, 0.005, 0.005]
    assert steps[0].groups[0].settings["betas"] == (0.9, 0.999)
    before, step = steps[1], steps[2]
    averages, weights = values(before.averages), values(step.weights)
    for name, average in values(step.averages).items():
        expected = 0.9 * averages[name] + 0.1 * weights[name]
        np.testing.assert_allclose(average, expected, rtol=1e-5, atol=1e-7)


def test_groups_have_their_own_parameters_and_the_state_leads_to_the_next_weights(
    recordings: Recordings,
) -> None:
    first, second = recordings.training("sgd_in_groups").steps[:2]
    decayed, others = second.groups
    assert "first.weight" in decayed.names
    assert "first.bias" in others.names
    assert (decayed.settings["weight_decay"], others.settings["weight_decay"]) == (0.1, 0)
    before, given = values(first.weights), values(second.given)
    state = values(second.state)
    momentum = values(first.state)["first.weight.momentum_buffer"]
    expected = 0.9 * momentum + given["first.weight"] + 0.1 * before["first.weight"]
    np.testing.assert_allclose(state["first.weight.momentum_buffer"], expected, rtol=1e-5)
    after = before["first.weight"] - 0.1 * expected
    np.testing.assert_allclose(values(second.weights)["first.weight"], after, rtol=1e-5, atol=1e-7)
