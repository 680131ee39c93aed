"""The graphs that all engines capture of the shipped scenarios: values, sources and links on them."""

import pytest

from explorer.model.graph import Absence, GradGraph, Node, is_users
from explorer.model.report import Report
from explorer.scenario.find import names
from tests.support.narrowing import present
from tests.support.remembering_workers import Remembering
from tests.support.scenario_reports import Reports, each_scenario, output_called, value
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

SHIPPED = tuple(names())

COMPLETE = 0.95
"""How many of an engine's backward nodes are to have all that is known of a node."""

NOT_RUN = Absence("branch_not_run")
"""Why a node in a branch that was not taken has no values."""


def last_graph(report: Report, engine: str) -> GradGraph | None:
    """An engine's graph of the last stage, if it has one."""
    stages = [graph for graph in report.graphs if graph.engine == engine]
    return stages[-1] if stages else None


def backward_steps(graph: GradGraph) -> list[Node]:
    """The backward ops and sums that ran.

    A call is left out, whose values stand in its body, and a branch that was not taken.
    """
    steps = []
    for node in graph.nodes:
        ran = node.missing.get("values") != NOT_RUN
        if node.phase == "backward" and node.kind in ("op", "accumulate") and ran:
            steps.append(node)
    return steps


def is_complete(node: Node) -> bool:
    has_values = bool(node.outputs) and node.outputs[0].values is not None
    return has_values and bool(node.source) and node.forward is not None


@pytest.mark.parametrize("name", each_scenario(SHIPPED))
@pytest.mark.parametrize("engine", ENGINES)
def test_backward_nodes_have_a_value_a_source_and_a_forward_link(
    report: Reports, name: str, engine: str
) -> None:
    graph = last_graph(report(name), engine)
    if graph is None:
        assert report(name).ungraphed[engine]
        return
    steps = backward_steps(graph)
    lacking = [node for node in steps if not is_complete(node)]
    facts = [(node.op, node.missing) for node in lacking]
    assert len(lacking) <= (1 - COMPLETE) * len(steps), facts
    for node in lacking:
        assert node.missing, node.op


LOCATED = 0.99
"""How many of an engine's ops are to stand on a line of the user's code."""


@pytest.mark.parametrize("name", each_scenario(SHIPPED))
@pytest.mark.parametrize("engine", ENGINES)
def test_nodes_stand_on_a_line_of_the_net(report: Reports, name: str, engine: str) -> None:
    graph = last_graph(report(name), engine)
    nodes = graph.nodes if graph else ()
    computing = [node for node in nodes if node.kind in ("op", "call", "accumulate")]
    located = [any(is_users(line) for line in node.source) for node in computing]
    assert sum(located) >= LOCATED * len(located)


@pytest.mark.parametrize("name", each_scenario(SHIPPED))
@pytest.mark.parametrize("engine", ENGINES)
def test_capture_does_not_change_a_bit_of_the_gradients(
    workers: Remembering, report: Reports, name: str, engine: str
) -> None:
    drawn = {graph.case for graph in report(name).graphs}
    row = next(row for row in report(name).cases if row.case.label in drawn)
    captured = workers.captured[name, engine, row.case.label]
    assert captured.result.outcome == row.results[engine].outcome
    assert captured.result.leaves == row.results[engine].leaves


@pytest.mark.parametrize("name", each_scenario(SHIPPED))
@pytest.mark.parametrize("engine", ENGINES)
def test_a_backward_node_stands_in_the_module_of_the_op_it_derives_from(
    report: Reports, name: str, engine: str
) -> None:
    for graph in report(name).graphs:
        if graph.engine != engine:
            continue
        nodes = graph.by_id()
        for node in graph.nodes:
            if node.forward is not None and nodes[node.forward].kind == "op":
                assert node.scope == nodes[node.forward].scope, (graph.stage, node.op)


@pytest.mark.parametrize("name", ["conv_bn_relu_pool"])
@pytest.mark.parametrize("engine", ENGINES)
def test_statistics_that_a_forward_moves_are_results_with_their_values_afterwards(
    report: Reports, name: str, engine: str
) -> None:
    graph = present(last_graph(report(name), engine))
    (mean_before,) = (
        node for node in graph.nodes if node.kind == "parameter" and node.name == "bn.running_mean"
    )
    assert value(mean_before).tolist() == [0, 0, 0, 0]
    mean = output_called(graph, "bn.running_mean")
    variance = output_called(graph, "bn.running_var")
    assert value(mean) == pytest.approx([0.01502195, -0.01481078, 0.03191578, 0.01042102])
    assert value(variance) == pytest.approx([1.0251015, 1.0765774, 1.0058092, 1.0838245])

    nodes = graph.by_id()
    results = (mean.id, variance.id)
    writers = {nodes[edge.origin].op for edge in graph.edges if edge.target in results}
    (writer,) = writers
    assert "norm" in writer.lower()


@pytest.mark.parametrize("name", ["branch_on_value"])
def test_a_call_of_branches_has_the_value_of_the_one_that_ran_and_only_the_other_one_lacks_values(
    report: Reports, name: str
) -> None:
    graph = present(last_graph(report(name), "mindspore-graph"))
    nodes = graph.by_id()
    calls = {node.phase: node for node in graph.nodes if node.kind == "call"}
    branches = ("if x.sum() > 0: true branch", "if x.sum() > 0: false branch")
    assert calls["forward"].calls == branches
    assert calls["backward"].calls == tuple(f"{branch}, backward" for branch in branches)
    for call in calls.values():
        assert call.name == "if x.sum() > 0"
        assert all(output.values for output in call.outputs)
        origins = [nodes[edge.origin] for edge in graph.edges if edge.target == call.id]
        bodies = {origin.body for origin in origins if origin.phase == call.phase}
        assert bodies - {""} == set(call.calls)
    not_taken = (branches[1], f"{branches[1]}, backward")
    for node in graph.nodes:
        ran = node.body not in not_taken
        assert all(output.values is not None for output in node.outputs) == ran, node.op
        if not ran:
            assert node.missing["values"] == NOT_RUN, node.op
