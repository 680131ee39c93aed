"""What the tests of the shipped scenarios look up in a report, and how they compare it with numpy."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node
from explorer.model.report import CaseReport, Report
from explorer.text.failures import message
from tests.support.narrowing import present
from tests.support.standard_engines import ENGINES

Reports = Callable[[str], Report]
"""The fixture ``report``: the report on a shipped scenario by its name."""

Floats = NDArray[Any]

FLOAT32, FLOAT64 = 2e-5, 1e-12
"""Relative tolerances for what was computed in these types, against float64 in numpy."""

MINDSPORE = ("mindspore-graph", "mindspore-tape")
TORCH = ("torch-graph", "torch-tape")

OFTEN = (
    "aliased_input",
    "attention_block",
    "batch_norm_train",
    "checkpointing",
    "conv_bn_relu_pool",
    "custom_gradient",
    "dense_mse",
    "embedding_repeats",
    "float16_underflow",
    "in_place_update",
    "integer_input",
    "kinks",
    "lstm",
    "physics_informed",
    "stop_gradient",
    "unused_input",
    "while_loop",
)
"""Scenarios that every run explores, each for something that the others lack; the rest ``--whole`` does."""


def each_scenario(names: Iterable[str], often: Iterable[str] = OFTEN) -> list[Any]:
    """Names as parameters; those that are not explored often are marked ``whole``."""
    return [pytest.param(name, marks=() if name in often else pytest.mark.whole) for name in names]


BY_FIRST, BY_SECOND, BY_BOTH = GradCase("grad", 0), GradCase("grad", 1), GradCase("grad", (0, 1))
BY_WEIGHTS, WHOLE = GradCase("grad", None, "all"), GradCase("grad", 0, "all")


def row(report: Report, case: GradCase) -> CaseReport:
    """What a report says of a case."""
    for case_report in report.cases:
        if case_report.case == case:
            return case_report
    raise AssertionError(f"the report has no case {case.label}")


def values_of(report: Report) -> dict[str, Floats]:
    """The inputs and parameters of a report by name; what is floating, in float64."""
    arrays = {}
    for leaf in (*report.inputs, *report.parameters):
        array = unpack(leaf.value)
        arrays[leaf.name] = array.astype(np.float64) if array.dtype.kind == "f" else array
    return arrays


def leaves(case_report: CaseReport, engine: str) -> dict[str, Floats]:
    """The leaves of an engine's answer by name."""
    result = case_report.results[engine]
    assert result.outcome == "ok", (engine, result.error)
    return {leaf.name: unpack(leaf.value) for leaf in result.leaves}


def all_say(
    case_report: CaseReport,
    expected: dict[str, Any],
    rtol: float = FLOAT64,
    engines: Iterable[str] = ENGINES,
) -> None:
    """Each of the engines answers, and its leaves of these names hold these numbers."""
    for engine in engines:
        answer = leaves(case_report, engine)
        for name, value in expected.items():
            message = f"{name} of {engine}"
            np.testing.assert_allclose(answer[name], value, rtol, rtol, err_msg=message)


def refuses(case_report: CaseReport, engine: str, fragment: str) -> None:
    """An engine raises, and ``fragment`` is in what it says."""
    result = case_report.results[engine]
    assert result.outcome == "raised", engine
    assert fragment in message(present(result.error))


def graph(report: Report, engine: str) -> GradGraph:
    """The graph of an engine's last stage."""
    return [graph for graph in report.graphs if graph.engine == engine][-1]


def ops(report: Report, engine: str, phase: str) -> list[str]:
    """The operators of a phase in an engine's graph, sums of gradients included."""
    kinds = ("op", "accumulate")
    nodes = graph(report, engine).nodes
    return [node.op for node in nodes if node.phase == phase and node.kind in kinds]


def ops_called(gradient_graph: GradGraph, words: Iterable[str], phase: str) -> list[Node]:
    """The ops of a phase whose names hold one of ``words``; gradients of these ops are left out."""
    nodes = []
    for node in gradient_graph.nodes:
        name = node.op.lower()
        is_gradient = "grad" in name or "backward" in name
        is_op = node.kind == "op" and node.phase == phase
        if is_op and not is_gradient and any(word in name for word in words):
            nodes.append(node)
    return nodes


def output_called(gradient_graph: GradGraph, name: str) -> Node:
    """The one result of a graph that has this name."""
    (node,) = (node for node in gradient_graph.nodes if node.kind == "output" and node.name == name)
    return node


def value(node: Node) -> Floats:
    """All elements of a node's first output."""
    summary = present(node.outputs[0].values)
    return unpack(present(summary.whole))


def origins(gradient_graph: GradGraph, target: Node) -> list[Node]:
    """The nodes whose values reach ``target``."""
    nodes = gradient_graph.by_id()
    edges = gradient_graph.edges
    return [
        nodes[edge.origin] for edge in edges if edge.target == target.id and edge.kind != "control"
    ]
