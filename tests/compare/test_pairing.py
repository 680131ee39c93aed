"""Which nodes pair: by value, whatever ops are called, and by where values come from."""

from collections import Counter

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment, Count
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph, Node
from tests.support.alignments import every_node_with_itself, partners
from tests.support.computed_graphs import ComputedGraph, Function
from tests.support.handmade_graph import HandmadeGraph
from tests.support.tables import rows
from tests.support.two_layer_nets import mindspore_net, pytorch_net
from tests.support.written_nets import two_nets


def op_pairs(alignment: Alignment, left: GradGraph, right: GradGraph) -> set[tuple[str, str]]:
    """The pairs of ops, by their names."""
    nodes, other_nodes = left.by_id(), right.by_id()
    pairs = set()
    for pair in alignment.pairs:
        if nodes[pair.left].kind == "op":
            pairs.add((nodes[pair.left].op, other_nodes[pair.right].op))
    return pairs


def unobserved(node: Node) -> Node:
    outputs = [msgspec.structs.replace(output, values=None) for output in node.outputs]
    return msgspec.structs.replace(node, outputs=tuple(outputs))


def test_a_graph_pairs_every_node_with_itself() -> None:
    graph = pytorch_net()
    alignment = align(graph, graph)
    assert partners(alignment) == every_node_with_itself(graph)
    assert (alignment.unpaired, alignment.divergence, alignment.differing) == ((), None, ())
    assert sorted(alignment.numbers("left").values()) == list(range(1, len(graph.nodes) + 1))
    coverage = alignment.left_coverage
    assert coverage == alignment.right_coverage
    assert (coverage.forward, coverage.backward) == (Count(paired=6), Count(paired=9))


def test_two_frameworks_pair_by_value_whatever_their_ops_are_called() -> None:
    left, right = mindspore_net(), pytorch_net()
    alignment = align(left, right)
    assert alignment.divergence is None
    assert op_pairs(alignment, left, right) >= {
        ("BiasAdd", "aten.addmm.default"),
        ("ReLU", "aten.relu.default"),
        ("ReduceMean", "aten.mse_loss.default"),
        ("Muls", "aten.mse_loss_backward.default"),
        ("ReluGrad", "aten.threshold_backward.default"),
        ("BiasAddGrad", "aten.sum.dim_IntList"),
        ("MatMul", "aten.mm.default"),
    }
    coverage = alignment.left_coverage
    assert coverage.forward == Count(paired=4, inside=4, unproven=4)


@pytest.mark.parametrize("noise", [1e-7, 1e-6])
def test_rounding_noise_splits_no_pair(noise: float) -> None:
    plain = mindspore_net()
    noisy = mindspore_net(ComputedGraph("torch-tape", noise=noise))
    alignment = align(plain, noisy)
    assert alignment.divergence is None
    assert partners(alignment) == every_node_with_itself(plain)


def test_a_factor_that_a_compiler_returns_as_a_gradient_pairs_with_the_factor() -> None:
    # The gradient of sum(rows * place) with respect to place: rows, or rows times ones.
    left, right = two_nets(
        """
        table = parameter: ROWS[::-1]
        place = parameter: PLACE
        rows = Gather: ROWS + 0 * table
        product = Mul: rows * place
        total = Sum: product.sum()
        result out = total
        - gradient dplace = rows
        + seed = constant back: np.array(1.0)
        + ones = Tile of total: seed * np.ones((2, 2))
        + dplace = Mul of product: ones * rows
        + gradient dplace = dplace
        """,
        ROWS=np.array([[-2.0, 0.25], [1.0, -1.0]]),
        PLACE=np.array([[1.0, 10.0], [2.0, 20.0]]),
    )
    pairs = op_pairs(align(left, right), left, right)
    assert ("Gather", "Gather") in pairs
    assert ("Gather", "Mul") not in pairs


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_a_sum_pairs_with_a_sum_and_a_reshape_of_it_takes_no_place(is_mirrored: bool) -> None:
    # One side normalises a reshaped tensor: its reshape is between the sum and what reads it.
    rows = np.array([[-2.0, 0.25], [1.0, -1.0], [0.5, 3.0]])
    image = (3, 2, 1, 1)

    def graph(is_reshaped: bool) -> GradGraph:
        made = HandmadeGraph()
        x = made.leaf("x", value=rows)
        if is_reshaped:
            normed = made.add("BatchNorm", [x], value=(rows * 2).reshape(image))
            out = made.add("Reshape", [normed], value=rows * 2)
        else:
            normed = out = made.add("BatchNorm", [x], value=rows * 2)
        square = made.add("Mul", [out, out], value=rows**2 * 4)
        total = made.add("Sum", [square], value=(rows**2 * 4).sum())
        if is_reshaped:
            # A compiler adds up what forward has computed.
            both = made.accumulate("add", [square, square], forward=out, value=rows**2 * 8)
            both = made.back("Reshape", out, [both], value=(rows**2 * 8).reshape(image))
        else:
            ones = made.back("Tile", total, [made.seed(value=1.0)], value=np.ones((3, 2)))
            addends = [made.back("Mul", square, [ones, out], value=rows**2 * 4) for _ in range(2)]
            both = made.accumulate("add", addends, forward=out, value=rows**2 * 8)
        dx = made.back("BatchNormGrad", normed, [both, x], value=rows * 11)
        made.result("out", total, value=(rows**2 * 4).sum())
        made.gradient("dx", dx, value=rows * 11)
        return made.record()

    left, right = graph(is_reshaped=not is_mirrored), graph(is_reshaped=is_mirrored)
    alignment = align(left, right)
    nodes, other_nodes = left.by_id(), right.by_id()
    by_op = {nodes[pair.left].op: other_nodes[pair.right].op for pair in alignment.pairs}
    assert by_op["add"] == "add"


