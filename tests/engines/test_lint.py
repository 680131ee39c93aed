"""The checker of captured graphs: it is silent on a sound one, and notices each kind of mistake."""

import msgspec
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.graph import Edge, GradGraph, Node, NodeKind, Output, Phase

LONG = 10_000


def node(
    number: int, kind: NodeKind = "op", phase: Phase = "forward", forward: str | None = None
) -> Node:
    outputs = (Output((), "float32"),)
    return Node(id=f"n{number}", op="op", kind=kind, phase=phase, forward=forward, outputs=outputs)


def graph(nodes: list[Node], edges: list[Edge]) -> GradGraph:
    return GradGraph(
        engine="torch-tape", case="a case", stage="tape", nodes=tuple(nodes), edges=tuple(edges)
    )


NODES = [node(0, "input"), node(1), node(2, phase="backward", forward="n1")]
EDGES = [Edge("n0", "n1"), Edge("n1", "n2", kind="saved"), Edge("n0", "n2", input=1)]


def test_a_sound_graph_has_no_fault() -> None:
    assert lint(graph(NODES, EDGES)) == []


@pytest.mark.parametrize(
    ("number", "edge", "fault"),
    [
        (0, Edge("n0", "n9"), "n9, which does not exist"),
        (0, Edge("n9", "n8"), "n9, n8, which does not exist"),
        (1, Edge("n1", "n2"), "its kind should be 'saved'"),
        (0, Edge("n0", "n1", kind="saved"), "does not lead from forward into backward"),
        (1, Edge("n2", "n1"), "leads from backward into forward"),
        (0, Edge("n0", "n1", output=1), "output 1 of a node with 1"),
    ],
)
def test_an_edge_that_breaks_the_contract_is_named(number: int, edge: Edge, fault: str) -> None:
    edges = list(EDGES)
    edges[number] = edge
    (sentence,) = lint(graph(NODES, edges))
    assert f"edge {edge.origin}→{edge.target}" in sentence
    assert fault in sentence


def test_a_leaf_may_be_read_in_backward_as_data_and_a_control_edge_may_leave_any_output() -> None:
    edges = [*EDGES, Edge("n1", "n2", output=5, kind="control")]
    assert lint(graph(NODES, edges)) == []


def test_the_forward_of_a_second_pass_may_have_to_wait_for_the_backward_of_the_first() -> None:
    nodes = [*NODES, node(3)]
    edges = [*EDGES, Edge("n0", "n3"), Edge("n2", "n3", kind="control")]
    assert lint(graph(nodes, edges)) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (node(2, phase="backward", forward="n9"), "n9, which does not exist"),
        (node(2, phase="backward", forward="n2"), "from a backward node to a forward node"),
    ],
)
def test_a_forward_link_that_leads_elsewhere_is_named(changed: Node, fault: str) -> None:
    (sentence,) = lint(graph([*NODES[:2], changed], EDGES))
    assert sentence.startswith("n2")
    assert fault in sentence


def test_a_forward_node_derives_from_nothing() -> None:
    nodes = [NODES[0], msgspec.structs.replace(NODES[1], forward="n0"), NODES[2]]
    (sentence,) = lint(graph(nodes, EDGES))
    assert "n1 (forward) derives from n0 (forward)" in sentence


def test_ids_that_do_not_count_up_are_named_once() -> None:
    nodes = [node(0), node(2), node(3)]
    (sentence,) = lint(graph(nodes, []))
    assert "node 1 has the id 'n2' instead of 'n1'" in sentence


@pytest.mark.slow
def test_a_cycle_is_found_behind_a_sound_part_of_any_length() -> None:
    nodes = [node(number) for number in range(LONG)]
    chain = [Edge(f"n{number}", f"n{number + 1}") for number in range(LONG - 1)]
    assert lint(graph(nodes, chain)) == []
    back = Edge(f"n{LONG - 1}", f"n{LONG - 3}", input=1)
    (sentence,) = lint(graph(nodes, [*chain, back]))
    assert sentence.startswith(f"3 nodes lie on or behind a cycle, first n{LONG - 3}")
