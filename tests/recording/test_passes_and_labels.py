"""What a recorded pass was given, where no module says it, and gradients that a program adds up by itself."""

from pathlib import Path

import pytest

from explorer.compare.training.comparison import compare
from explorer.model.engines import Framework
from explorer.model.training import Training
from explorer.recording.files import read_training
from tests.support.command_line import python

PROGRAMS: dict[Framework, str] = {
    "torch": """
import sys, numpy as np, torch
from torch import nn
import explorer

torch.manual_seed(0)
net = nn.Sequential(nn.Sequential(nn.Linear(3, 8), nn.Tanh()), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
draws = np.random.default_rng(0)
model = {"inner": net[0]} if "part" in sys.argv else None
recorder = explorer.recorder(training=True, out="torch.training", model=model)
for _ in range(2):
    total = [torch.zeros_like(one) for one in net.parameters()]
    with recorder.step():
        for _ in range(2):
            x = torch.from_numpy(draws.normal(size=(4, 3)).astype(np.float32))
            y = torch.from_numpy(draws.integers(0, 2, 4))
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            if "part" in sys.argv:
                loss = nn.functional.mse_loss(net(x), net(x).detach()) + loss
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.1)
            total = [one + weight.grad for one, weight in zip(total, net.parameters())]
        for one, weight in zip(total, net.parameters()):
            weight.grad.copy_(one)
        optimizer.step()
""",
    "mindspore": """
import sys, numpy as np, mindspore as ms
from mindspore import nn, ops
import explorer

net = nn.SequentialCell(nn.SequentialCell(nn.Dense(3, 8), nn.Tanh()), nn.Dense(8, 2))
ms.load_param_into_net(net, explorer.start("torch.training", net))
optimizer = nn.SGD(net.trainable_params(), 0.1)
draws = np.random.default_rng(0)
gradient = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)
recorder = explorer.recorder(training=True, out="mindspore.training")
for _ in range(2):
    total = [ops.zeros_like(one) for one in optimizer.parameters]
    with recorder.step():
        for _ in range(2):
            x = ms.Tensor(draws.normal(size=(4, 3)).astype(np.float32))
            y = ms.Tensor((draws.integers(0, 2, 4) + (1 if "labels" in sys.argv else 0)) % 2, ms.int32)
            _loss, gradients = gradient(x, y)
            gradients = ops.clip_by_global_norm(gradients, 0.1)
            total = [one + other for one, other in zip(total, gradients)]
        optimizer(tuple(total))
""",
}
"""Programs that clip the gradients of each pass, and add them up by themselves."""


def recorded(folder: Path, framework: Framework, *arguments: str) -> Training:
    python("-c", PROGRAMS[framework], *arguments, cwd=folder)
    training = read_training(folder / f"{framework}.training")
    assert training.missing == ()
    return training


@pytest.mark.torch
def test_a_part_that_is_named_is_recorded_once_and_targets_of_functions_are_data(
    tmp_path: Path,
) -> None:
    training = recorded(tmp_path, "torch", "part")
    names = ["inner.0.weight", "inner.0.bias", "1.weight", "1.bias"]
    assert [one.name for one in training.start] == names
    for step in training.steps:
        assert [one.name for one in step.weights] == names
        for batch in step.batches:
            assert [leaf.name for leaf in batch.data] == ["input", "target"]
            # The other loss has what the net returned for its target.
            assert [leaf.value.dtype for leaf in batch.data] == ["float32", "int64"]


@pytest.mark.torch
@pytest.mark.mindspore
@pytest.mark.whole
def test_gradients_that_are_clipped_in_each_pass_are_no_data_and_other_labels_are_named(
    tmp_path: Path,
) -> None:
    sides = recorded(tmp_path, "torch"), recorded(tmp_path, "mindspore")
    assert compare(*sides).difference is None
    other = recorded(tmp_path, "mindspore", "labels")
    difference = compare(sides[0], other).difference
    assert difference is not None
    assert (difference.step, difference.question) == (1, "data")
    assert difference.names == ("target",)
