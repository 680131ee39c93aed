"""The graph builder: what becomes of nodes and edges when a graph is finished."""

from typing import Any

import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.lint import lint
from explorer.model.graph import Absence, Edge, GradGraph, Node, Output, Phase

NO_LINE, NO_VALUES = Absence("added_by_capture"), Absence("unwritten")
"""Why a node has no line of its own, or no values."""


def finished(builder: GraphBuilder) -> GradGraph:
    return builder.record("torch-tape", "a case", "tape")


def op(
    builder: GraphBuilder, name: str, *inputs: int, phase: Phase = "forward", line: str = ""
) -> int:
    """An operator with one output that reads the first outputs of ``inputs``."""
    slots = tuple((number, 0) for number in inputs)
    source = (line,) if line else ()
    return builder.add(name, "op", phase, slots, source=source, outputs=(Output((), "float32"),))


def accumulation(builder: GraphBuilder, *addends: int, **fields: object) -> int:
    slots = tuple((number, 0) for number in addends)
    return builder.add("add", "accumulate", "backward", slots, **fields)


def ends(graph: GradGraph) -> list[tuple[str, str]]:
    """The edges by the ops that they join."""
    ops = {node.id: node.op for node in graph.nodes}
    return [(ops[edge.origin], ops[edge.target]) for edge in graph.edges]


def node(graph: GradGraph, name: str) -> Node:
    (only,) = (node for node in graph.nodes if node.op == name)
    return only


# Nodes and edges


def test_nodes_are_numbered_in_the_order_in_which_they_were_added() -> None:
    builder = GraphBuilder()
    assert [op(builder, "a"), op(builder, "b"), op(builder, "c")] == [0, 1, 2]
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
    builder = GraphBuilder()
    x = op(builder, "x")
    builder.add("convolution", "op", "forward", ((x, 0), None, (x, 1)))
    assert finished(builder).edges == (Edge("n0", "n1", 0, 0), Edge("n0", "n1", 1, 2))


def test_an_edge_from_forward_into_backward_is_saved_and_any_other_with_a_value_is_data() -> None:
    builder = GraphBuilder()
    x = op(builder, "x")
    h = op(builder, "h", x)
    seed = op(builder, "seed", phase="backward")
    op(builder, "dh", h, seed, phase="backward")
    assert [edge.kind for edge in finished(builder).edges] == ["data", "saved", "data"]


def test_a_control_edge_stands_among_the_others_in_the_order_in_which_it_was_drawn() -> None:
    builder = GraphBuilder()
    first = op(builder, "draw")
    second = op(builder, "draw again")
    builder.control(first, second)
    op(builder, "sum", first, second)
    assert [edge.kind for edge in finished(builder).edges] == ["control", "data", "data"]
    assert not builder.connected((first, 0), second, 0)
    assert list(builder.edges()) == [((0, 0), 2, 0), ((1, 0), 2, 1)]


def test_an_edge_that_is_drawn_twice_is_one_edge() -> None:
    builder = GraphBuilder()
    x = op(builder, "x")
    y = op(builder, "y", x)
    builder.connect((x, 0), y, 0)
    builder.control(x, y)
    builder.control(x, y)
    assert [edge.kind for edge in finished(builder).edges] == ["data", "control"]


def test_what_a_node_reads_is_known_while_the_graph_grows() -> None:
    builder = GraphBuilder()
    x = builder.add("input", "input", "forward", name="x")
    w = builder.add("parameter", "parameter", "forward", name="fc.weight")
    builder.add("input", "input", "forward", name="t", body="a branch")
    product = op(builder, "matmul", x, w)
    gradient = builder.add("matmul", "op", "backward", ((w, 0),), forward=product)
    assert builder.leaves() == {"x": x, "fc.weight": w}
    assert builder.feeds() == {product: [x, w], gradient: [w]}
    assert builder.connected((w, 0), product, 1)
    assert builder.forward_of(gradient) == builder.forward_of(product) == product
    assert builder.forward_of(None) is None
    assert builder.forward_of(op(builder, "seed", phase="backward")) is None


# Nodes that are taken out again


def test_who_reads_a_replaced_node_reads_what_stands_for_it() -> None:
    builder = GraphBuilder()
    x = op(builder, "x")
    picked = op(builder, "pick", x)
    op(builder, "relu", picked)
    builder.replace(picked, [(x, 3)])
    graph = finished(builder)
    assert [node.id for node in graph.nodes] == ["n0", "n1"]
    assert graph.edges == (Edge("n0", "n1", 3, 0),)
    assert list(builder.kept()) == [0, 2]
    assert [builder.is_kept(number) for number in range(3)] == [True, False, True]


def test_each_output_of_a_replaced_node_has_its_own_slot_and_the_first_stands_for_the_rest() -> (
    None
):
    builder = GraphBuilder()
    a, b = op(builder, "a"), op(builder, "b")
    call = builder.add("call", "call", "forward", ((a, 0), (b, 0)))
    builder.add("reader", "op", "forward", ((call, 0), (call, 1), (call, 2)))
    builder.replace(call, [(a, 0), (b, 0)])
    assert ends(finished(builder)) == [("a", "reader"), ("b", "reader"), ("a", "reader")]


