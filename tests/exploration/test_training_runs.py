"""Both nets of a scenario trained in workers: what is recorded goes by one set of names and layouts."""

from pathlib import Path

import numpy as np
import pytest

from explorer.exploration.recordings import checked_engines, drift, trained
from explorer.model.errors import UsageError
from explorer.model.training import Training
from explorer.numeric.random_arrays import moved_by_rounding
from explorer.recording.checks import faults
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.workers.workers import Workers
from tests.support.recorded_files import values

NETS = Path(__file__).parents[1] / "nets"
STEPS = 9


def train(name: str, steps: int, workers: Workers) -> dict[str, Training]:
    scenario = read(find(name))
    return trained(scenario, workers, checked_engines((), scenario), steps)


@pytest.fixture(scope="module")
def both(workers: Workers) -> dict[str, Training]:
    return train(str(NETS / "trained_with_everything.py"), STEPS, workers)


@pytest.mark.torch
@pytest.mark.mindspore
def test_both_record_the_same_steps_by_the_same_names(both: dict[str, Training]) -> None:
    assert list(both) == ["mindspore-tape", "torch-tape"]
    for training in both.values():
        assert training.missing == ()
        assert list(faults(training)) == []
        assert [step.number for step in training.steps] == list(range(1, STEPS + 1))
    mindspore, torch = both.values()
    trained_names = {start.name for start in torch.start if start.trained}
    assert {start.name for start in mindspore.start if start.trained} == trained_names
    for left, right in zip(mindspore.steps, torch.steps, strict=True):
        for part in ("gradients", "given", "weights"):
            names = {leaf.name for leaf in getattr(left, part)}
            assert {leaf.name for leaf in getattr(right, part)} == names
            assert names in (trained_names, set())
        assert [batch.data for batch in left.batches] == [batch.data for batch in right.batches]


@pytest.mark.torch
@pytest.mark.mindspore
def test_scale_clipping_schedule_and_skipped_steps_are_alike(both: dict[str, Training]) -> None:
    mindspore, torch = both.values()
    skipped = [step.number for step in torch.steps if step.skipped]
    assert skipped
    assert len(skipped) < STEPS
    for left, right in zip(mindspore.steps, torch.steps, strict=True):
        assert (left.skipped, left.scale) == (right.skipped, right.scale)
        assert [group.settings["lr"] for group in left.groups] == pytest.approx(
            [group.settings["lr"] for group in right.groups]
        )
        for batch, other in zip(left.batches, right.batches, strict=True):
            assert batch.loss == pytest.approx(other.loss, rel=1e-5)
        if not left.skipped:
            assert left.norm == pytest.approx(right.norm, rel=1e-5)
            norm = sum(float((given**2).sum()) for given in values(left.given).values())
            assert norm == pytest.approx(0.25, rel=1e-4)


@pytest.mark.torch
@pytest.mark.mindspore
def test_state_goes_by_pytorch_s_names_and_has_its_values(both: dict[str, Training]) -> None:
    mindspore, torch = (training.steps[-1] for training in both.values())
    left, right = values(mindspore.state), values(torch.state)
    assert set(left) == set(right)
    assert {name.rpartition(".")[2] for name in left} == {"exp_avg", "exp_avg_sq", "step"}
    for name in ("last.weight.exp_avg", "last.weight.exp_avg_sq", "last.weight.step"):
        np.testing.assert_allclose(left[name], right[name], rtol=1e-2, atol=1e-6)
    assert mindspore.groups[0].settings["betas"] == torch.groups[0].settings["betas"]
    assert mindspore.groups[0].settings["eps"] == torch.groups[0].settings["eps"]


@pytest.mark.torch
@pytest.mark.mindspore
def test_runs_from_a_start_that_rounding_moved_say_how_far_they_went(
    both: dict[str, Training],
) -> None:
    for training in both.values():
        assert len(training.jittered) == 2
        for drifted in training.jittered:
            assert len(drifted.losses) == STEPS
            assert 0 < max(drifted.losses) < 1e-3
            # Its gradient is zero but for rounding, which Adam makes as large as any other.
            assert drifted.weights["first.bias"][-1] > drifted.weights["last.weight"][-1]


@pytest.mark.whole
@pytest.mark.torch
@pytest.mark.mindspore
def test_without_an_optimizer_both_descend_on_the_inputs(workers: Workers) -> None:
    mindspore, torch = train("conv_bn_relu_pool", 2, workers).values()
    assert (mindspore.optimizer, torch.optimizer) == (
        "mindspore.nn.optim.sgd.SGD",
        "torch.optim.sgd.SGD",
    )
    for training in (mindspore, torch):
        assert training.steps[0].groups[0].settings["lr"] == 0.01
        names = {leaf.name for leaf in training.steps[0].buffers}
        assert {"bn.running_mean", "bn.running_var"} <= names
    for left, right in zip(mindspore.steps, torch.steps, strict=True):
        weights = values(right.weights)
        for name, weight in values(left.weights).items():
            np.testing.assert_allclose(weight, weights[name], rtol=1e-4, atol=1e-6)


def test_an_engine_that_does_not_train_is_refused() -> None:
    scenario = read(find("dense_mse"))
    with pytest.raises(UsageError, match="mindspore-tape"):
        checked_engines(("torch-graph",), scenario)


def test_every_weight_but_zero_is_moved_to_a_neighbour_alike_each_time() -> None:
    array = np.array([0.0, 0.5, -1.0, 3e-5], np.float32)
    moved = moved_by_rounding(array, "fc.weight", 1)
    assert moved[0] == 0
    assert (np.abs(moved[1:] - array[1:]) <= np.spacing(np.abs(array[1:]))).all()
    assert (moved[1:] != array[1:]).all()
    np.testing.assert_array_equal(moved, moved_by_rounding(array, "fc.weight", 1))
    assert (moved_by_rounding(np.arange(3), "n", 1) == np.arange(3)).all()


def test_a_run_is_no_way_off_itself() -> None:
    from tests.recording.test_training_files import training

    same = drift(training(), training())
    assert (same.losses, same.weights) == ((0.0, 0.0), {"fc.weight": (0.0, 0.0)})
