"""Ops of one place, inputs of other shapes, other numbers and leaves, and ops in the place of one."""

import numpy as np
import pytest
from msgspec.structs import replace

from explorer.compare.causes.candidates import suspects_at
from explorer.compare.causes.choice import COSTS, cost, op_of
from explorer.compare.causes.from_values import related_cause
from explorer.compare.causes.longer import in_its_place
from explorer.compare.causes.rows import are_no_counterparts, goes_on_at
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import unpack
from explorer.model.causes import (
    Edits,
    FromNode,
    FromSlot,
    FromThere,
    InsertOperator,
    Rewire,
    Trial,
    form_of,
)
from explorer.model.divergence import Divergence, ExtraOps, Inputs, OtherValue, Place, Row
from explorer.model.graph import GradGraph, Node, SideName
from tests.support.divergence_records import end, other_value
from tests.support.narrowing import present
from tests.support.written_nets import given, net

Views = tuple[GraphView, GraphView]


def views(text: str) -> Views:
    """Two nets that are written as one text, in which "a_weight" is the parameter a.weight."""

    def view(graph: GradGraph) -> GraphView:
        nodes = [replace(node, name=node.name.replace("_", ".")) for node in graph.nodes]
        return GraphView(replace(graph, nodes=tuple(nodes)))

    return view(net("torch-tape", text)), view(net("jax-tape", text, side="right"))


def op(flow: GraphView, name: str, place: int = 0) -> Node:
    """An op of that name, by its place among all."""
    return [node for node in flow.graph.nodes if node.op == name][place]


def between(both: Views, left: str, right: str) -> OtherValue:
    """Two ops that give different values, by their names."""
    return other_value(op(both[0], left).id, op(both[1], right).id)


def extra(side: SideName, first: Node, last: Node, other: Node | None, count: int = 1) -> ExtraOps:
    """Ops from one to another that one side alone has, and that with which the other side goes on."""
    begin = Place(label=first.op, source=first.source[0])
    goes_on = Place(label=other.op, source=other.source[0]) if other else None
    ends = (end(last.id), end(None)) if side == "left" else (end(None), end(last.id))
    of_row = Row(first=begin, last=last.op, count=count, end=last.id)
    return ExtraOps(phase="forward", ends=ends, side=side, row=of_row, goes_on=goes_on)


def tried(divergence: Divergence, both: Views) -> list[tuple[str, Edits]]:
    """All edits that are tried at a divergence, each with the op whose value they should change."""
    suspects = suspects_at(divergence, *both)
    return [(it.node.op, trial.edits) for it in suspects for trial in it.trials if trial.edits]


# Which op it is


@pytest.mark.parametrize(("kept", "place"), [("h * x", 1), ("x * 3.0", 0)])
def test_of_several_ops_of_a_line_the_other_side_goes_on_with_what_reads_the_same(
    kept: str, place: int
) -> None:
    left, right = views(f"""
    h = Log @1: np.log(np.abs(x))
    other = Exp @2: np.exp(x)
    - first = Mul @3: {kept}
    - kept = Neg @3: -first
    - out = aten.sum.default @4: kept.sum()
    + one = reduce_sum @4: other.sum()
    + two = reduce_sum @4: h.sum()
    + out = add @4: one + two
    """)
    node, wanted = op(left, "Neg"), op(right, "reduce_sum", place)
    divergence = extra("left", op(left, "Mul"), node, wanted, 2)
    assert goes_on_at(divergence, left, node, right) is wanted


@pytest.mark.parametrize("read", ["h", "h * 3"])
def test_ops_in_the_place_of_one_that_reads_the_same_are_what_it_should_give(read: str) -> None:
    left, right = views(f"""
    h = Exp @1: np.exp(x)
    - out = aten.amax.default @2: h.max(1)
    + other = neg @1: {read}
    + sum = reduce_sum @2: other.sum(1)
    + mean = div @2: sum / 4
    + out = tanh @3: np.tanh(mean)
    """)
    own, ops = op(left, "aten.amax.default"), [op(right, it) for it in ("reduce_sum", "div")]
    found = list(in_its_place(extra("right", ops[0], op(right, "tanh"), own), left, right))
    assert [(it.side, it.own_row, it.row) for it in found] == (
        [("left", [own], ops)] if read == "h" else []
    )


