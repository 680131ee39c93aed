"""A net, an engine or a capture that raises: the others' results are reported and compared."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from explorer.cli import exit_codes
from explorer.cli.entry import run
from explorer.cli.scenario import exit_code
from explorer.exploration.explore import explore
from explorer.exploration.stored import lack_of
from explorer.model.cases import GradCase
from explorer.model.errors import ScenarioError
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.words.graphs import why_no_graph
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.samples import some, some_rows
from tests.support.scenario_files import Side, scenario_text, written
from tests.support.scenario_reports import BY_FIRST, leaves, row
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PLAIN = Side("", "return (x * x).sum()")

IN_FORWARD = Side("", "return (x * x).no_such_method()")
IN_CREATION = Side("", PLAIN.lines, before="nn.no_such_part")
OF_SHAPES = Side("", "return (x.reshape(3, 1) @ x.reshape(3, 1)).sum()")


def text_of(mindspore: Side = PLAIN, torch: Side = PLAIN) -> str:
    """A scenario of two nets, which read 1, 2 and 3."""
    inputs = 'return {"x": np.array([1, 2, 3], np.float32)}'
    return scenario_text(inputs, mindspore, torch, head="")


def scenario_with(folder: Path, framework: str, net: Side) -> Path:
    """A scenario with another net in one framework."""
    return written(folder, text_of(**{framework: net}), f"raises_{framework}.py")


@pytest.mark.parametrize(
    ("framework", "net"),
    some_rows(
        product(("mindspore", "torch"), (IN_FORWARD, IN_CREATION, OF_SHAPES)),
        ("mindspore", IN_CREATION),
        ("torch", OF_SHAPES),
    ),
)
def test_a_net_that_raises_leaves_the_other_framework_its_results(
    framework: str, net: Side, workers: Workers, tmp_path: Path
) -> None:
    report = explore(load(scenario_with(tmp_path, framework, net)), workers, selection="main")
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
    path = written(tmp_path, text_of(IN_FORWARD, IN_FORWARD), "both_raise.py")
    with pytest.raises(ScenarioError, match="the PyTorch net raises"):
        explore(load(path), workers)


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
    assert "grad(0): only PyTorch raises: AttributeError: " in printed
    assert "no graph from both torch engines" in printed
    assert "[2, 4, 6]" in printed
    assert run(["diff", file, "mindspore-graph", "torch-tape"]) == 1
    label, headline, *answers, missing, end = capfd.readouterr().out.splitlines()
    assert label == GradCase("grad", 0).label
    assert headline.startswith("  only torch-tape raises: AttributeError: ")
    assert answers[0] == "  mindspore-graph  [2, 4, 6]"
    assert answers[1].startswith("  torch-tape       AttributeError: ")
    assert (missing, end) == ("no graph from torch-tape", "the graphs are not compared")
    assert run(["diff", file, "torch-tape", "mindspore-graph", "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert (document["verdict"], list(document["ungraphed"])) == ("some_raise", ["torch-tape"])


FAULTS = {
    "mindspore-graph": "explorer.engines.mindspore.graph_capture.GraphCapture.record",
    "mindspore-tape": "explorer.engines.mindspore.tape_capture.TapeCapture.record",
    "torch-tape": "explorer.engines.torch.tape_capture.TapeGradGraph.record",
    "torch-graph": "explorer.engines.torch.graph_capture.JointGradGraph.record",
}
"""What is broken, by the engine whose graph it costs."""


@pytest.fixture
def own_workers() -> Iterator[Workers]:
    """Workers that nobody else asks: the net breaks what runs in them."""
    with Workers() as workers:
        yield workers


@pytest.mark.parametrize(
    "engines",
    some(
        (("mindspore-graph", "torch-tape"), ("mindspore-tape", "torch-graph")),
        ("mindspore-graph", "torch-tape"),
    ),
)
def test_a_fault_costs_a_graph_and_no_answer_and_says_whose_it_is_and_where(
    engines: tuple[str, ...], tmp_path: Path, own_workers: Workers
) -> None:
    code = {}
    for engine in engines:
        module, kind, method = FAULTS[engine].rsplit(".", 2)
        breaking = f"from {module} import {kind} as broken; broken.{method} = None"
        code[ENGINES[engine].framework] = Side("", PLAIN.lines, breaking)
    path = written(tmp_path, text_of(**code))

    report = explore(load(path), own_workers, selection="main")
    (case,) = report.cases
    assert {result.outcome for result in case.results.values()} == {"ok"}
    assert case.verdict == "match"
    assert case.oracle_agrees
    last_graphs = {graph.engine for graph in report.graphs}
    assert last_graphs == set(ENGINES) - set(engines)
    assert set(report.ungraphed) == set(engines)
    for engine in engines:
        assert "'NoneType' object is not callable" in message(report.ungraphed[engine].error)
    if "torch-tape" in engines:
        reason = why_no_graph(report.ungraphed["torch-tape"])
        assert reason.startswith("internal error of the explorer in a worker: TypeError: ")
        assert "(explorer/engines/torch/tape_capture.py:" in reason
    assert len(report.alignments) == 1
    # The numbers are whole; it is asked again all the same.
    assert exit_code(report) == exit_codes.AS_EXPECTED
    assert lack_of(report)


@pytest.mark.whole
def test_a_call_that_raises_when_it_is_recorded_alone_says_so(
    tmp_path: Path, own_workers: Workers
) -> None:
    breaking = (
        "from explorer.engines.torch.tape_recorder import Recorder as broken;"
        " broken.expect_pass = None"
    )
    path = written(tmp_path, text_of(torch=Side("", PLAIN.lines, breaking)))
    report = explore(load(path), own_workers, engines=("torch-tape",), selection="main")
    assert report.cases[0].results["torch-tape"].outcome == "ok"
    assert list(report.ungraphed) == ["torch-tape"]
    assert why_no_graph(report.ungraphed["torch-tape"]).startswith(
        "the call raises only while its graph is recorded: TypeError: "
    )


def test_a_call_that_raises_anyway_gives_its_own_message(tmp_path: Path, workers: Workers) -> None:
    path = written(tmp_path, text_of(torch=Side("", "return torch.exp(x).add_(1).sum()")))
    report = explore(load(path), workers, engines=("torch-tape",), selection="main")
    assert report.cases[0].results["torch-tape"].outcome == "raised"
    assert "modified by an inplace operation" in report.ungraphed["torch-tape"].error.message
    assert not report.ungraphed["torch-tape"].while_recorded
