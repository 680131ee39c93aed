"""The graph builder: what becomes of nodes and edges when a graph is finished."""

from typing import Any

import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.lint import lint
from explorer.model.graph import Absence, Edge, GradGraph, Node, Output
from tests.support.built_graphs import built

NO_LINE, NO_VALUES = Absence("added_by_capture"), Absence("unwritten")
"""Why a node has no line of its own, or no values."""


def finished(builder: GraphBuilder) -> GradGraph:
    return builder.record("torch-tape", "a case", "tape")


def ends(graph: GradGraph) -> list[tuple[str, str]]:
    """The edges by the ops that they join."""
    ops = {node.id: node.op for node in graph.nodes}
    return [(ops[edge.origin], ops[edge.target]) for edge in graph.edges]


def kinds(graph: GradGraph) -> list[str]:
    return [edge.kind for edge in graph.edges]


def node(graph: GradGraph, name: str) -> Node:
    (only,) = (node for node in graph.nodes if node.op == name)
    return only


# Nodes and edges


def test_nodes_are_numbered_in_the_order_in_which_they_were_added() -> None:
    builder, numbers = built("a\nb\nc")
    assert numbers == {"a": 0, "b": 1, "c": 2}
    graph = finished(builder)
    assert [(node.id, node.order) for node in graph.nodes] == [("n0", 0), ("n1", 1), ("n2", 2)]


def test_the_record_has_the_fields_of_the_draft_as_they_are_at_the_end() -> None:
    builder = GraphBuilder()
    number = builder.add("matmul", "op", "forward", name="h")
    later: dict[str, Any] = {
        "kind": "call",
        "phase": "backward",
        "scope": "fc",
        "source": ("net.py:1",),
        "outputs": (Output((2,), "float32"),),
        "body": "a branch",
        "calls": ("another",),
        "saved_bytes": 12,
        "tape": "MmBackward0",
        "missing": {"values": "none"},
    }
    for field, value in later.items():
        setattr(builder.nodes[number], field, value)
    graph = builder.record("torch-graph", "a case", "joint", notes=("whole_forward",))
    assert graph.nodes == (Node(id="n0", op="matmul", name="h", order=0, **later),)
    assert (graph.engine, graph.case, graph.stage) == ("torch-graph", "a case", "joint")
    assert graph.notes == ("whole_forward",)


def test_an_input_that_no_tensor_fills_keeps_its_place() -> None:
    builder, _ = built("x")
    builder.add("convolution", "op", "forward", ((0, 0), None, (0, 1)))
    assert finished(builder).edges == (Edge("n0", "n1", 0, 0), Edge("n0", "n1", 1, 2))


def test_an_edge_from_forward_into_backward_is_saved_and_any_other_with_a_value_is_data() -> None:
    builder, _ = built("x\nh: x\nseed back\ndh back: h seed")
    assert kinds(finished(builder)) == ["data", "saved", "data"]


def test_a_control_edge_stands_among_the_others_in_the_order_in_which_it_was_drawn() -> None:
    builder, _ = built("draw\nagain")
    builder.control(0, 1)
    builder.add("sum", "op", "forward", ((0, 0), (1, 0)))
    assert kinds(finished(builder)) == ["control", "data", "data"]
    assert not builder.connected((0, 0), 1, 0)
    assert list(builder.edges()) == [((0, 0), 2, 0), ((1, 0), 2, 1)]


def test_an_edge_that_is_drawn_twice_is_one_edge() -> None:
    builder, _ = built("x\ny: x")
    builder.connect((0, 0), 1, 0)
    builder.control(0, 1)
    builder.control(0, 1)
    assert kinds(finished(builder)) == ["data", "control"]


def test_what_a_node_reads_is_known_while_the_graph_grows() -> None:
    builder = GraphBuilder()
    x = builder.add("input", "input", "forward", name="x")
    w = builder.add("parameter", "parameter", "forward", name="fc.weight")
    builder.add("input", "input", "forward", name="t", body="a branch")
    product = builder.add("matmul", "op", "forward", ((x, 0), (w, 0)))
    gradient = builder.add("matmul", "op", "backward", ((w, 0),), forward=product)
    assert builder.leaves() == {"x": x, "fc.weight": w}
    assert builder.feeds() == {product: [x, w], gradient: [w]}
    assert builder.connected((w, 0), product, 1)
    assert builder.forward_of(gradient) == builder.forward_of(product) == product
    assert builder.forward_of(None) is None
    assert builder.forward_of(builder.add("seed", "op", "backward")) is None


# Nodes that are taken out again


def test_who_reads_a_replaced_node_reads_what_stands_for_it() -> None:
    builder, _ = built("x\npick: x\nrelu: pick")
    builder.replace(1, [(0, 3)])
    graph = finished(builder)
    assert [node.id for node in graph.nodes] == ["n0", "n1"]
    assert graph.edges == (Edge("n0", "n1", 3, 0),)
    assert list(builder.kept()) == [0, 2]
    assert [builder.is_kept(number) for number in range(3)] == [True, False, True]


