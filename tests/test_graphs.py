"""Captured graphs of the shipped scenarios: values, sources and links on them, and what aligning
them finds.
"""

from collections.abc import Callable
from typing import get_args

import msgspec
import pytest

from explorer.compare.align import align
from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment, SideName
from explorer.model.arrays import Array, unpack
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph, Node
from explorer.model.report import Report
from explorer.scenario.contract import load, names
from explorer.workers.workers import Workers
from tests.conftest import NETS, Remembering

Reports = Callable[[str], Report]
SHIPPED = tuple(names())
PLANTED = sorted(path.stem for path in (NETS / "planted").glob("*.py"))


def last(report: Report, engine: str) -> GradGraph | None:
    stages = [graph for graph in report.graphs if graph.engine == engine]
    return stages[-1] if stages else None


def backward(graph: GradGraph) -> list[Node]:
    """The backward ops and sums that ran: a call's values stand in its body, and a branch not taken
    has none.
    """
    nodes = (
        node
        for node in graph.nodes
        if node.phase == "backward" and node.kind in ("op", "accumulate")
    )
    return [node for node in nodes if "did not run" not in node.missing.get("values", "")]


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("engine", ENGINES)
def test_backward_nodes_have_a_value_a_source_and_a_forward_link(
    report: Reports, name: str, engine: str
) -> None:
    whole = report(name)
    graph = last(whole, engine)
    if graph is None:
        assert whole.ungraphed[engine]
        return
    nodes = backward(graph)
    full = [
        node
        for node in nodes
        if node.outputs and node.outputs[0].values and node.source and node.forward
    ]
    lacking = [node for node in nodes if node not in full]
    assert len(full) >= 0.95 * len(nodes), [(node.op, node.missing) for node in lacking]
    for node in lacking:
        assert node.missing, node.op


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("engine", ENGINES)
def test_capture_does_not_change_a_bit_of_the_gradients(
    workers: Remembering, report: Reports, name: str, engine: str
) -> None:
    whole = report(name)
    drawn = {graph.case for graph in whole.graphs}
    row = next(row for row in whole.cases if row.case.label in drawn)
    captured, plain = workers.captured[name, engine, row.case.label], row.results[engine]
    assert captured.result.outcome == plain.outcome
    assert captured.result.leaves == plain.leaves


@pytest.mark.parametrize("name", SHIPPED)
def test_between_engines_that_agree_no_divergence_is_named(report: Reports, name: str) -> None:
    whole = report(name)
    case = {row.case.label: row for row in whole.cases}
    for alignment in whole.alignments:
        row = case.get(alignment.case)
        if row is None or row.verdict in ("match", "close"):
            assert alignment.divergence is None, (
                alignment.left,
                alignment.right,
                alignment.divergence,
            )


PROMISED = {
    "mindspore-graph": {
        "forward": {"Conv2D", "BatchNorm", "ReLU", "MaxPool", "MatMul", "BiasAdd"},
        "backward": {
            "Conv2DBackpropInput", "Conv2DBackpropFilter", "BatchNormGrad", "ReluGrad", "MaxPoolGrad", "MatMul", "BiasAddGrad",
        },
    },
    "torch-tape": {
        "forward": {
            "aten.convolution.default", "aten.native_batch_norm.default", "aten.relu.default",
            "aten.max_pool2d_with_indices.default", "aten.addmm.default",
        },
        "backward": {
            "aten.convolution_backward.default", "aten.native_batch_norm_backward.default", "aten.threshold_backward.default",
            "aten.max_pool2d_with_indices_backward.default", "aten.mm.default", "aten.sum.dim_IntList",
        },
    },
}  # fmt: skip
"""The five operators and all their gradients, as each engine calls them."""

