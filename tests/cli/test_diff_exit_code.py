"""The exit code of ``diff`` and its first lines: what the two engines say, and the oracle of both."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.model.cases import GradCase
from tests.support.scenario_files import written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.usefixtures("warm")]

HEAD = """\
import numpy as np


def inputs():
    return {"x": np.array(%s, np.float32)}

"""


HALVES = """
def mindspore_net():
    from mindspore import nn

    class Half(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (x * dout,)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.half = Half()

        def construct(self, x):
            return self.half(x).sum()

    return Net()


def torch_net():
    import torch

    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dout):
            (x,) = ctx.saved_tensors
            return x * dout

    return lambda x: Half.apply(x).sum()
"""
"""A backward that is wrong in both."""


def test_what_the_oracle_says_of_two_engines_that_agree_is_said_and_is_no_difference(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = str(written(tmp_path, HEAD % "[5.0, 7.0]" + HALVES, "wrong_in_both.py"))
    assert run(["diff", file, "torch-tape", "mindspore-graph", "--case", "grad(0)"]) == 0
    label, headline, *rest = capfd.readouterr().out.splitlines()
    assert label == GradCase("grad", 0).label
    assert headline.strip() == (
        "torch-tape and mindspore-graph agree; the oracle (central differences) differs from"
        " torch-tape and mindspore-graph"
    )
    assert rest[-1].startswith("no divergence: every result is the same")


SCALED = """
def mindspore_net():
    return lambda_free


def lambda_free(x):
    return (3.0 * x * x).sum()


def torch_net():
    def net(x):
        return (2.0 * x * x).sum()

    return net
"""


def test_results_that_differ_exit_with_1_and_are_the_first_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = str(written(tmp_path, HEAD % "[1.0, 2.0]" + SCALED, "scaled.py"))
    assert run(["diff", file, "torch-tape", "mindspore-tape"]) == 1
    _, headline, *_ = capfd.readouterr().out.splitlines()
    assert "torch-tape differs from mindspore-tape by up to 4 at dx[1]" in headline
    assert run(["diff", file, "torch-tape", "mindspore-tape", "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert (document["left"], document["right"]) == ("torch-tape", "mindspore-tape")
    assert document["divergence"]["sentence"]
