"""Collapsing modules: what merges, what stays in sight, and that no cycle is ever made."""

import time

import pytest

from explorer.drawing import collapse
from explorer.engines.capture.lint import lint
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph, Node
from tests import drawing_graphs
from tests.drawing_graphs import Build


def named(graph: GradGraph, op: str, phase: str = "forward") -> list[Node]:
    """The nodes of a phase with an operator's name."""
    return [node for node in graph.nodes if node.op == op and node.phase == phase]


def test_modules_merge_at_the_depth_asked_for() -> None:
    graph = drawing_graphs.residual(3)
    shallow, deep = collapse(graph, 2), collapse(graph, 3)
    assert [
        node.op for node in shallow.nodes if node.kind == "call" and node.phase == "forward"
    ] == [
        "blocks.0",
        "blocks.1",
        "blocks.2",
    ]
    assert not [node for node in deep.nodes if node.kind == "call" and node.phase == "forward"]
    assert lint(shallow) == lint(deep) == []


def test_forward_and_backward_merge_apart_and_stay_linked() -> None:
    graph = collapse(drawing_graphs.residual(3), 2)
    for scope in ("blocks.0", "blocks.1", "blocks.2"):
        forward, backward = named(graph, scope), named(graph, scope, "backward")
        assert len(forward) == len(backward) == 1
        assert backward[0].forward == forward[0].id


def test_inputs_parameters_and_gradients_stay_in_sight() -> None:
    graph = drawing_graphs.convolution()
    for kind in ("input", "parameter", "output"):
        assert [n.name for n in collapse(graph, 0).nodes if n.kind == kind] == [
            n.name for n in graph.nodes if n.kind == kind
        ]


def test_edges_between_modules_are_kept_once_and_those_within_are_gone() -> None:
    b = Build()
    x = b.leaf("x", "input")
    first = b.add("mul", [x], scope="a")
    second = b.add("exp", [first], scope="a")
    b.add("add", [b.add("neg", [second, first], scope="b"), second], scope="b")
    graph = collapse(b.graph(), 1)
    assert [(node.op, node.kind) for node in graph.nodes] == [
        ("input", "input"),
        ("a", "call"),
        ("b", "call"),
    ]
    assert [(edge.origin, edge.target) for edge in graph.edges] == [("n0", "n1"), ("n1", "n2")]


def test_a_scope_left_and_entered_again_is_split_rather_than_made_a_cycle() -> None:
    b = Build()
    x = b.leaf("x", "input")
    start = b.add("mul", [b.add("exp", [x], scope="a")], scope="a")
    between = b.add("neg", [start], scope="b")
    b.add("sum", [b.add("add", [between, start], scope="a")], scope="a")
    graph = collapse(b.graph(), 1)
    assert lint(graph) == []
    assert [node.op for node in graph.nodes] == ["input", "a", "neg", "a"]


def test_a_scope_is_not_split_where_no_cycle_threatens() -> None:
    b = Build()
    x = b.leaf("x", "input")
    own = b.add("exp", [x], scope="decoder")
    memory = b.add("tanh", [b.add("mul", [x], scope="encoder")], scope="encoder")
    b.add("add", [own, memory], scope="decoder")
    assert [node.op for node in collapse(b.graph(), 1).nodes] == ["input", "decoder", "encoder"]


def test_saved_edges_and_saved_bytes_survive() -> None:
    graph = drawing_graphs.convolution()
    merged = collapse(graph, 1)
    kinds = {
        (merged.by_id()[edge.origin].op, merged.by_id()[edge.target].op)
        for edge in merged.edges
        if edge.kind == "saved"
    }
    assert ("loss", "loss") in kinds
    assert sum(node.saved_bytes for node in merged.nodes) == sum(
        node.saved_bytes for node in graph.nodes
    )


def test_a_chain_of_ten_thousand_nodes_collapses_without_recursion_and_in_linear_time() -> None:
    graph = drawing_graphs.chain(10_000, "blocks.{index}")
    start = time.perf_counter()
    assert len(collapse(graph, 1).nodes) == 6
    assert time.perf_counter() - start < 10


def test_interleaved_scopes_of_ten_thousand_nodes_stay_acyclic() -> None:
    b = Build()
    last = b.leaf("x", "input")
    for index in range(10_000):
        last = b.add("tanh", [last], scope="ab"[index % 2])
    assert lint(collapse(b.graph(), 1)) == []


def test_a_negative_depth_is_refused() -> None:
    with pytest.raises(UsageError, match="depth is -1"):
        collapse(drawing_graphs.tiny(), -1)