@pytest.mark.slow
def test_a_chain_of_replaced_nodes_is_followed_to_its_end() -> None:
    builder = GraphBuilder()
    first = op(builder, "x")
    last = first
    for _ in range(10_000):
        alias = op(builder, "alias", last)
        builder.replace(alias, [(last, 0)])
        last = alias
    op(builder, "relu", last)
    assert builder.resolve((last, 0)) == (first, 0)
    assert ends(finished(builder)) == [("x", "relu")]


def test_what_is_replaced_anew_is_followed_to_its_new_end() -> None:
    builder = GraphBuilder()
    x, y = op(builder, "x"), op(builder, "y")
    alias = op(builder, "alias", x)
    again = op(builder, "alias", alias)
    builder.replace(again, [(alias, 0)])
    assert builder.resolve((again, 0)) == (alias, 0)
    builder.replace(alias, [(x, 0)])
    assert builder.resolve((again, 0)) == (x, 0)
    builder.replace(alias, [(y, 0)])
    assert builder.resolve((again, 0)) == (y, 0)


def test_two_edges_that_become_one_where_a_node_is_replaced_are_one() -> None:
    builder = GraphBuilder()
    x = op(builder, "x")
    alias = op(builder, "alias", x)
    relu = op(builder, "relu", x)
    builder.connect((alias, 0), relu, 0)
    builder.replace(alias, [(x, 0)])
    assert ends(finished(builder)) == [("x", "relu")]


def test_a_removed_node_goes_with_the_edges_that_lead_to_it() -> None:
    builder = GraphBuilder()
    x = op(builder, "x")
    unread = op(builder, "unread", x)
    relu = op(builder, "relu", x)
    builder.control(x, unread)
    builder.remove(unread)
    graph = finished(builder)
    assert ends(graph) == [("x", "relu")]
    assert (node(graph, "relu").id, node(graph, "relu").order) == ("n1", 1)
    assert list(builder.kept()) == [x, relu]
    assert [builder.is_kept(number) for number in (x, unread, relu)] == [True, False, True]


def test_a_control_edge_from_a_replaced_node_starts_where_its_first_output_comes_from() -> None:
    builder = GraphBuilder()
    a, b = op(builder, "a"), op(builder, "b")
    call = builder.add("call", "call", "forward")
    later = op(builder, "later")
    builder.control(call, later)
    builder.replace(call, [(b, 0), (a, 0)])
    assert finished(builder).edges == (Edge("n1", "n2", kind="control"),)


def test_a_forward_link_to_a_replaced_node_leads_to_what_stands_for_it() -> None:
    builder = GraphBuilder()
    op(builder, "dropped")
    h = op(builder, "h")
    alias = op(builder, "alias", h)
    builder.add("dh", "op", "backward", forward=alias)
    builder.replace(alias, [(h, 0)])
    builder.remove(0)
    graph = finished(builder)
    assert node(graph, "dh").forward == node(graph, "h").id == "n0"
    assert lint(graph) == []


# Sources of sums


def test_a_sum_of_gradients_takes_the_first_line_of_each_addend_in_their_order() -> None:
    builder = GraphBuilder()
    second = op(builder, "second", phase="backward", line="net.py:2")
    first = builder.add("first", "op", "backward", source=("net.py:1", "net.py:9"))
    accumulation(builder, second, first, second, missing={"source": NO_LINE, "values": NO_VALUES})
    total = node(finished(builder), "add")
    assert total.source == ("net.py:2", "net.py:1")
    assert total.missing == {"values": NO_VALUES}


def test_a_sum_of_sums_takes_the_lines_that_those_took() -> None:
    builder = GraphBuilder()
    a, b, c = (op(builder, name, phase="backward", line=f"net.py:{name}") for name in "abc")
    inner = accumulation(builder, a, b)
    accumulation(builder, inner, c)
    sums = [node for node in finished(builder).nodes if node.kind == "accumulate"]
    assert [total.source for total in sums] == [("net.py:a", "net.py:b"), ("net.py:a", "net.py:c")]


def test_a_sum_reads_its_lines_through_replaced_nodes() -> None:
    builder = GraphBuilder()
    gradient = op(builder, "gradient", phase="backward", line="net.py:7")
    alias = op(builder, "alias", gradient, phase="backward", line="net.py:8")
    builder.replace(alias, [(gradient, 0)])
    accumulation(builder, alias)
    assert node(finished(builder), "add").source == ("net.py:7",)


@pytest.mark.parametrize("line", ["", "net.py:3"])
def test_a_sum_whose_addends_have_no_lines_or_which_has_its_own_stays_as_it_is(line: str) -> None:
    builder = GraphBuilder()
    addend = op(builder, "gradient", phase="backward", line=line)
    own = ("net.py:5",) if line else ()
    accumulation(builder, addend, source=own, missing={} if line else {"source": NO_LINE})
    total = node(finished(builder), "add")
    assert total.source == own
    assert total.missing == ({} if line else {"source": NO_LINE})
