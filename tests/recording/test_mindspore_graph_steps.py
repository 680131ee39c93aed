"""Steps of programs whose gradients MindSpore compiles: the same bits, and traces like those of a tape."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.recordings import report_on
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph
from explorer.model.trace import Trace
from explorer.recording.files import read_trace
from tests.recording.conftest import NETS
from tests.support.command_line import explorer, python

pytestmark = [pytest.mark.mindspore, pytest.mark.whole]

FIRST_STEPS = {"value_and_grad": 1, "one_step_cell": 10, "whole_step": 20}
"""The number of the first step of each program of tests/nets/recorded_graph_steps.py."""

NAMES = [f"{layer}.{part}" for layer in ("first", "norm", "last") for part in ("weight", "bias")]
"""The parameters by PyTorch's names."""


class Runs(NamedTuple):
    """What the programs computed without the recorder and with it, and the folder of the traces."""

    without: dict[str, Any]
    recorded: dict[str, Any]
    folder: Path

    def trace(self, program: str) -> Trace:
        return read_trace(self.folder / f"step-{FIRST_STEPS[program]:06d}.trace")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("graph_steps")
    program = str(NETS / "recorded_graph_steps.py")
    plain = python(program, folder / "without_run.trace")
    done = explorer(
        "run", "--record", str(folder / "step.trace"), "--first", "1", "--every", "10", program
    )
    assert done.returncode == 0, done.stderr
    without, recorded = (json.loads(it.splitlines()[-1]) for it in (plain, done.stdout))
    return Runs(without, recorded, folder)


@pytest.fixture(scope="module")
def torch_trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("torch_steps") / "step.trace"
    done = explorer("run", "--record", str(path), str(NETS / "recorded_torch_step.py"), "none")
    assert done.returncode == 0, done.stderr
    return read_trace(path)


def graph_of(trace: Trace) -> GradGraph:
    assert trace.graph is not None, trace.missing
    return trace.graph


@pytest.mark.parametrize("program", FIRST_STEPS)
def test_losses_and_weights_are_the_same_bits_with_and_without(runs: Runs, program: str) -> None:
    assert runs.recorded[program] == runs.without[program]


@pytest.mark.parametrize("program", FIRST_STEPS)
def test_the_compiled_graph_has_the_values_of_every_operator(runs: Runs, program: str) -> None:
    graph = graph_of(runs.trace(program))
    assert (graph.engine, graph.stage) == ("mindspore-graph", "validate")
    assert lint(graph) == []
    assert all(output.values is not None for node in graph.nodes for output in node.outputs)
    assert {node.phase for node in graph.nodes if node.kind == "op"} == {"forward", "backward"}
    products = [node for node in graph.nodes if node.op == "MatMul" and node.phase == "forward"]
    assert all(node.source[0].startswith("recorded_graph_steps.py:") for node in products)


@pytest.mark.parametrize("program", FIRST_STEPS)
def test_start_results_and_state_go_by_the_names_of_pytorch(runs: Runs, program: str) -> None:
    trace = runs.trace(program)
    trained = [start.name for start in trace.start if start.role == "parameter"]
    assert sorted(trained) == sorted(NAMES)
    assert {"loss", *(f"d{name}" for name in NAMES)} == {result.name for result in trace.results}
    assert set(NAMES) <= {change.name for change in trace.state}
    loss = next(result for result in trace.results if result.name == "loss")
    assert float(unpack(loss.value)).hex() == runs.without[program][0][0]


def test_the_values_computed_one_by_one_are_those_that_the_program_returned(runs: Runs) -> None:
    graph = graph_of(runs.trace("value_and_grad"))
    by_id = {node.id: node for node in graph.nodes}
    outputs = {node.id for node in graph.nodes if node.kind == "output"}
    for edge in graph.edges:
        if edge.target in outputs:
            shown = by_id[edge.target].outputs[0].values
            made = by_id[edge.origin].outputs[edge.output].values
            assert shown is not None
            assert made is not None
            assert np.isclose(shown.norm, made.norm, rtol=1e-5)


@pytest.mark.torch
@pytest.mark.parametrize("program", FIRST_STEPS)
def test_the_step_of_pytorch_does_not_differ(runs: Runs, torch_trace: Trace, program: str) -> None:
    (alignment,) = report_on({"torch": torch_trace, "mindspore": runs.trace(program)}).alignments
    assert alignment.divergences == ()


def test_without_run_the_trace_says_what_is_needed(runs: Runs) -> None:
    trace = read_trace(runs.folder / "without_run.trace")
    assert "graph_mode" in {missing.kind for missing in trace.missing}
    shown = explorer("show", str(runs.folder / "without_run.trace"))
    assert "start the program with `explorer run`" in shown.stdout