ONE_TO_ONE = {
    ("Conv2D", "aten.convolution.default", 0),
    ("BiasAdd", "aten.convolution.default", 0),
    ("Conv2DBackpropInput", "aten.convolution_backward.default", 0),
    ("Conv2DBackpropFilter", "aten.convolution_backward.default", 1),
    ("BiasAddGrad", "aten.convolution_backward.default", 2),
    ("BatchNorm", "aten.native_batch_norm.default", 0),
    ("BatchNormGrad", "aten.native_batch_norm_backward.default", 0),
    ("ReLU", "aten.relu.default", 0),
    ("ReluGrad", "aten.threshold_backward.default", 0),
    ("MaxPool", "aten.max_pool2d_with_indices.default", 0),
    ("MaxPoolGrad", "aten.max_pool2d_with_indices_backward.default", 0),
    ("MatMul", "aten.addmm.default", 0),
    ("BiasAdd", "aten.addmm.default", 0),
    ("MatMul", "aten.mm.default", 0),
    ("BiasAddGrad", "aten.sum.dim_IntList", 0),
}
"""MindSpore's operator, PyTorch's, and which of its outputs."""


def promised(report: Report) -> tuple[Alignment, dict[str, GradGraph]]:
    """The alignment of mindspore-graph, on the left, with torch-tape, and both graphs."""
    graphs = {engine: graph for engine in PROMISED if (graph := last(report, engine))}
    return align(graphs["mindspore-graph"], graphs["torch-tape"]), graphs


def unpaired(alignment: Alignment, graphs: dict[str, GradGraph]) -> set[str]:
    """The promised operators of which some node is in no pair."""
    lone = set()
    for side, (engine, phases) in zip(get_args(SideName), PROMISED.items(), strict=True):
        paired = {node for pair in alignment.pairs for node in pair.members(side)}
        for phase, ops in phases.items():
            nodes = [node for node in graphs[engine].nodes if node.phase == phase]
            assert ops <= {node.op for node in nodes}
            lone |= {node.op for node in nodes if node.op in ops and node.id not in paired}
    return lone


def test_convolution_norm_relu_pooling_and_matmul_pair_one_to_one_with_their_gradients(
    report: Reports,
) -> None:
    alignment, graphs = promised(report("conv_bn_relu_pool"))
    assert unpaired(alignment, graphs) == set()
    nodes = graphs["mindspore-graph"].by_id(), graphs["torch-tape"].by_id()
    made = [
        (node, pair)
        for pair in alignment.pairs
        for node in pair.members("left")
        if nodes[0][node].kind == "op"
    ]
    found = {(nodes[0][node].op, nodes[1][pair.right].op, pair.right_output) for node, pair in made}
    assert found >= ONE_TO_ONE
    for side in get_args(SideName):
        slots = [(getattr(pair, side), getattr(pair, f"{side}_output")) for pair in alignment.pairs]
        steps = [node for pair in alignment.pairs for node in pair.members(side)[1:]]
        assert len(slots) == len(set(slots))
        assert not {node for node, _ in slots} & set(steps)
        assert len(steps) == len(set(steps))
    for odd in alignment.unpaired:
        assert odd.reason != "decomposed", (odd.node, odd.detail)
        assert odd.detail


def test_without_steps_inside_a_partner_and_further_outputs_the_bias_would_part_convolution_and_matmul(
    report: Reports,
) -> None:
    alignment, graphs = promised(report("conv_bn_relu_pool"))
    plain = tuple(
        msgspec.structs.replace(pair, left_within=(), right_within=())
        for pair in alignment.pairs
        if not pair.right_output
    )
    lone = unpaired(msgspec.structs.replace(alignment, pairs=plain), graphs)
    assert lone == {"Conv2D", "MatMul", "Conv2DBackpropFilter", "BiasAddGrad"}