@pytest.mark.parametrize(
    ("more", "differing", "is_so"),
    [("", "", True), ("", "x", False), ("\n+ last = Mul @2: out * 2", "", False)],
)
def test_numbers_that_both_have_as_often(more: str, differing: str, is_so: bool) -> None:
    both = views(f"""
    - one = Mul @2: x * 2
    - out = Mul @3: one * 3
    + one = Mul @3: x * 3
    + out = Mul @2: one * 2{more}
    """)
    graphs = (given(it.graph, "net.py:2", {"other": 2.0}) for it in both)
    left, right = (GraphView(given(it, "net.py:3", {"other": 3.0})) for it in graphs)
    divergence = other_value(inputs=Inputs(differing=tuple(differing)))
    assert are_no_counterparts(divergence, left, right) is is_so


# What it reads


@pytest.mark.parametrize(
    ("shape", "read", "by"),
    [("1, 4", "row", "-+"), ("4, 1", "row", ""), ("1, 4", "row + v", "+"), ("1, 4", "wide", "-")],
)
def test_an_input_is_tried_in_the_shape_of_the_other_side(shape: str, read: str, by: str) -> None:
    both = views(f"""
    v = parameter: np.arange(4, dtype=np.float32).reshape(4, 1)
    - out = aten.sub.Tensor @1: x - v
    + row = reshape @1: v.reshape({shape})
    + wide = expand @1: np.repeat(row, 4, 0)
    + out = sub @1: x - ({read})
    """)
    found = {
        (name, edit.slots, edit.shape)
        for name, (edit, *_) in tried(between(both, "aten.sub.Tensor", "sub"), both)
        if isinstance(edit, InsertOperator) and edit.op == "reshape"
    }
    wanted = {"-": ("aten.sub.Tensor", (1,), (1, 4)), "+": ("sub", (1,), (4, 1))}
    assert found == {wanted[side] for side in by}
    assert COSTS[FromSlot] < cost((InsertOperator(op="reshape", slots=(1,)),)) < COSTS["read_there"]


def test_a_number_is_tried_in_the_place_of_the_number_wherever_either_side_reads_it() -> None:
    both = views("""
    mask = Greater @1: x > 0
    - low = aten.scalar_tensor.default @2: np.float32(-9)
    - out = aten.where.self @2: np.where(mask, x, low)
    + low = broadcast_in_dim @2: np.zeros((4, 4), np.float32)
    + out = select_n @2: np.where(~mask, low, x)
    """)
    found = {
        (edit.slots, edit.source.label, present(edit.source.value).shape): edit
        for _, (edit, *_) in tried(between(both, "aten.where.self", "select_n"), both)
        if isinstance(edit, Rewire) and isinstance(edit.source, FromThere)
    }
    # As large as the number that is there.
    assert found.keys() == {((2,), "0", ()), ((1,), "-9", (4, 4))}
    assert cost((Rewire(slots=(0,), source=FromThere("")),)) == COSTS[FromThere]
    for edit in found.values():
        assert cost((edit,)) == COSTS["number"] < COSTS["value"] < COSTS[FromThere]
        assert isinstance(edit.source, FromThere)
        assert np.unique(unpack(present(edit.source.value))) in (0, -9)


def test_the_weights_of_another_layer_are_tried_together_where_each_is_an_op() -> None:
    both = views("""
    a_weight = parameter: np.arange(16.0).reshape(4, 4)
    a_bias = parameter: np.arange(4.0)
    b_weight = parameter: np.arange(16.0).reshape(4, 4) ** 2
    b_bias = parameter: np.arange(4.0) ** 2
    - turned = aten.t.default @1: b_weight.T
    - out = aten.addmm.default @1: x @ turned.T + b_bias
    + product = dot_general @1: x @ a_weight
    + out = add @1: product + a_bias
    """)
    ends = between(both, "aten.addmm.default", "dot_general")
    labels = [
        [getattr(getattr(it, "source", None), "label", "") for it in edits]
        for name, edits in tried(ends, both)
        if name == "add"
    ]
    assert ["b.weight", "b.bias"] in labels
    turned, product = (op(both[0], name).id for name in ("aten.t.default", "aten.addmm.default"))
    edits = [Rewire(node=it, slots=(0,), source=FromNode("n1")) for it in (turned, product)]
    assert op_of(Trial((turned, product), tuple(edits)), both[0].nodes).id == product
    assert op_of(Trial((turned, product), tuple(edits[:1])), both[0].nodes).id == turned


