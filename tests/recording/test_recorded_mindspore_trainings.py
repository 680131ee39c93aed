"""Trainings of MindSpore that are recorded where they run: the same bits, and what is recorded."""

import json
import math
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.training import Training
from tests.recording.test_recorded_trainings import Recordings, values
from tests.support.command_line import ROOT, environment

pytestmark = pytest.mark.mindspore

PROGRAM = ROOT / "tests" / "nets" / "recorded_mindspore_trainings.py"
NAMES = ("plain", "one_step_cell", "auxiliary", "micro_batches", "loss_scaling", "hooks")
WEIGHTS = {
    f"{layer}.{part}"
    for layer in ("first", "block.norm", "block.middle", "last")
    for part in ("weight", "bias")
}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    folder = tmp_path_factory.mktemp("trainings")
    command = [sys.executable, str(PROGRAM), str(folder)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return Recordings(json.loads(done.stdout.splitlines()[-1]), folder)


def whole(training: Training) -> Training:
    assert training.missing == ()
    assert len(training.steps) == 6
    return training


@pytest.mark.parametrize("name", NAMES)
def test_losses_and_weights_are_the_same_bits_with_and_without(
    recordings: Recordings, name: str
) -> None:
    without, recorded = recordings.computed["programs"][name]
    assert recorded == without


def test_nothing_is_imported_beside_and_nothing_is_left_in_mindspore(
    recordings: Recordings,
) -> None:
    assert recordings.computed["foreign"] == []
    before, after = recordings.computed["left_behind"]
    assert after == before


@pytest.mark.parametrize("name", NAMES)
def test_each_step_goes_by_pytorch_s_names(recordings: Recordings, name: str) -> None:
    training = whole(recordings.training(name))
    for step in training.steps:
        for leaves in (step.weights, step.gradients, step.given):
            assert {leaf.name for leaf in leaves} == WEIGHTS
        assert {leaf.name for leaf in step.buffers} == {
            "block.norm.running_mean",
            "block.norm.running_var",
        }


@pytest.mark.parametrize("name", ["plain", "one_step_cell", "auxiliary", "loss_scaling"])
def test_losses_and_data_are_those_of_the_program(recordings: Recordings, name: str) -> None:
    training = whole(recordings.training(name))
    assert [step.loss for step in training.steps] == recordings.computed["programs"][name][0][0]
    for step in training.steps:
        (batch,) = step.batches
        shapes = {leaf.name: leaf.value.shape for leaf in batch.data}
        assert shapes == {"x": (8, 6), "labels": (8,)}


def test_passes_clipping_and_scale_are_recorded(recordings: Recordings) -> None:
    step = whole(recordings.training("micro_batches")).steps[0]
    one, other = (values(batch.gradients) for batch in step.batches)
    gradients, given = values(step.gradients), values(step.given)
    norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))
    assert step.norm == pytest.approx(norm, rel=1e-5)
    for name, gradient in gradients.items():
        np.testing.assert_array_equal(one[name] + other[name], gradient)
        np.testing.assert_allclose(given[name], gradient * 0.1 / norm, rtol=1e-4, atol=1e-8)
    scaled = whole(recordings.training("loss_scaling")).steps[0]
    assert scaled.scale == 256
    given = values(scaled.given)
    for name, gradient in values(scaled.gradients).items():
        np.testing.assert_array_equal(gradient / 256, given[name])


def test_steps_that_are_due_have_their_graphs_and_all_else_is_the_same(
    recordings: Recordings,
) -> None:
    plain = recordings.computed["programs"]["micro_batches"][0]
    assert recordings.computed["with_graphs"] == plain
    training, without = recordings.training("graphs"), recordings.training("micro_batches")
    graphs = {step.number: step.graph for step in training.steps if step.graph is not None}
    assert list(graphs) == [3, 6]
    for graph in graphs.values():
        assert lint(graph) == []
    bare = [msgspec.structs.replace(step, graph=None) for step in training.steps]
    assert bare == list(without.steps)


def test_the_state_leads_to_the_next_weights(recordings: Recordings) -> None:
    first, second = whole(recordings.training("one_step_cell")).steps[:2]
    assert second.groups[0].settings["momentum"] == 0.9
    before, given = values(first.weights), values(second.given)
    momentum = values(first.state)["first.weight.momentum_buffer"]
    expected = 0.9 * momentum + given["first.weight"]
    state = values(second.state)["first.weight.momentum_buffer"]
    np.testing.assert_allclose(state, expected, rtol=1e-5, atol=1e-8)
    after = before["first.weight"] - 0.05 * expected
    np.testing.assert_allclose(values(second.weights)["first.weight"], after, rtol=1e-5, atol=1e-7)