def test_each_output_of_a_replaced_node_has_its_own_slot_and_the_first_stands_for_the_rest() -> (
    None
):
    builder, _ = built("a\nb\ncall: a b")
    builder.add("reader", "op", "forward", ((2, 0), (2, 1), (2, 2)))
    builder.replace(2, [(0, 0), (1, 0)])
    assert ends(finished(builder)) == [("a", "reader"), ("b", "reader"), ("a", "reader")]


@pytest.mark.slow
def test_a_chain_of_replaced_nodes_is_followed_to_its_end() -> None:
    aliases = [f"n{number + 1} alias: n{number}" for number in range(10_000)]
    builder, _ = built("\n".join(["n0 x", *aliases, "relu: n10000"]))
    for number in range(10_000):
        builder.replace(number + 1, [(number, 0)])
    assert builder.resolve((10_000, 0)) == (0, 0)
    assert ends(finished(builder)) == [("x", "relu")]


def test_what_is_replaced_anew_is_followed_to_its_new_end() -> None:
    builder, _ = built("x\ny\nalias: x\nagain: alias")
    builder.replace(3, [(2, 0)])
    assert builder.resolve((3, 0)) == (2, 0)
    for end in (0, 1):
        builder.replace(2, [(end, 0)])
        assert builder.resolve((3, 0)) == (end, 0)


def test_two_edges_that_become_one_where_a_node_is_replaced_are_one() -> None:
    builder, _ = built("x\nalias: x\nrelu: x")
    builder.connect((1, 0), 2, 0)
    builder.replace(1, [(0, 0)])
    assert ends(finished(builder)) == [("x", "relu")]


def test_a_removed_node_goes_with_the_edges_that_lead_to_it() -> None:
    builder, _ = built("x\nunread: x\nrelu: x")
    builder.control(0, 1)
    builder.remove(1)
    graph = finished(builder)
    assert ends(graph) == [("x", "relu")]
    assert (node(graph, "relu").id, node(graph, "relu").order) == ("n1", 1)
    assert list(builder.kept()) == [0, 2]
    assert [builder.is_kept(number) for number in range(3)] == [True, False, True]


def test_a_control_edge_from_a_replaced_node_starts_where_its_first_output_comes_from() -> None:
    builder, _ = built("a\nb\ncall\nlater")
    builder.control(2, 3)
    builder.replace(2, [(1, 0), (0, 0)])
    assert finished(builder).edges == (Edge("n1", "n2", kind="control"),)


def test_a_forward_link_to_a_replaced_node_leads_to_what_stands_for_it() -> None:
    builder, _ = built("dropped\nh\nalias: h\ndh back of alias")
    builder.replace(2, [(1, 0)])
    builder.remove(0)
    graph = finished(builder)
    assert node(graph, "dh").forward == node(graph, "h").id == "n0"
    assert lint(graph) == []


# Sources of sums


def sums(text: str, **missing: Absence) -> list[Node]:
    """The sums of a text, the first of which has these reasons."""
    builder, _ = built(text)
    first = next(node for node in builder.nodes if node.kind == "accumulate")
    first.missing = missing
    return [node for node in finished(builder).nodes if node.kind == "accumulate"]


def test_a_sum_of_gradients_takes_the_first_line_of_each_addend_in_their_order() -> None:
    text = "second back @2\nfirst back @1,9\ntotal sum: second first second"
    (total,) = sums(text, source=NO_LINE, values=NO_VALUES)
    assert total.source == ("net.py:2", "net.py:1")
    assert total.missing == {"values": NO_VALUES}


def test_a_sum_of_sums_takes_the_lines_that_those_took() -> None:
    inner, outer = sums("a back @1\nb back @2\nc back @3\ni sum: a b\no sum: i c")
    assert (inner.source, outer.source) == (("net.py:1", "net.py:2"), ("net.py:1", "net.py:3"))


def test_a_sum_reads_its_lines_through_replaced_nodes() -> None:
    builder, _ = built("gradient back @7\nalias back @8: gradient\ntotal sum: alias")
    builder.replace(1, [(0, 0)])
    assert node(finished(builder), "sum").source == ("net.py:7",)


def test_a_sum_whose_addends_have_no_lines_or_which_has_its_own_stays_as_it_is() -> None:
    (own,) = sums("gradient back @3\ntotal sum @5: gradient")
    assert (own.source, own.missing) == (("net.py:5",), {})
    (without,) = sums("gradient back\ntotal sum: gradient", source=NO_LINE)
    assert (without.source, without.missing) == ((), {"source": NO_LINE})