def test_another_part_of_a_split_counts_as_what_the_other_side_reads() -> None:
    both = views("""
    parts = Split @1: (x[:, :2], x[:, 2:])
    - out = aten.sigmoid.default @2: np.tanh(parts[0])
    + out = logistic @2: np.tanh(parts[1])
    """)
    ids = op(both[0], "aten.sigmoid.default").id, op(both[1], "logistic").id
    edits = [edit for _, it in tried(other_value(*ids), both) for edit in it]
    read = [it.source for it in edits if isinstance(it, Rewire) and isinstance(it.source, FromNode)]
    assert {(it.output, it.is_read_there) for it in read} == {(0, True), (1, True)}


# Other orders and terms left out


@pytest.mark.parametrize("width", [4, 8])
def test_two_ops_are_exchanged_though_the_shape_between_them_is_another(width: int) -> None:
    both = views(f"""
    weight = parameter: np.random.default_rng(2).standard_normal((4, {width}))
    h = Exp @1: np.exp(x).reshape(2, 2, 4)
    - norm = aten.native_layer_norm.default @2: h - h.mean(-1, keepdims=True)
    - flat = aten.view.default @3: norm.reshape(4, 4)
    - out = aten.mm.default @3: flat @ weight
    + product = dot_general @3: h @ weight
    + out = layer_norm @2: product - product.mean(-1, keepdims=True)
    """)
    ids = op(both[0], "aten.native_layer_norm.default").id, op(both[1], "dot_general").id
    orders = [edits for _, edits in tried(other_value(*ids), both) if form_of(edits) == "order"]
    shapes = [[it.shape for it in edits if isinstance(it, InsertOperator)] for edits in orders]
    # Of what the product reads, and of what the norm reads, if that is as large.
    assert ([(4, 4), (2, 2, 4)] in shapes) is (width == 4)


@pytest.mark.parametrize("also", ["", " + begin", " + h"])
def test_what_is_put_together_of_all_parts_of_a_value_is_that_value_elsewhere(also: str) -> None:
    both = views(f"""
    h = Exp @1: np.exp(x)
    - moved = aten.roll.default @2: np.roll(h, 1, 1)
    - out = aten.add.Tensor @3: moved + x
    + end = slice @2: h[:, 1:]
    + begin = slice @2: h[:, :1]
    + moved = concatenate @2: np.concatenate([end, begin], 1)
    + out = add @3: moved + x{also}
    """)
    ids = op(both[0], "Exp").id, op(both[1], "Exp").id
    cause = present(related_cause(other_value(*ids), *both))
    assert cause.op == "aten.roll.default"
    assert (cause.edits == (InsertOperator(op="roll", numbers=(1, 2)),)) is not bool(also)


@pytest.mark.parametrize(
    "ops", ["add first add", "add second add", "add first tanh", "hypot first add"]
)
def test_a_term_that_a_sum_lacks_is_named_of_two_on_one_line(ops: str) -> None:
    user, kept, behind = ops.split()
    both = views(f"""
    y = input: np.arange(16.0).reshape(4, 4) ** 2
    first = Sum @1: x.sum(1)
    second = Sum @1: y.sum(1)
    - both = {user} @1: first + second
    - out = aten.add.Tensor @2: both + y.max(1)
    + out = {behind} @2: {kept} + y.max(1)
    """)
    last = op(both[0], "Sum", kept == "first")
    cause = related_cause(extra("left", last, last, None), *both)
    if (user, behind) != ("add", "add"):
        assert cause is None
        return
    (added,) = present(cause).edits
    assert isinstance(added, InsertOperator)
    assert (added.op, added.name) == ("add", "Sum (net.py:1)")
