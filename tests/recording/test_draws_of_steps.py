"""Two recorded steps of PyTorch with a dropout: the same draws, and others."""

from pathlib import Path

import pytest

import explorer
from explorer.api.results import Recorded
from tests.support.command_line import python

pytestmark = [pytest.mark.torch, pytest.mark.slow]

PROGRAM = """
import torch
from torch import nn

import explorer

x = torch.linspace(0.5, 2, 24).reshape(4, 6)
for name, drawn_before, last in (
    ("plain", 0, torch.tanh), ("later", 1, torch.tanh), ("sigmoid", 0, torch.sigmoid)
):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Linear(6, 1))
    torch.rand(drawn_before)
    with explorer.record(f"{name}.trace"):
        (last(net(x)) ** 2).sum().backward()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("draws")
    python("-c", PROGRAM, cwd=folder)
    return folder


def explained(folder: Path, left: str, right: str) -> str:
    one, other = (explorer.load(folder / f"{name}.trace") for name in (left, right))
    assert isinstance(one, Recorded)
    assert isinstance(other, Recorded)
    return one.diff(other).explain()


def test_the_same_draws_are_compared_and_what_follows_from_them(folder: Path) -> None:
    assert "every result is the same" in explained(folder, "plain", "plain")
    said = explained(folder, "plain", "sigmoid")
    assert said.startswith("First divergence in forward: `aten.tanh.default`")


def test_of_one_framework_other_draws_are_named_as_such(folder: Path) -> None:
    said = explained(folder, "plain", "later")
    assert "torch-tape@plain and torch-tape@later did not draw the same random numbers" in said
    assert said.endswith("all that does not depend on them is the same on both sides")
