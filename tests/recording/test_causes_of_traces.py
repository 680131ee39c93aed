"""Why recorded steps part: their ops are computed again from what the traces have, in either framework."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.exploration.traces import report_on
from explorer.model.alignment import Alignment, Untried
from explorer.model.causes import OtherArguments
from explorer.model.errors import MissingFrameworkError
from explorer.model.failures import Loss
from explorer.recording.files import read_trace
from explorer.words.causes import attempts
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.command_line import ROOT

IN_TORCH = """
import sys
import numpy as np
import torch
from torch import nn
from torch.nn import functional
import explorer

WEIGHTS = np.random.RandomState(0)
ARRAYS = [WEIGHTS.randn(*shape).astype(np.float32) for shape in ((8, 6), (3, 8), (5, 6))]


class Net(nn.Module):
    def __init__(self, eps, approximate):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Linear(6, 8), nn.LayerNorm(8, eps), nn.Linear(8, 3)
        self.approximate = approximate
        with torch.no_grad():
            for layer, array in zip((self.fc1, self.fc2), ARRAYS):
                layer.weight.copy_(torch.from_numpy(array))
                layer.bias.fill_(1.0)

    def forward(self, x):
        hidden = functional.gelu(self.norm(self.fc1(x)), approximate=self.approximate)
        return (functional.softmax(self.fc2(hidden), -1) ** 2).sum()


def record(name, eps=1e-5, approximate="none", **limits):
    net = Net(eps, approximate)
    with explorer.record(f"{name}.trace", **limits):
        net(torch.from_numpy(ARRAYS[2])).backward()


record("plain")
record("eps", eps=1e-2)
record("tanh", approximate="tanh")
record("plain_in_figures", values=0, start=0)
record("eps_in_figures", eps=1e-2, values=0, start=0)
"""

IN_MINDSPORE = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops
import explorer

ms.set_context(mode=ms.PYNATIVE_MODE)
WEIGHTS = np.random.RandomState(0)
ARRAYS = [WEIGHTS.randn(*shape).astype(np.float32) for shape in ((8, 6), (3, 8), (5, 6))]


class Net(nn.Cell):
    def __init__(self, eps, axis):
        super().__init__()
        self.fc1 = nn.Dense(6, 8, weight_init=ms.Tensor(ARRAYS[0]), bias_init="ones")
        self.norm = nn.LayerNorm((8,), epsilon=eps)
        self.fc2 = nn.Dense(8, 3, weight_init=ms.Tensor(ARRAYS[1]), bias_init="ones")
        self.softmax = nn.Softmax(axis)

    def construct(self, x):
        hidden = ops.gelu(self.norm(self.fc1(x)))
        return (self.softmax(self.fc2(hidden)) ** 2).sum()


def record(name, eps=1e-5, axis=-1):
    net = Net(eps, axis)
    gradient = ms.value_and_grad(net, None, net.trainable_params())
    with explorer.record(f"{name}.trace"):
        gradient(ms.Tensor(ARRAYS[2]))


record("plain_cell")
record("eps_cell", eps=1e-2)
record("axis_cell", axis=0)
"""


def _recorded(folder: Path, program: str) -> Path:
    file = folder / "program.py"
    file.write_text(program)
    command = [sys.executable, "-W", "ignore", str(file)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "GLOG_v": "4"}
    subprocess.run(command, cwd=folder, env=variables, check=True)
    return folder


@pytest.fixture(scope="module")
def in_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _recorded(tmp_path_factory.mktemp("torch"), IN_TORCH)


@pytest.fixture(scope="module")
def in_mindspore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _recorded(tmp_path_factory.mktemp("mindspore"), IN_MINDSPORE)


def _aligned(one: Path, other: Path, workers: Workers | None) -> Alignment:
    traces = {path.stem: read_trace(path.with_suffix(".trace")) for path in (one, other)}
    return report_on(traces, workers).alignments[0]


def _arguments(alignment: Alignment) -> dict[str, Any]:
    """What the first divergence's cause has in the place of an op's own arguments."""
    cause = alignment.cause(0)
    assert cause is not None
    assert cause.proven == "computed_again"
    assert isinstance(cause.change, OtherArguments)
    return dict(cause.change.arguments)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("other", "arguments"), [("eps", {"eps": 0.01}), ("tanh", {"approximate": "tanh"})]
)
def test_two_steps_of_pytorch_part_by_an_argument(
    in_torch: Path, workers: Workers, other: str, arguments: dict[str, Any]
) -> None:
    alignment = _aligned(in_torch / "plain", in_torch / other, workers)
    assert _arguments(alignment) == arguments
    assert alignment.untried == ""


@pytest.mark.mindspore
@pytest.mark.parametrize(
    ("other", "arguments"), [("eps_cell", {"epsilon": 0.01}), ("axis_cell", {"axis": (0,)})]
)
def test_two_steps_of_mindspore_part_by_an_argument(
    in_mindspore: Path, workers: Workers, other: str, arguments: dict[str, Any]
) -> None:
    alignment = _aligned(in_mindspore / "plain_cell", in_mindspore / other, workers)
    assert _arguments(alignment) == arguments


@pytest.mark.torch
@pytest.mark.mindspore
def test_steps_of_two_frameworks_part_by_an_argument_and_the_mend_is_named(
    in_torch: Path, in_mindspore: Path, workers: Workers
) -> None:
    alignment = _aligned(in_torch / "plain", in_mindspore / "eps_cell", workers)
    assert _arguments(alignment) == {"eps": 0.01}
    same = _aligned(in_torch / "plain", in_mindspore / "plain_cell", workers)
    assert (same.divergence, same.untried) == (None, "")


@pytest.mark.torch
def test_an_op_whose_values_were_not_kept_is_not_tried(in_torch: Path, workers: Workers) -> None:
    one, other = in_torch / "plain_in_figures", in_torch / "eps_in_figures"
    alignment = _aligned(one, other, workers)
    assert alignment.cause(0) is None
    assert alignment.untried == "values"
    assert "explorer.record(…, values=N) keeps those" in attempts(alignment)


class Without(Workers):
    """Workers that have no framework, or that end."""

    def __init__(self, answer: Exception | Lost) -> None:
        super().__init__()
        self._answer = answer

    def call(self, *_: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.torch
@pytest.mark.parametrize(
    ("answer", "untried", "said"),
    [
        (None, "trace", "nothing was computed again"),
        (MissingFrameworkError("torch is missing"), "framework", "is not found here"),
        (
            Lost("crashed", Loss(kind="died")),
            "lost",
            "the process that computed ops again ended",
        ),
    ],
)
def test_where_nothing_can_be_tried_it_says_why(
    in_torch: Path, answer: Exception | Lost | None, untried: Untried, said: str
) -> None:
    workers = Without(answer) if answer else None
    alignment = _aligned(in_torch / "plain", in_torch / "eps", workers)
    assert alignment.untried == untried
    assert said in attempts(alignment)
