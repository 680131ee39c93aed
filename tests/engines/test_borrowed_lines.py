"""Nodes to which the framework gives no line of the net: they take that of a node beside them."""

import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.model.graph import Absence, Node, Phase


def op(
    builder: GraphBuilder,
    name: str,
    *inputs: int,
    phase: Phase = "forward",
    source: tuple[str, ...] = (),
    forward: int | None = None,
    missing: dict[str, Absence] | None = None,
) -> int:
    slots = tuple((number, 0) for number in inputs)
    return builder.add(
        name, "op", phase, slots, source=source, forward=forward, missing=missing or {}
    )


def recorded(builder: GraphBuilder, name: str) -> Node:
    graph = builder.record("mindspore-graph", "a case", "validate")
    (only,) = (node for node in graph.nodes if node.op == name)
    return only


def test_a_forward_node_takes_the_line_that_its_gradient_still_has() -> None:
    builder = GraphBuilder()
    before = op(builder, "before", source=("net.py:1",))
    lost = op(builder, "lost", before)
    op(builder, "after", lost, source=("net.py:1",))
    op(builder, "gradient", phase="backward", source=("net.py:2",), forward=lost)
    node = recorded(builder, "lost")
    assert node.source == ("net.py:2",)
    assert node.missing["source"] == Absence("line_of_gradient")


def test_a_backward_node_takes_the_line_of_its_forward_node() -> None:
    builder = GraphBuilder()
    forward = op(builder, "forward", source=("net.py:1",))
    beside = op(builder, "beside", phase="backward", source=("net.py:9",))
    op(builder, "lost", beside, phase="backward", forward=forward)
    assert recorded(builder, "lost").source == ("net.py:1",)


def test_a_line_on_both_sides_counts_before_one_on_one_side() -> None:
    builder = GraphBuilder()
    first = op(builder, "first", source=("net.py:1",))
    second = op(builder, "second", source=("net.py:2",))
    lost = op(builder, "lost", first, second)
    op(builder, "after", lost, source=("net.py:2",))
    assert recorded(builder, "lost").source == ("net.py:2",)


def test_the_line_of_what_a_node_reads_counts_before_that_of_what_reads_it() -> None:
    builder = GraphBuilder()
    first = op(builder, "first", source=("net.py:1",))
    lost = op(builder, "lost", first)
    op(builder, "after", lost, source=("net.py:2",))
    assert recorded(builder, "lost").source == ("net.py:1",)


def test_several_nodes_in_a_row_behind_an_input_take_the_line_of_what_reads_the_last() -> None:
    builder = GraphBuilder()
    row = [builder.add("x", "input", "forward")]
    for name in ("a", "b", "c"):
        row.append(op(builder, name, row[-1]))
    op(builder, "after", row[-1], source=("net.py:5",))
    assert [recorded(builder, name).source for name in "abc"] == [("net.py:5",)] * 3


def test_lines_of_the_library_stay_behind_the_borrowed_one() -> None:
    builder = GraphBuilder()
    first = op(builder, "first", source=("net.py:1",))
    op(builder, "lost", first, source=("mindspore/ops/math.py:7",))
    assert recorded(builder, "lost").source == ("net.py:1", "mindspore/ops/math.py:7")


def test_a_neighbour_of_the_other_phase_lends_no_line() -> None:
    builder = GraphBuilder()
    forward = op(builder, "forward", source=("net.py:1",))
    op(builder, "lost", forward, phase="backward")
    assert recorded(builder, "lost").source == ()


@pytest.mark.parametrize(
    ("source", "missing"), [(("net.py:3",), {}), ((), {"source": Absence("added_by_capture")})]
)
def test_a_node_with_its_own_line_or_its_own_reason_borrows_none(
    source: tuple[str, ...], missing: dict[str, Absence]
) -> None:
    builder = GraphBuilder()
    first = op(builder, "first", source=("net.py:1",))
    op(builder, "own", first, source=source, missing=missing)
    node = recorded(builder, "own")
    assert (node.source, node.missing) == (source, missing)


def test_leaves_and_results_stand_on_no_line() -> None:
    builder = GraphBuilder()
    leaf = builder.add("x", "input", "forward")
    node = op(builder, "first", leaf, source=("net.py:1",))
    builder.add("out", "output", "forward", ((node, 0),))
    assert recorded(builder, "x").source == recorded(builder, "out").source == ()