def test_a_call_of_branches_has_the_value_of_the_one_that_ran_and_only_the_other_one_lacks_values(
    report: Reports,
) -> None:
    graph = last(report("branch_on_value"), "mindspore-graph")
    assert graph is not None
    nodes = graph.by_id()
    calls = {node.phase: node for node in graph.nodes if node.kind == "call"}
    branches = ("if x.sum() > 0: true branch", "if x.sum() > 0: false branch")
    assert calls["forward"].calls == branches
    assert calls["backward"].calls == tuple(f"{branch}, backward" for branch in branches)
    for node in calls.values():
        assert node.name == "if x.sum() > 0"
        assert all(output.values for output in node.outputs)
        origins = [nodes[edge.origin] for edge in graph.edges if edge.target == node.id]
        assert {origin.body for origin in origins if origin.phase == node.phase} - {""} == set(
            node.calls
        )
    for node in graph.nodes:
        ran = node.body not in {branches[1], f"{branches[1]}, backward"}
        assert all(output.values is not None for output in node.outputs) == ran, node.op
        assert "this branch did not run for this input" in node.missing.get("values", "") or ran


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_backward_node_stands_in_the_module_of_the_op_it_derives_from(
    report: Reports, name: str, engine: str
) -> None:
    for graph in report(name).graphs:
        if graph.engine == engine:
            nodes = graph.by_id()
            for node in graph.nodes:
                if node.forward and nodes[node.forward].kind == "op":
                    assert node.scope == nodes[node.forward].scope, (graph.stage, node.op)


@pytest.mark.parametrize("engine", ENGINES)
def test_statistics_that_a_forward_moves_are_results_with_their_values_afterwards(
    report: Reports, engine: str
) -> None:
    graph = last(report("conv_bn_relu_pool"), engine)
    assert graph is not None
    nodes = graph.by_id()
    held = {
        (node.name, node.kind): unpack(whole)
        for node in graph.nodes
        if (whole := _whole(node)) is not None
    }
    assert held["bn.running_mean", "parameter"].tolist() == [0, 0, 0, 0]
    assert held["bn.running_mean", "output"] == pytest.approx(
        [0.01502195, -0.01481078, 0.03191578, 0.01042102]
    )
    assert held["bn.running_var", "output"] == pytest.approx(
        [1.0251015, 1.0765774, 1.0058092, 1.0838245]
    )
    writers = {
        nodes[edge.origin].op
        for edge in graph.edges
        if nodes[edge.target].name.startswith("bn.running")
    }
    assert len(writers) == 1
    assert "norm" in writers.pop().lower()


def _whole(node: Node) -> Array | None:
    return node.outputs[0].values.whole if node.outputs and node.outputs[0].values else None


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_migration_mistake_is_located_as_the_first_divergence(
    workers: Workers, name: str
) -> None:
    scenario = load(NETS / "planted" / f"{name}.py")
    lines = scenario.path.read_text().splitlines()
    fault = scenario.module.FAULT
    whole = explore(
        scenario, workers, engines=("mindspore-tape", "torch-tape"), only_graph_case=True
    )
    (alignment,) = (
        a for a in whole.alignments if {a.left, a.right} == {"mindspore-tape", "torch-tape"}
    )
    divergence = alignment.divergence
    assert divergence is not None
    wanted = {
        f"{scenario.path.name}:{number}"
        for number, line in enumerate(lines, 1)
        if line.strip() in fault.values()
    }
    named = {
        source.rsplit("/", 1)[-1] for source in (divergence.left_source, divergence.right_source)
    }
    assert named & wanted, (divergence.sentence, wanted)


def test_inputs_of_a_graph_hold_the_scenario_s_values(report: Reports) -> None:
    whole = report("dense_mse")
    given = {leaf.name: unpack(leaf.value).tolist() for leaf in whole.inputs}
    for graph in whole.graphs:
        if graph.stage in ("tape", "joint", "validate"):
            for node in graph.nodes:
                if (
                    node.kind == "input"
                    and node.outputs
                    and node.outputs[0].values
                    and node.outputs[0].values.whole
                ):
                    assert unpack(node.outputs[0].values.whole).tolist() == given[node.name]
