"""A fault of the explorer's own while it captures: the graph is lost, with the reason, and no answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.cli import exit_codes
from explorer.cli.scenario import exit_code
from explorer.exploration.explore import explore
from explorer.exploration.stored import is_whole
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.words.graphs import why_no_graph
from explorer.workers.workers import Workers
from tests.support.samples import some
from tests.support.scenario_files import written
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

BROKEN = """
import numpy as np


def inputs():
    return {{"x": np.array([1.5, 2.5], np.float32)}}


def mindspore_net():
    {mindspore}

    def net(x):
        return (x * x).sum()

    return net


def torch_net():
    {torch}

    def net(x):
        return (x * x).sum()

    return net
"""

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
        code[ENGINES[engine].framework] = breaking
    path = written(tmp_path, BROKEN.format(**code))

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
    assert not is_whole(report)


@pytest.mark.whole
def test_a_call_that_raises_when_it_is_recorded_alone_says_so(
    tmp_path: Path, own_workers: Workers
) -> None:
    breaking = (
        "from explorer.engines.torch.tape_recorder import Recorder as broken;"
        " broken.expect_pass = None"
    )
    path = written(tmp_path, BROKEN.format(mindspore="pass", torch=breaking))
    report = explore(load(path), own_workers, engines=("torch-tape",), selection="main")
    assert report.cases[0].results["torch-tape"].outcome == "ok"
    assert list(report.ungraphed) == ["torch-tape"]
    assert why_no_graph(report.ungraphed["torch-tape"]).startswith(
        "the call raises only while its graph is recorded: TypeError: "
    )


def test_a_call_that_raises_anyway_gives_its_own_message(tmp_path: Path, workers: Workers) -> None:
    text = BROKEN.format(mindspore="pass", torch="import torch")
    path = written(tmp_path, text.replace("return (x * x)", "return torch.exp(x).add_(1)"))
    report = explore(load(path), workers, engines=("torch-tape",), selection="main")
    assert report.cases[0].results["torch-tape"].outcome == "raised"
    assert "modified by an inplace operation" in report.ungraphed["torch-tape"].error.message
    assert not report.ungraphed["torch-tape"].while_recorded
