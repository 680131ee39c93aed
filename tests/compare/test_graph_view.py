"""What reads what in a graph: rows of ops, and the op before and behind one."""

import msgspec
import pytest

from explorer.compare.causes.rows import at_place
from explorer.compare.graphs.view import MOVES, GraphView, reach
from explorer.model.divergence import Place
from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph


def chain(*ops: str) -> GradGraph:
    """An input, and ops in a row that read it: "n1", "n2", …"""
    made = HandmadeGraph()
    last = made.leaf("x", "input")
    for op in ops:
        last = made.add(op, [last])
    return made.record()


def test_what_only_moves_numbers_is_passed_on_the_way_to_an_op() -> None:
    view = GraphView(
        chain("aten.mul", "aten.view.default", "aten.permute.default", "aten.exp.default")
    )
    first, reshaped, permute, last = (view.nodes[f"n{number}"] for number in (1, 2, 3, 4))
    assert view.next_op(first) is permute
    assert view.next_op(first, MOVES) is last
    assert view.next_op(last) is None
    assert view.previous_op(permute) is first
    assert view.previous_op(last, MOVES) is first
    assert view.previous_op(first) is None
    assert view.is_handed_on(permute.id, first)
    assert view.is_handed_on(reshaped.id, reshaped)
    assert not view.is_handed_on(last.id, first)


def test_an_op_with_several_readers_has_no_next_one() -> None:
    made = HandmadeGraph()
    x = made.leaf("x", "input")
    y = made.add("aten.mul", [x])
    both = [made.add("aten.exp.default", [y]), made.add("aten.sin.default", [y])]
    z = made.add("aten.add.Tensor", both)
    view = GraphView(made.record())
    assert view.next_op(view.nodes[y]) is None
    assert view.previous_op(view.nodes[z]) is None
    assert view.behind(y) == {y, *both, z}
    assert [node.id for node in view.row(y, z)] == [y, *both, z]
    assert [node.id for node in view.row(y, "")] == [y]


def test_of_ops_that_one_line_makes_in_several_modules_a_place_is_one() -> None:
    made = HandmadeGraph()
    for scope in ("a", "b"):
        made.add("Conv2D", scope=scope)
    view = GraphView(made.record())
    for node in view.graph.nodes:
        assert at_place(view, Place(label=node.op, scope=node.scope, source=node.source[0])) is node


def with_mask(record: GradGraph, mask: str) -> GraphView:
    """A graph of which one node yields truth values."""
    nodes = []
    for node in record.nodes:
        outputs = tuple(msgspec.structs.replace(it, dtype="bool") for it in node.outputs)
        is_mask = node.id == mask
        nodes.append(msgspec.structs.replace(node, outputs=outputs) if is_mask else node)
    return GraphView(msgspec.structs.replace(record, nodes=tuple(nodes)))


def test_a_mask_of_a_value_is_no_op_behind_it_where_there_is_another() -> None:
    made = HandmadeGraph()
    total = made.add("add", [made.leaf("x", "input")])
    relu = made.add("max", [total])
    mask = made.add("gt", [total])
    view = with_mask(made.record(), mask)
    assert view.next_op(view.nodes[total]) is view.nodes[relu]


def test_a_mask_that_alone_reads_a_value_is_the_op_behind_it() -> None:
    view = with_mask(chain("add", "gt"), "n2")
    assert view.next_op(view.nodes["n1"]) is view.nodes["n2"]


def test_a_row_is_found_from_its_end_with_what_it_reads_from_outside() -> None:
    made = HandmadeGraph()
    x, bias = made.leaf("x", "input"), made.leaf("bias")
    product = made.add("aten.mm.default", [x])
    total = made.add("aten.add.Tensor", [product, bias])
    view = GraphView(made.record())
    last = view.nodes[total]
    assert [node.id for node in view.row_up_to(last, 2)] == [product, total]
    assert [node.id for node in view.row_up_to(last, 1)] == [total]
    assert [node.id for node in view.read_by_row(last, 2)] == [bias, x]
    assert [node.id for node in view.origins(last)] == [product, bias]
    assert list(view.tensors(last)) == [0, 1]


def test_saved_values_are_read_too() -> None:
    made = HandmadeGraph()
    x = made.leaf("x", "input")
    y = made.add("aten.exp.default", [x])
    made.add("aten.sin.default", [x], saved=[y])
    view = GraphView(made.record())
    assert [edge.kind for edge in view.out_of(view.nodes[y])] == ["saved"]


@pytest.mark.slow
def test_walks_go_on_through_more_nodes_than_a_stack_has_calls() -> None:
    view = GraphView(chain(*["aten.exp.default"] * 10_000))
    ids = [node.id for node in view.execution_order()]
    assert ids == [f"n{number}" for number in range(10_001)]
    assert view.behind("n1") == set(ids[1:])
    assert [node.id for node in view.row("n1", ids[-1])] == ids[1:]
    assert reach([ids[-1]], lambda id_: [it.id for it in view.origins(view.nodes[id_])]) == set(ids)
