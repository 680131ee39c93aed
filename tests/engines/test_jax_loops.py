"""Loops, branches and slices of JAX: each step that ran is shown; a slice with steps is one."""

import pytest

from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node
from tests.support.engine_requests import JAX_ENGINES, EngineRequests, compared

pytestmark = pytest.mark.jax

NET = "jax_loops"
CASE = GradCase("value_and_grad", (0, 1), "all")


@pytest.fixture(scope="module", params=JAX_ENGINES)
def graph(request: pytest.FixtureRequest, jax: EngineRequests) -> GradGraph:
    return compared(jax.capture(NET, request.param, CASE, prove="all"))


def ops(graph: GradGraph, op: str, phase: str) -> list[Node]:
    return [node for node in graph.nodes if (node.op, node.phase) == (op, phase)]


def scopes(nodes: list[Node]) -> list[str]:
    return [node.scope for node in nodes]


def test_each_step_of_a_scan_is_shown_and_its_backward_runs_from_the_last_to_the_first(
    graph: GradGraph,
) -> None:
    assert scopes(ops(graph, "tanh", "forward")) == [f"scan[{step}]" for step in range(4)]
    products = [node.scope for node in ops(graph, "transpose", "backward")]
    assert products == [f"scan[{step}]" for step in (3, 2, 1, 0)]
    by_id = {node.id: node for node in graph.nodes}
    sines = [node.scope for node in ops(graph, "sin", "forward") if node.scope != "cond[1]"]
    assert sines == ["scan_2[0]", "scan_2[1]"], "another loop has another name"
    for node in ops(graph, "transpose", "backward"):
        forward = by_id[node.forward or ""]
        assert (forward.op, forward.scope) == ("dot_general", node.scope)


def test_the_branch_that_was_taken_is_shown_alone(graph: GradGraph) -> None:
    assert "cond[1]" in scopes(ops(graph, "sin", "forward"))
    assert not [node for node in graph.nodes if node.scope == "cond[0]"]


def test_a_loop_with_a_condition_shows_as_many_steps_as_ran(graph: GradGraph) -> None:
    in_loop = [node for node in graph.nodes if node.scope.startswith("while")]
    assert [(node.op, node.scope) for node in in_loop] == [
        ("mul", "while[0]"),
        ("mul", "while[1]"),
        ("mul", "while[2]"),
    ]


def test_what_a_step_of_backward_reads_is_what_its_step_of_forward_saved(graph: GradGraph) -> None:
    """No array that puts the saved values together stands between them."""
    stacks = {node.id for node in ops(graph, "stack", "forward")}
    read = {edge.origin for edge in graph.edges if edge.kind == "saved"}
    ids = {node.id: node for node in graph.nodes}
    assert {ids[node].scope for node in read if ids[node].op == "sub"} == {
        f"scan[{step}]" for step in range(4)
    }
    assert len(stacks) == 1  # the one that the net itself returns from the scan


def test_no_loop_or_branch_is_an_operation_of_its_own(graph: GradGraph) -> None:
    assert {node.op for node in graph.nodes}.isdisjoint({"scan", "while", "cond"})


def test_a_long_loop_stays_one_operation(jax: EngineRequests) -> None:
    graph = compared(jax.capture("jax_long_loop", "jax-graph", GradCase("grad", 0)))
    assert len(ops(graph, "scan", "forward")) == 1
    assert len(ops(graph, "scan", "backward")) == 1


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_slice_with_steps_is_a_slice_and_rows_chosen_by_an_array_are_gathered(
    jax: EngineRequests, engine: str
) -> None:
    graph = compared(jax.capture("jax_steps", engine, GradCase("grad", 0), prove="all"))
    sliced = [dict(node.arguments)["strides"] for node in ops(graph, "slice", "forward")]
    assert sliced == [(1, 1, 2), (1, 1, 3), (1, 3, 2)]
    padded = {dict(node.arguments)["padding_config"] for node in ops(graph, "pad", "backward")}
    whole, even, odd = (0, 0, 0), (0, 1, 1), (1, 3, 2)
    assert padded == {whole * 2 + even, whole * 2 + odd, (*whole, 0, 1, 2, 5, 0, 1)}
    assert (len(ops(graph, "gather", "forward")), len(ops(graph, "iota", "forward"))) == (1, 0)
    made = {node.id for node in ops(graph, "broadcast_in_dim", "backward")}
    assert made <= {edge.origin for edge in graph.edges}, "zeros that nothing reads"
    assert {node.proof for node in graph.nodes if node.kind == "op"} == {"proven"}