def chain(length: int, step: Function) -> GradGraph:
    graph = ComputedGraph("a")
    node = graph.leaf("x", np.array([0.5, -1.0, 2.0]), "input")
    for _ in range(1, length):
        node = graph.op("Add", step, node)
    graph.result("out", node)
    return graph.record()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "step"),
    [
        pytest.param(10_000, lambda v: v + 0.01, id="near", marks=pytest.mark.whole),
        # The harder one: any node might be any other.
        pytest.param(10_000, lambda v: v, id="equal", marks=pytest.mark.whole),
        pytest.param(1500, lambda v: v, id="longer than a stack of calls"),
    ],
)
def test_a_long_chain_of_nodes_pairs_in_order(length: int, step: Function) -> None:
    graph = chain(length, step)
    assert partners(align(graph, graph)) == every_node_with_itself(graph)


@pytest.mark.slow
def test_a_hundred_equal_subgraphs_pair_copy_by_copy() -> None:
    graph = ComputedGraph("a")
    x = graph.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    w = graph.leaf("w", np.random.default_rng(2).standard_normal((4, 4)))
    total = x
    for _ in range(100):
        hidden = graph.op("Tanh", np.tanh, graph.op("MatMul", np.matmul, x, w))
        total = graph.op("Add", np.add, total, graph.op("MatMul", np.matmul, hidden, w))
    graph.result("out", total)
    record = graph.record()
    assert partners(align(record, record)) == every_node_with_itself(record)


def test_many_equal_scalars_pair_by_where_they_come_from() -> None:
    graph = ComputedGraph("a")
    x = graph.leaf("x", np.random.default_rng(1).standard_normal(4), "input")
    ones = []
    for index, op in enumerate(["OnesLike", "Fill", "Sign", "OnesLike"] * 50):
        ones.append(graph.op(op, lambda x: 1.0, x, scope=f"s{index}"))
    graph.result("out", graph.op("Add", lambda *terms: sum(terms), *ones))
    record = graph.record()
    alignment = align(record, msgspec.structs.replace(record, engine="b"))
    assert partners(alignment) == every_node_with_itself(record)


V = np.array([0.3, 0.7, 1.9])


def holding(engine: str, **values: AnyArray) -> GradGraph:
    """A graph of ops that hold some values and read nothing, by their names."""
    graph = ComputedGraph(engine)
    for op, value in values.items():
        graph.hold(op, value)
    return graph.record()


def hows(left: GradGraph, right: GradGraph) -> dict[tuple[str, str], str]:
    """The evidence for each pair of ops, by their names."""
    nodes, other_nodes = left.by_id(), right.by_id()
    hows: dict[tuple[str, str], str] = {}
    for pair in align(left, right).pairs:
        hows[nodes[pair.left].op, other_nodes[pair.right].op] = pair.how
    return hows


def test_a_value_that_nothing_else_holds_pairs_by_itself() -> None:
    close = V * (1 + 5e-5)
    assert hows(holding("a", Exp=V), holding("b", Sin=V)) == {("Exp", "Sin"): "value"}
    assert hows(holding("a", Exp=V), holding("b", Sin=close)) == {("Exp", "Sin"): "value"}
    assert hows(holding("a", Exp=V), holding("b", Sin=V * 1.01)) == {}


def test_a_value_equal_up_to_rounding_goes_before_one_within_tolerance() -> None:
    right = holding("b", Near=V * (1 + 5e-5), Nearer=V * (1 + 1e-7))
    assert hows(holding("a", Exp=V), right) == {("Exp", "Nearer"): "value"}


def test_equal_values_without_any_provenance_pair_in_order() -> None:
    left, right = holding("a", Exp=V, Log=V), holding("b", Sin=V, Cos=V)
    assert hows(left, right) == {("Exp", "Sin"): "value+order", ("Log", "Cos"): "value+order"}


def test_equal_values_of_one_family_pair_before_others_in_order() -> None:
    left, right = holding("a", Exp=V, Log=V), holding("b", Sin=V, Exp=V)
    assert hows(left, right)["Exp", "Exp"] in {"value+order", "value+provenance"}


