"""Collapsing modules: what merges, what stays in sight, and that no cycle is ever made."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing.shown import show
from explorer.engines.capture.lint import lint
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph, Node, Phase
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph


def collapse(graph: GradGraph, depth: int) -> GradGraph:
    """What is shown of a graph at a depth."""
    return show(graph, depth).graph


def faults(graph: GradGraph) -> list[str]:
    """What is wrong with a graph, but that its ids have gaps: nodes in sight keep theirs."""
    return [fault for fault in lint(graph) if "ids must be n0, n1" not in fault]


def modules(graph: GradGraph, phase: Phase) -> list[Node]:
    """The nodes of a phase that stand for several."""
    return [node for node in graph.nodes if node.kind == "call" and node.phase == phase]


def test_modules_merge_at_the_requested_depth_forward_and_backward_apart_and_stay_linked() -> None:
    graph = drawing_graphs.residual(3)
    shallow, deep = collapse(graph, 2), collapse(graph, 3)
    names = ["blocks.0", "blocks.1", "blocks.2"]
    forward = {node.op: node.id for node in modules(shallow, "forward")}
    assert list(forward) == names
    backward = [(node.op, node.forward) for node in modules(shallow, "backward")]
    assert sorted(backward) == [(name, forward[name]) for name in names]
    assert modules(deep, "forward") == []
    assert faults(shallow) == faults(deep) == []


def test_inputs_and_their_gradients_stay_in_sight() -> None:
    shown = collapse(drawing_graphs.convolution(), 0)
    names = [node.name for node in shown.nodes if node.kind in ("input", "output")]
    assert {"x", "label", "loss", "dx"} <= set(names)
    # Saved edges survive.
    collapsed = collapse(drawing_graphs.convolution(), 1)
    ops = {node.id: node.op for node in collapsed.nodes}
    saved = [edge for edge in collapsed.edges if edge.kind == "saved"]
    assert ("loss", "loss") in [(ops[edge.origin], ops[edge.target]) for edge in saved]


def test_edges_between_modules_are_kept_once_and_those_within_are_gone() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    first = g.add("mul", [x], scope="a")
    second = g.add("exp", [first], scope="a")
    g.add("add", [g.add("neg", [second, first], scope="b"), second], scope="b")
    graph = collapse(g.record(), 1)
    assert [(node.op, node.kind) for node in graph.nodes] == [
        ("input", "input"),
        ("a", "call"),
        ("b", "call"),
    ]
    assert [(edge.origin, edge.target) for edge in graph.edges] == [("n0", "n1"), ("n1", "n3")]


def test_a_module_has_the_outputs_of_the_last_node_read_outside() -> None:
    g = HandmadeGraph()
    inner = g.add("exp", [g.leaf("x", "input")], scope="a", shape=(1,))
    read = g.add("mul", [inner], scope="a", shape=(2,))
    g.add("neg", [inner], scope="a", shape=(3,))
    g.result("y", read)
    (module,) = modules(collapse(g.record(), 1), "forward")
    assert module.outputs[0].shape == (2,)


@pytest.mark.parametrize(
    ("places", "op"),
    [((0, 1, 1), "exp"), ((1, 0), "mul")],
    ids=["the most", "the earliest of as many"],
)
def test_a_module_derives_from_what_most_of_its_nodes_derive_from(
    places: tuple[int, ...], op: str
) -> None:
    g = HandmadeGraph()
    first = g.add("mul", [g.leaf("x", "input")], scope="first")
    second = g.add("exp", [first], scope="second")
    seed = g.seed()
    for place in places:
        seed = g.back("mul", (first, second)[place], [seed], scope="both")
    graph = collapse(g.record(), 1)
    (module,) = modules(graph, "backward")
    assert module.forward == next(node.id for node in graph.nodes if node.op == op)


def test_a_scope_left_and_entered_again_is_split_rather_than_made_a_cycle() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    start = g.add("mul", [g.add("exp", [x], scope="a")], scope="a")
    between = g.add("neg", [start], scope="b")
    g.add("sum", [g.add("add", [between, start], scope="a")], scope="a")
    graph = collapse(g.record(), 1)
    assert faults(graph) == []
    assert [node.op for node in graph.nodes] == ["input", "a", "neg", "a"]


def test_a_scope_is_not_split_where_no_cycle_threatens() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    own = g.add("exp", [x], scope="decoder")
    memory = g.add("tanh", [g.add("mul", [x], scope="encoder")], scope="encoder")
    g.add("add", [own, memory], scope="decoder")
    assert [node.op for node in collapse(g.record(), 1).nodes] == ["input", "decoder", "encoder"]


@pytest.mark.slow
def test_a_chain_of_ten_thousand_nodes_collapses_without_recursion() -> None:
    graph = drawing_graphs.chain(10_000, "blocks.{index}")
    assert len(collapse(graph, 1).nodes) == 6


@st.composite
def nested_graphs(draw: st.DrawFn) -> GradGraph:
    """Graphs in which any node reads any before it, and stands in any module."""
    g = HandmadeGraph()
    ids = [g.leaf("x", "input")]
    for _ in range(draw(st.integers(1, 25))):
        reads = draw(st.lists(st.sampled_from(ids), max_size=3, unique=True))
        ids.append(g.add("op", reads, scope=draw(st.sampled_from(["", "a", "a.b", "a.c", "d"]))))
    return g.record()


@pytest.mark.slow
@settings(max_examples=50)
@given(graph=nested_graphs(), depth=st.integers(0, 3))
def test_whatever_is_collapsed_stays_sound(graph: GradGraph, depth: int) -> None:
    shown = show(graph, depth)
    collapsed, new_ids = shown.graph, shown.homes
    assert faults(collapsed) == []
    assert set(new_ids) == {node.id for node in graph.nodes}
    assert set(new_ids.values()) == {node.id for node in collapsed.nodes}
    between_modules = set()
    for edge in graph.edges:
        link = new_ids[edge.origin], new_ids[edge.target]
        if link[0] != link[1]:
            between_modules.add(link)
    assert {(edge.origin, edge.target) for edge in collapsed.edges} == between_modules


def test_saved_bytes_add_up() -> None:
    nodes = tuple(
        Node(id=f"n{index}", op="mul", kind="op", phase="forward", scope="a", saved_bytes=8)
        for index in range(3)
    )
    graph = GradGraph(engine="torch-tape", case="", stage="tape", nodes=nodes, edges=())
    (module,) = collapse(graph, 1).nodes
    assert module.saved_bytes == 24


def test_a_negative_depth_is_refused() -> None:
    with pytest.raises(UsageError, match="depth is -1"):
        collapse(drawing_graphs.tiny(), -1)
