"""Gradients that are 0 but for rounding, of biases before a batch norm, and others that are wrong."""

from pathlib import Path

import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Leaf
from explorer.model.training import Training, TrainingStep
from explorer.model.training_comparison import TrainingDifference
from explorer.recording.files import read_training
from tests.support.command_line import python
from tests.support.narrowing import present

DRAWS = np.random.default_rng(0)
CHANNELS = 8
WEIGHT = 4e-4 * DRAWS.normal(size=(CHANNELS, 27))
HEAD = 0.05 * DRAWS.normal(size=(3, CHANNELS))
ROUNDED = 2e-6 * DRAWS.normal(size=(CHANNELS, 27))
LEFT, RIGHT = 1e-6 * DRAWS.normal(size=CHANNELS), 1e-9 * DRAWS.normal(size=CHANNELS)


def leaf(name: str, array: AnyArray) -> Leaf:
    return Leaf(name, pack(array.astype(np.float32)))


def training(weight: AnyArray, bias: AnyArray, *, has_norm: bool = True) -> Training:
    gradients = (leaf("0.weight", weight), leaf("0.bias", bias), leaf("3.weight", HEAD))
    buffers = (leaf("1.running_mean", np.zeros(CHANNELS)),) if has_norm else ()
    step = TrainingStep(number=1, gradients=gradients, weights=gradients, buffers=buffers)
    return Training(name="run", framework="torch", engine="torch-tape", steps=(step,))


def difference(left: Training, right: Training) -> TrainingDifference | None:
    found = [compare(*sides).difference for sides in ((left, right), (right, left))]
    assert (found[0] is None) == (found[1] is None)
    return found[0]


def test_what_rounding_leaves_of_a_bias_is_the_noise_of_its_weight_too() -> None:
    assert difference(training(WEIGHT, LEFT), training(WEIGHT + ROUNDED, RIGHT)) is None


@pytest.mark.parametrize(
    ("left", "right", "names"),
    [
        # No batch norm takes its mean away.
        (
            training(WEIGHT, LEFT, has_norm=False),
            training(WEIGHT + ROUNDED, RIGHT, has_norm=False),
            {"0.weight", "0.bias"},
        ),
        # It is no noise where both sides have it.
        (training(WEIGHT, LEFT), training(WEIGHT + ROUNDED, LEFT), {"0.weight"}),
        # Nor where it is as large as others are.
        (training(WEIGHT, 100 * LEFT), training(WEIGHT, 0 * LEFT), {"0.bias"}),
        # A mistake in the weight is larger than what rounding leaves.
        (training(WEIGHT, LEFT), training(1.05 * WEIGHT + ROUNDED, RIGHT), {"0.weight"}),
    ],
)
def test_a_mistake_does_not_pass_for_what_rounding_leaves(
    left: Training, right: Training, names: set[str]
) -> None:
    found = present(difference(left, right))
    assert found.question == "gradients"
    assert set(found.names) == names


PROGRAM = """
import numpy as np, torch
from torch import nn
import explorer

torch.set_num_threads(1)

def train(name, is_fused, factor=1.0):
    torch.manual_seed(0)
    draws = np.random.default_rng(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3),
    )
    net[0].weight.register_hook(lambda gradient: gradient * factor)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    recorder = explorer.recorder(training=True, out=f"{name}.training")
    x = torch.from_numpy(draws.normal(size=(32, 3, 64, 64)).astype(np.float32) + 2)
    with torch.backends.mkldnn.flags(enabled=is_fused), recorder.step():
        nn.CrossEntropyLoss()(net(x), torch.from_numpy(draws.integers(0, 3, 32))).backward()
        optimizer.step()
    recorder.write()

train("one", True)
train("other", False)
train("wrong", False, 1.1)
"""
"""A net whose convolutions two libraries compute, of inputs that are far from 0."""


@pytest.mark.torch
def test_two_ways_to_compute_a_convolution_do_not_differ(tmp_path: Path) -> None:
    python("-c", PROGRAM, cwd=tmp_path)
    one, other, wrong = (
        read_training(tmp_path / f"{name}.training") for name in ("one", "other", "wrong")
    )
    assert difference(one, other) is None
    found = present(difference(one, wrong))
    assert (found.question, found.names) == ("gradients", ("0.weight",))