def test_zeros_without_any_provenance_pair_within_their_family_only() -> None:
    zeros = np.zeros(3)
    same, other = holding("b", Zeros=zeros), holding("b", Sin=zeros)
    assert ("Zeros", "Zeros") in hows(holding("a", Zeros=zeros), same)
    assert hows(holding("a", Zeros=zeros), other) == {}


def test_equal_values_pair_by_what_feeds_them() -> None:
    text = """
        x = input: V
        y = input: V + 1
        - of_x = FromX: 2 * V + 0 * x
        of_y = FromY: 2 * V + 0 * y
        + of_x = FromX: 2 * V + 0 * x
    """
    pairs = hows(*two_nets(text, V=V))
    assert pairs["FromX", "FromX"] == "value+provenance"
    assert pairs["FromY", "FromY"] == "value+provenance"


def test_a_seed_of_ones_is_no_operator_whose_value_happens_to_be_one() -> None:
    forward, backward = two_nets("""
        - one = Sign: np.array(1.0) + 0 * x.sum()
        + one = Sign back: np.array(1.0) + 0 * x.sum()
    """)
    assert ("Sign", "Sign") in hows(forward, forward)
    assert ("Sign", "Sign") not in hows(forward, backward)


W = np.random.default_rng(2).standard_normal((4, 4))


@pytest.mark.parametrize(
    ("name", "text", "counts"), rows(__file__, "test_what_is_the_same_pairs_by_some_evidence")
)
def test_what_is_the_same_pairs_by_some_evidence(
    name: str, text: str, counts: dict[str, int]
) -> None:
    alignment = align(*two_nets(text, W=W))
    assert alignment.divergence is None
    assert alignment.unpaired == ()
    found = Counter[str](pair.how for pair in alignment.pairs)
    assert {how: found[how] for how in counts} == counts


def test_a_transposed_gradient_of_a_parameter_that_is_not_is_a_divergence() -> None:
    text = """
        w = parameter fc.weight: W
        y = MatMul: x @ w
        result out = y
        dw = MatMul of y: x.T @ y
        + dw = Transpose of y: dw.T
        gradient dfc.weight = dw
    """
    plain, transposed = two_nets(text, W=W)
    assert align(plain, plain).divergence is None
    divergence = align(plain, transposed).divergence
    assert divergence is not None
    assert divergence.phase == "backward"


@pytest.mark.parametrize(("other", "count"), [("w", 0), ("v", 1)])
def test_a_leaf_whose_name_the_other_side_knows_pairs_with_nothing_else(
    other: str, count: int
) -> None:
    left, right = ComputedGraph("a"), ComputedGraph("b")
    for graph, leaves in ((left, {"w": V, "b": V + 1}), (right, {other: V + 2, "c": V})):
        for name, value in leaves.items():
            graph.leaf(name, value)
    assert len(align(left.record(), right.record()).pairs) == count


def test_constants_of_one_name_may_hold_other_values() -> None:
    two, three = two_nets("""
        - c = constant c0: np.array(2.0)
        + c = constant c0: np.array(3.0)
        out = Exp: np.exp(x)
    """)
    assert {unpaired.reason for unpaired in align(two, three).unpaired} == {"bookkeeping"}
    assert align(two, two).unpaired == ()


def test_the_same_graphs_give_the_same_bytes() -> None:
    encode = msgspec.json.Encoder(order="sorted").encode
    runs = {encode(align(mindspore_net(), pytorch_net(reduction="sum"))) for _ in range(3)}
    assert len(runs) == 1
    decoded = msgspec.json.decode(runs.pop(), type=Alignment)
    assert decoded == align(mindspore_net(), pytorch_net(reduction="sum"))


def test_graphs_without_nodes_align() -> None:
    empty = GradGraph(engine="a", case="grad", stage="tape", nodes=(), edges=())
    assert align(empty, empty).pairs == ()
    assert align(empty, pytorch_net()).divergence is None


def test_graphs_without_values_align_as_far_as_they_go() -> None:
    known = pytorch_net()
    nodes = tuple(unobserved(node) for node in known.nodes)
    alignment = align(known, msgspec.structs.replace(known, nodes=nodes))
    assert alignment.divergence is None
    assert {pair.how for pair in alignment.pairs} == {"name", "provenance"}
    assert all(left == right for left, right in partners(alignment).items())
    left_over = {unpaired.reason for unpaired in alignment.unpaired if unpaired.side == "right"}
    assert left_over <= {"unobserved", "bookkeeping"}


def test_the_cases_of_two_graphs_are_both_named_where_they_differ() -> None:
    graph = pytorch_net()
    other = msgspec.structs.replace(graph, case="grad(net)")
    assert align(graph, graph).case == "grad"
    assert align(graph, other).case == "grad | grad(net)"
