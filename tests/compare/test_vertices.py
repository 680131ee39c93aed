"""A graph as the aligner walks it."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align.vertices import Side, view
from explorer.model.graph import Edge, GradGraph, Node, Output
from explorer.numeric.summaries import summarise
from tests.support.computed_graphs import ComputedGraph


def left_side(graph: GradGraph) -> Side:
    return view(graph, graph)[0]


def ids(side: Side) -> list[str]:
    return [node.id for node in side.nodes]


def bare(*nodes: tuple[str, str, int], edges: tuple[Edge, ...]) -> GradGraph:
    """A graph of nodes without values: id, phase and recorded order."""
    records = []
    for node, phase, order in nodes:
        record = {"id": node, "op": "Add", "kind": "op", "phase": phase, "order": order}
        records.append(msgspec.convert(record, Node))
    return GradGraph(engine="a", case="grad", stage="tape", nodes=tuple(records), edges=edges)


@pytest.mark.parametrize("engine", ["a", "b"])
def test_which_of_two_graphs_is_first_does_not_depend_on_the_order_they_come_in(
    engine: str,
) -> None:
    one, other = (ComputedGraph(name) for name in ("a", engine))
    one.leaf("x", np.ones(2), "input")
    other.leaf("x", np.zeros(2), "input")
    graphs = one.record(), other.record()
    left, right = view(*graphs)
    assert (left.other, right.other, left.name, right.name) == (right, left, "left", "right")
    swapped_left, swapped_right = view(*reversed(graphs))
    assert left.is_first is not right.is_first
    assert (left.is_first, right.is_first) == (swapped_right.is_first, swapped_left.is_first)


def test_nodes_come_in_execution_order_forward_first() -> None:
    graph = bare(("n0", "backward", 0), ("n1", "forward", 2), ("n2", "forward", 1), edges=())
    assert ids(left_side(graph)) == ["n2", "n1", "n0"]


def test_no_node_precedes_its_inputs_whatever_order_was_recorded() -> None:
    edges = (Edge("n2", "n1"), Edge("n1", "n0"))
    graph = bare(("n0", "forward", 0), ("n1", "forward", 1), ("n2", "forward", 2), edges=edges)
    assert ids(left_side(graph)) == ["n2", "n1", "n0"]


def test_a_cycle_comes_last_in_the_order_that_was_recorded() -> None:
    edges = (Edge("n0", "n1"), Edge("n1", "n0"))
    graph = bare(("n0", "forward", 0), ("n1", "forward", 1), ("n2", "forward", 2), edges=edges)
    assert ids(left_side(graph)) == ["n2", "n0", "n1"]


def test_control_edges_carry_no_value() -> None:
    edges = (Edge("n1", "n0", kind="control"),)
    graph = bare(("n0", "forward", 0), ("n1", "forward", 1), edges=edges)
    assert ids(left_side(graph)) == ["n0", "n1"]
    assert all(node.inputs == [] for node in left_side(graph).nodes)


def test_inputs_come_in_the_order_of_their_slots_however_edges_were_drawn() -> None:
    nodes = (("n0", "forward", 0), ("n1", "forward", 1), ("n2", "forward", 2))
    edges = (Edge("n0", "n2", input=1), Edge("n1", "n2", input=0))
    for drawn in (edges, edges[::-1]):
        sum_ = left_side(bare(*nodes, edges=drawn)).nodes[2]
        assert [value.node.id for value in sum_.inputs] == ["n1", "n0"]


def test_the_main_value_is_the_first_that_was_observed() -> None:
    observed = Output((2,), "float64", summarise(np.arange(2.0)))
    unobserved = Output((3,), "float64")
    for outputs, main in (((unobserved, observed), 1), ((observed, unobserved), 0)):
        record = Node(id="n0", op="Add", kind="op", phase="forward", outputs=outputs)
        graph = GradGraph(engine="a", case="grad", stage="tape", nodes=(record,), edges=())
        node = left_side(graph).nodes[0]
        assert node.main is node.values[main]
        assert node.main.is_main


def test_a_node_without_observed_values_has_its_first_output_as_value() -> None:
    node = left_side(bare(("n0", "forward", 0), edges=())).nodes[0]
    assert node.main is None
    assert node.value is node.output(0)
    assert node.value.size == 1


def test_an_output_that_the_record_does_not_list_is_one_of_the_node_and_unobserved() -> None:
    graph = ComputedGraph("a")
    graph.hold("Split", np.ones(2))
    (node,) = left_side(graph.record()).nodes
    further = node.output(2)
    assert further is node.output(2)
    assert [value.output for value in node.values] == [0, 1, 2]
    assert all(value.node is node for value in node.values)
    assert further.summary is None
    assert not further.is_main


def test_an_index_stands_for_an_op_only_where_it_yields_nothing_else() -> None:
    index, least = (summarise(array) for array in (np.array([1]), np.array([0.5])))
    outputs = Output((1,), "int32", index), Output((1,), "float32", least)
    for yielded, place in ((outputs, 1), (outputs[:1], 0)):
        node = Node(id="n0", op="ArgMin", kind="op", phase="forward", outputs=yielded)
        graph = GradGraph(engine="a", case="", stage="", nodes=(node,), edges=())
        assert left_side(graph).nodes[0].value.output == place
