"""What losses that are written out have read of plain tensors, as the tape of PyTorch holds it."""

from pathlib import Path

import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.arrays import AnyArray, unpack
from explorer.model.training import Training
from explorer.model.training_comparison import TrainingComparison
from explorer.recording.files import read_training
from tests.support.command_line import python

pytestmark = pytest.mark.torch

IN_TORCH = """
import functools, numpy as np, torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
import explorer

torch.set_num_threads(1)

def square(out, y):
    return ((out - y) ** 2).mean()

LOSSES = {
    "square": square,
    "turned": lambda out, y: (y - out).abs().sum(),
    "squeezed": lambda out, y: (out.flatten().view(16, 2, 1).squeeze(-1) - y).square().mean(),
    "shifted": lambda out, y: (out + y).pow(2).mean() * 1.5 + 1.0,
    "likelihood": lambda out, y: -(out.log_softmax(1) * y).sum(1).mean() / 2,
    "gathered": lambda out, y: -out.log_softmax(1).gather(1, (y[:, :1] > 0).long()).mean(),
    "function": lambda out, y: F.mse_loss(out, y),
    "numbers": lambda out, y: ((out - 1.0) ** 2 + 0.5 * out).mean(),
    "lost": lambda out, y: (out - y).sum(),
    "vector": lambda out, y: (out - y) * 0.5,
    "far": lambda out, y: (out - 1e-4 * y).square().mean(),
    "checkpointed": lambda out, y: checkpoint(square, out, y, use_reentrant=False),
    "long": lambda out, y: functools.reduce(lambda it, _: it.sin(), range(300), out * y).sum(),
}

def train(name, loss, other=False, recorded=True):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    recorder = explorer.recorder(training=True, out=f"{name}.training")
    draws = np.random.default_rng(0)
    for number in (1, 2, 3):
        x, y = (torch.from_numpy(draws.normal(size=(16, n)).astype(np.float32)) for n in (3, 2))
        if other and number == 2:
            y[3] *= -1
        with recorder.step():
            optimizer.zero_grad()
            found = loss(net(x), y)
            found.backward(torch.ones_like(found))
            optimizer.step()
    recorder.write()

for name, loss in LOSSES.items():
    train(name, loss)
    train(f"other_{name}", loss, other=True)
"""

IN_MINDSPORE = """
import numpy as np, mindspore as ms
from mindspore import nn
import explorer

def train(name, other=False):
    net = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 2))
    ms.load_param_into_net(net, explorer.start("square.training", net))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x, y: ((net(x) - y) ** 2).mean(), None, optimizer.parameters)
    recorder = explorer.recorder(training=True, out=f"{name}.training")
    draws = np.random.default_rng(0)
    for number in (1, 2, 3):
        x, y = (draws.normal(size=(16, n)).astype(np.float32) for n in (3, 2))
        if other and number == 2:
            y[3] *= -1
        with recorder.step():
            _loss, gradients = gradient(ms.Tensor(x), ms.Tensor(y))
            optimizer(gradients)
    recorder.write()

train("ms")
train("other_ms", True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("losses")
    python("-c", IN_TORCH, cwd=made)
    return made


def training(folder: Path, name: str) -> Training:
    found = read_training(folder / f"{name}.training")
    assert found.missing == ()
    return found


def compared(folder: Path, one: str, other: str) -> TrainingComparison:
    return compare(training(folder, one), training(folder, other))


def data_of(comparison: TrainingComparison) -> str:
    return {answer.question: answer.status for answer in comparison.answers}["data"]


def labels() -> list[AnyArray]:
    """Those of each step, as the programs draw them."""
    draws = np.random.default_rng(0)
    drawn = [[draws.normal(size=(16, n)).astype(np.float32) for n in (3, 2)] for _step in range(3)]
    return [y for _x, y in drawn]


READ = {
    "square": ["sub"],
    "turned": ["sub"],
    "squeezed": ["sub"],
    "shifted": ["add"],
    "likelihood": ["mul"],
}
"""Losses whose labels are read by an operator as they are, and its name."""


@pytest.mark.parametrize("name", READ)
def test_labels_that_an_operator_reads_are_recorded(name: str, folder: Path) -> None:
    for step, expected in zip(training(folder, name).steps, labels(), strict=True):
        (batch,) = step.batches
        assert [leaf.name for leaf in batch.read] == READ[name]
        assert not batch.has_read_more
        np.testing.assert_allclose(unpack(batch.read[0].value), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [*READ, "gathered", "function"])
def test_other_labels_are_other_data(name: str, folder: Path) -> None:
    assert data_of(compared(folder, name, name)) == "same"
    found = compared(folder, name, f"other_{name}").difference
    assert found is not None
    assert (found.step, found.question) == (2, "data")


@pytest.mark.parametrize("name", ["lost", "vector", "far", "checkpointed", "long"])
def test_labels_that_cannot_be_read_from_the_tape_are_not_said_to_be_the_same(
    name: str, folder: Path
) -> None:
    (batch,) = training(folder, name).steps[0].batches
    assert batch.has_read_more
    assert data_of(compared(folder, name, name)) == "in_part"


def test_numbers_of_a_loss_are_no_data(folder: Path) -> None:
    (batch,) = training(folder, "numbers").steps[0].batches
    assert batch.read == ()


@pytest.mark.mindspore
@pytest.mark.whole
def test_labels_of_a_written_out_loss_are_those_that_mindspore_is_given(folder: Path) -> None:
    python("-c", IN_MINDSPORE, cwd=folder)
    assert data_of(compared(folder, "square", "ms")) == "same"
    comparison = compared(folder, "square", "other_ms")
    assert data_of(comparison) == "in_part"
    assert comparison.difference is not None
    assert (comparison.difference.question, comparison.difference.step) == ("loss", 2)
