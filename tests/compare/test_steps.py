"""Steps that a partner takes inside itself: a product before its bias is added."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from tests.support.alignments import reasons
from tests.support.computed_graphs import ComputedGraph, one_input
from tests.support.two_layer_nets import addmm, mindspore_net, pytorch_net

Steps = dict[tuple[str, str], tuple[set[str], set[str]]]


def steps(alignment: Alignment, left: GradGraph, right: GradGraph) -> Steps:
    """The steps inside the partners of each pair of ops, by op names."""
    nodes, other_nodes = left.by_id(), right.by_id()
    steps: Steps = {}
    for pair in alignment.pairs:
        if pair.left_within or pair.right_within:
            ops = nodes[pair.left].op, other_nodes[pair.right].op
            left_steps = {nodes[step].op for step in pair.left_within}
            right_steps = {other_nodes[step].op for step in pair.right_within}
            steps[ops] = left_steps, right_steps
    return steps


def dense(graph: ComputedGraph, x: int, fused: bool, extra: str = "") -> int:
    """x·w + b in one op or in two.

    ``extra`` says who else takes the product, or what else goes into it.
    """
    w = graph.leaf("w", np.random.default_rng(2).standard_normal((4, 4)))
    b = graph.leaf("b", np.arange(4.0))
    if fused:
        graph.leaf("unused", np.full(4, 7.0))
        return graph.op("aten.addmm.default", addmm, b, x, w)
    more = []
    if extra == "fed by a leaf of its own":
        more = [graph.leaf("mask", np.ones(4))]
    if extra == "fed by a leaf that the other op does not read":
        more = [graph.leaf("unused", np.full(4, 7.0))]
    product = graph.op("MatMul", lambda x, w, *more: x @ w, x, w, *more)
    if extra == "a result":
        graph.result("product", product)
    if extra == "read elsewhere":
        graph.result("square", graph.op("Square", np.square, product))
    return graph.op("BiasAdd", np.add, product, b)


def test_a_product_and_its_bias_are_both_paired_with_the_one_op_that_does_both() -> None:
    left, right = mindspore_net(), pytorch_net()
    alignment = align(left, right)
    assert steps(alignment, left, right) == {
        ("BiasAdd", "aten.addmm.default"): ({"MatMul"}, {"aten.t.default"}),
        ("ReduceMean", "aten.mse_loss.default"): ({"Sub", "Square"}, set()),
        ("Muls", "aten.mse_loss_backward.default"): ({"Fill", "Mul"}, {"aten.ones_like.default"}),
    }
    assert alignment.unpaired == ()


def test_a_step_has_the_number_of_the_pair_that_it_leads_to() -> None:
    left, right = mindspore_net(), pytorch_net()
    alignment = align(left, right)
    numbers, other_numbers = alignment.numbers("left"), alignment.numbers("right")
    products = [node.id for node in left.nodes if (node.op, node.phase) == ("MatMul", "forward")]
    dense_layers = [node.id for node in right.nodes if "addmm" in node.op]
    assert [numbers[node] for node in products] == [other_numbers[node] for node in dense_layers]


def test_a_step_that_nothing_else_uses_is_inside_the_op_that_does_it() -> None:
    left = one_input("a", lambda graph, x: dense(graph, x, fused=False))
    right = one_input("b", lambda graph, x: dense(graph, x, fused=True))
    inside = {("BiasAdd", "aten.addmm.default"): ({"MatMul"}, set[str]())}
    assert steps(align(left, right), left, right) == inside


@pytest.mark.parametrize(
    "extra",
    [
        "a result",
        "read elsewhere",
        "fed by a leaf of its own",
        "fed by a leaf that the other op does not read",
    ],
)
def test_a_step_that_something_else_uses_or_feeds_is_inside_nothing(extra: str) -> None:
    left = one_input("a", lambda graph, x: dense(graph, x, fused=False, extra=extra))
    right = one_input("b", lambda graph, x: dense(graph, x, fused=True))
    alignment = align(left, right)
    assert steps(alignment, left, right) == {}
    assert "MatMul" in reasons(alignment, "left", left)
