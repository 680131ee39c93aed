"""Functions of a program that are recorded as they are called: by a decorator, once or step by step."""

from pathlib import Path

import pytest

from explorer.recording.files import read_trace, read_training
from tests.support.command_line import python

pytestmark = pytest.mark.torch

PROGRAM = '''
import torch
import explorer

net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
seldom = explorer.recorder(first=1, every=3, out="seldom")
training = explorer.recorder(training=True, out="all.training")


@explorer.record("once.trace")
def step(x):
    """A step."""
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


@seldom
def other(x):
    return step.__wrapped__(x)


@training
def third(x):
    return step.__wrapped__(x)


for function in (step, other, third):
    for _ in range(4):
        assert function(torch.ones(2, 3)).ndim == 0
assert (step.__name__, step.__doc__) == ("step", "A step.")
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("functions")
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    python("train.py", cwd=folder)
    return folder


@pytest.mark.sample
@pytest.mark.whole
def test_the_first_call_of_a_recorded_function_is_recorded_with_the_lines_in_it(
    folder: Path,
) -> None:
    graph = read_trace(folder / "once.trace").graph
    assert graph is not None
    line = PROGRAM.splitlines().index("    loss = net(x).square().mean()") + 1
    (mean,) = [node for node in graph.nodes if node.op == "aten.mean.default"]
    assert mean.source == (f"train.py:{line}",)


def test_of_a_recorder_s_function_the_first_calls_and_each_nth_are_recorded(folder: Path) -> None:
    names = sorted(path.name for path in (folder / "seldom").iterdir())
    assert names == ["step-000001.trace", "step-000003.trace"]


def test_each_call_is_a_step_of_a_training(folder: Path) -> None:
    assert [step.number for step in read_training(folder / "all.training").steps] == [1, 2, 3, 4]
