"""A state that a program carries from step to step is none of its data, and what resets it is named."""

from pathlib import Path

import pytest

from explorer.compare.training.comparison import compare
from explorer.model.engines import Framework
from explorer.recording.files import read_training
from tests.recording.conftest import marked
from tests.support.command_line import python

PROGRAMS: dict[Framework, str] = {
    "torch": """
import numpy as np, torch
from torch import nn
import explorer

def train(name, resets_at):
    torch.manual_seed(0)
    net = nn.LSTM(3, 4, batch_first=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    draws = np.random.default_rng(0)
    recorder = explorer.recorder(training=True, out=name, model=net)
    for step in range(1, 5):
        if step in (1, resets_at):
            state = torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)
        x = torch.from_numpy(draws.normal(size=(2, 5, 3)).astype(np.float32))
        with recorder.step():
            optimizer.zero_grad()
            y, state = net(x, state)
            (y**2).mean().backward()
            optimizer.step()
            state = tuple(one.detach() for one in state)
""",
    "mindspore": """
import numpy as np, mindspore as ms
from mindspore import nn, ops
import explorer

def train(name, resets_at):
    ms.set_seed(0)
    net = nn.LSTM(3, 4, batch_first=True)
    for weight in net.trainable_params():
        weight.set_data(ops.full_like(weight, 0.1))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    draws = np.random.default_rng(0)
    recorder = explorer.recorder(training=True, out=name, model=net)

    def loss_of(x, state):
        y, state = net(x, state)
        return (y**2).mean(), state

    gradient = ms.value_and_grad(loss_of, None, optimizer.parameters, has_aux=True)
    for step in range(1, 5):
        if step in (1, resets_at):
            state = ops.zeros((1, 2, 4)), ops.zeros((1, 2, 4))
        x = ms.Tensor(draws.normal(size=(2, 5, 3)).astype(np.float32))
        with recorder.step():
            (loss, state), gradients = gradient(x, state)
            optimizer(gradients)
            state = tuple(map(ops.stop_gradient, state))
""",
}

MAIN = 'train("carries.training", 0)\ntrain("resets.training", 3)\n'


@pytest.mark.parametrize(
    "framework",
    [*marked("torch"), pytest.param("mindspore", marks=[pytest.mark.mindspore, pytest.mark.whole])],
)
def test_a_state_is_carried_until_a_program_resets_it(framework: Framework, tmp_path: Path) -> None:
    python("-c", PROGRAMS[framework] + MAIN, cwd=tmp_path)
    carries, resets = (
        read_training(tmp_path / f"{name}.training") for name in ("carries", "resets")
    )
    counts = {}
    for training in (carries, resets):
        batches = [step.batches[0] for step in training.steps]
        counts[training.name] = [(len(one.data), len(one.carried)) for one in batches]
    assert counts["carries"] == [(3, 0), (1, 2), (1, 2), (1, 2)]
    assert counts["resets"] == [(3, 0), (1, 2), (3, 0), (1, 2)]
    difference = compare(carries, resets).difference
    assert difference is not None
    assert (difference.step, difference.reason, difference.side) == (3, "reset", "right")
    assert len(difference.names) == 2
