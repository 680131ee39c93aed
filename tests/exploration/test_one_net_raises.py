"""A net or an engine that raises: the others' results are reported, compared, and exit with 1."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from explorer.cli.entry import run
from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.errors import ScenarioError
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.samples import some_rows
from tests.support.scenario_files import written
from tests.support.scenario_reports import BY_FIRST, leaves, row

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

INPUTS = """\
import numpy as np


def inputs():
    return {"x": np.array([1, 2, 3], np.float32)}
"""

MINDSPORE = """

def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def construct(self, x):
            return (x * x).sum()

    return Net()
"""

TORCH = """

def torch_net():
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return (x * x).sum()

    return Net()
"""

IN_FORWARD = ("(x * x).sum()", "(x * x).no_such_method()")
IN_CREATION = ("    return Net()", "    return Net().no_such_part")
OF_SHAPES = ("(x * x).sum()", "(x.reshape(3, 1) @ x.reshape(3, 1)).sum()")


def scenario_with(folder: Path, framework: str, change: tuple[str, str]) -> Path:
    """A scenario whose net in one framework is changed."""
    nets = {"mindspore": MINDSPORE, "torch": TORCH}
    assert change[0] in nets[framework]
    nets[framework] = nets[framework].replace(*change)
    return written(folder, INPUTS + nets["mindspore"] + nets["torch"], f"raises_{framework}.py")


@pytest.mark.parametrize(
    ("framework", "change"),
    some_rows(
        product(("mindspore", "torch"), (IN_FORWARD, IN_CREATION, OF_SHAPES)),
        ("mindspore", IN_CREATION),
        ("torch", OF_SHAPES),
    ),
)
def test_a_net_that_raises_leaves_the_other_framework_its_results(
    framework: str, change: tuple[str, str], workers: Workers, tmp_path: Path
) -> None:
    report = explore(load(scenario_with(tmp_path, framework, change)), workers, selection="main")
    case = row(report, BY_FIRST)
    other = "torch" if framework == "mindspore" else "mindspore"
    for style in ("tape", "graph"):
        failed = case.results[f"{framework}-{style}"]
        assert failed.outcome == "raised"
        assert failed.error is not None
        np.testing.assert_array_equal(leaves(case, f"{other}-{style}")["dx"], [2, 4, 6])
    assert case.verdict == "some_raise"
    assert not report.is_as_expected
    assert {graph.engine for graph in report.graphs} == {f"{other}-graph", f"{other}-tape"}
    assert set(report.ungraphed) == {f"{framework}-graph", f"{framework}-tape"}
    assert len(report.alignments) == 1


def test_where_no_net_runs_the_scenario_is_refused(workers: Workers, tmp_path: Path) -> None:
    broken = INPUTS + MINDSPORE.replace(*IN_FORWARD) + TORCH.replace(*IN_FORWARD)
    with pytest.raises(ScenarioError, match="the PyTorch net raises"):
        explore(load(written(tmp_path, broken, "both_raise.py")), workers)


def test_an_input_that_no_position_reaches_is_refused(workers: Workers) -> None:
    with pytest.raises(ScenarioError, match=r"takes 'mask' only by keyword"):
        explore(load(NETS / "keyword_only.py"), workers, engines=("torch-tape",))


@pytest.mark.usefixtures("warm")
def test_scenario_and_diff_show_what_the_other_net_gives_and_exit_with_1(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = str(scenario_with(tmp_path, "torch", IN_FORWARD))
    assert run(["scenario", file, "--cases", "main"]) == 1
    printed = capfd.readouterr().out
    assert "grad(0): only PyTorch raises" in printed
    assert "no graph from both torch engines" in printed
    assert "[2, 4, 6]" in printed
    assert run(["diff", file, "mindspore-graph", "torch-tape"]) == 1
    label, headline, *answers, missing, end = capfd.readouterr().out.splitlines()
    assert label == GradCase("grad", 0).label
    assert headline == "  only torch-tape raises"
    assert answers[0] == "  mindspore-graph  [2, 4, 6]"
    assert answers[1].startswith("  torch-tape       AttributeError: ")
    assert (missing, end) == ("no graph from torch-tape", "the graphs are not compared")
    assert run(["diff", file, "torch-tape", "mindspore-graph", "--json"]) == 1
    assert "torch-tape has no graph" in capfd.readouterr().err
