"""Steps that a partner takes inside itself: a product before its bias is added."""

import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph, Proof
from tests.support.alignments import reasons
from tests.support.computed_graphs import proved
from tests.support.two_layer_nets import mindspore_net, pytorch_net
from tests.support.written_nets import net, two_nets

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


STEP = "- product = MatMul: x @ w"

DENSE = f"""
    w = parameter: np.random.default_rng(2).standard_normal((4, 4))
    b = parameter: np.arange(4.0)
    + unused = parameter: np.full(4, 7.0)
    {STEP}
    - out = BiasAdd: product + b
    + out = aten.addmm.default: b + x @ w
    result out = out
"""


def test_a_product_and_its_bias_are_both_paired_with_the_one_op_that_does_both() -> None:
    left, right = mindspore_net(), pytorch_net()
    alignment = align(left, right)
    assert steps(alignment, left, right) == {
        ("BiasAdd", "aten.addmm.default"): ({"MatMul"}, {"aten.t.default"}),
        ("ReduceMean", "aten.mse_loss.default"): ({"Sub", "Square"}, set()),
        ("Muls", "aten.mse_loss_backward.default"): ({"Mul"}, set()),
    }
    # Both fill a tensor on the way, with other numbers: neither is inside the other.
    assert reasons(alignment, "left", left) == {"Fill": "bookkeeping"}
    assert reasons(alignment, "right", right) == {"aten.ones_like.default": "bookkeeping"}


def test_a_step_has_the_number_of_the_pair_that_it_leads_to() -> None:
    left, right = mindspore_net(), pytorch_net()
    alignment = align(left, right)
    numbers, other_numbers = alignment.numbers("left"), alignment.numbers("right")
    products = [node.id for node in left.nodes if (node.op, node.phase) == ("MatMul", "forward")]
    dense_layers = [node.id for node in right.nodes if "addmm" in node.op]
    assert [numbers[node] for node in products] == [other_numbers[node] for node in dense_layers]


def test_a_step_that_nothing_else_uses_is_inside_the_op_that_does_it() -> None:
    left, right = two_nets(DENSE)
    inside = {("BiasAdd", "aten.addmm.default"): ({"MatMul"}, set[str]())}
    assert steps(align(left, right), left, right) == inside


@pytest.mark.parametrize(
    "step",
    [
        # A result, read elsewhere, fed by a leaf of its own, or by one that the other op does not read.
        f"{STEP}\n- result product = product",
        f"{STEP}\n- square = Square: np.square(product)\n- result square = square",
        f"- mask = parameter: np.ones(4)\n{STEP} + 0 * mask",
        f"- unused = parameter: np.full(4, 7.0)\n{STEP} + 0 * unused",
    ],
)
def test_a_step_that_something_else_uses_or_feeds_is_inside_nothing(step: str) -> None:
    left, right = two_nets(DENSE.replace(STEP, step))
    alignment = align(left, right)
    assert steps(alignment, left, right) == {}
    assert "MatMul" in reasons(alignment, "left", left)


TANH = "Tanh"


def with_tanh(engine: str, shown: float = 1.0, proof: Proof = "") -> GradGraph:
    """2 · tanh(x²), whose tanh shows ``shown`` times the value that the net goes on with."""
    text = f"""
        square = Square: np.square(x)
        tanh = {TANH}: {shown} * np.tanh(square)
        two = input: np.array(2.0)
        out = Mul: tanh / {shown} * two
    """
    return proved(net(engine, text), TANH, proof)


def with_one_op(engine: str) -> GradGraph:
    """2 · tanh(x²) with tanh and the product in one op."""
    text = """
        square = Square: np.square(x)
        two = input: np.array(2.0)
        out = TwiceTanh: np.tanh(square) * two
    """
    return net(engine, text)


@pytest.mark.parametrize("shown", [1.01, -1.0])
def test_a_step_that_the_other_side_has_too_stands_out_where_its_value_differs(
    shown: float,
) -> None:
    left, right = with_tanh("a", shown), with_tanh("b")
    alignment = align(left, right)
    assert steps(alignment, left, right) == {}
    assert reasons(alignment, "left", left) == {TANH: "difference"}
    assert reasons(alignment, "right", right) == {TANH: "difference"}
    assert alignment.divergence is None
    assert not alignment.is_same


def test_steps_that_are_both_proven_differ_because_they_do_other_things() -> None:
    left, right = with_tanh("a", 1.5, "proven"), with_tanh("b", proof="proven")
    alignment = align(left, right)
    assert alignment.contradictions == ()
    assert reasons(alignment, "left", left) == {TANH: "decomposed"}


def test_a_refuted_step_is_inside_nothing_and_pairs_with_nothing() -> None:
    for right in (with_one_op("b"), with_tanh("b")):
        left = with_tanh("a", proof="refuted")
        alignment = align(left, right)
        assert reasons(alignment, "left", left)[TANH] == "refuted"
        assert alignment.divergence is None
        assert not alignment.is_same


@pytest.mark.parametrize(("proof", "unproven"), [("", 1), ("unproven", 1), ("proven", 0)])
def test_two_graphs_are_the_same_only_where_every_step_inside_is_proven(
    proof: Proof, unproven: int
) -> None:
    alignment = align(with_tanh("a", proof=proof), with_one_op("b"))
    count = alignment.left_coverage.forward
    assert (count.paired, count.inside, count.unpaired) == (2, 1, 0)
    assert count.unproven == alignment.unproven == unproven
    assert alignment.is_same is (proof == "proven")
