"""Which nodes pair: by value, whatever ops are called, and by where values come from."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment, Count
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph, Node, Phase
from tests.support.alignments import every_node_with_itself, partners
from tests.support.computed_graphs import ComputedGraph, Function
from tests.support.handmade_graph import HandmadeGraph
from tests.support.two_layer_nets import mindspore_net, pytorch_net


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
    rows, place = np.array([[-2.0, 0.25], [1.0, -1.0]]), np.array([[1.0, 10.0], [2.0, 20.0]])

    def graph(is_simplified: bool) -> GradGraph:
        made = HandmadeGraph()
        table = made.leaf("table", value=rows[::-1])
        factor = made.leaf("place", value=place)
        gathered = made.add("Gather", [table], value=rows)
        product = made.add("Mul", [gathered, factor], value=rows * place)
        total = made.add("Sum", [product], value=(rows * place).sum())
        gradient = gathered
        if not is_simplified:
            ones = made.back("Tile", total, [made.seed(value=1.0)], value=np.ones((2, 2)))
            gradient = made.back("Mul", product, [ones], [gathered], value=rows)
        made.result("out", total, value=(rows * place).sum())
        made.gradient("dplace", gradient, value=rows)
        return made.record()

    left, right = graph(is_simplified=True), graph(is_simplified=False)
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
    def net(*names: str) -> GradGraph:
        graph = ComputedGraph("a")
        x, y = graph.leaf("x", V, "input"), graph.leaf("y", V + 1, "input")
        feeds = {"FromX": x, "FromY": y}
        for name in names:
            graph.op(name, lambda leaf: V * 2, feeds[name])
        return graph.record()

    pairs = hows(net("FromX", "FromY"), net("FromY", "FromX"))
    assert pairs["FromX", "FromX"] == "value+provenance"
    assert pairs["FromY", "FromY"] == "value+provenance"


def test_a_seed_of_ones_is_no_operator_whose_value_happens_to_be_one() -> None:
    def net(phase: Phase) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", V, "input")
        graph.op("Sign", lambda x: 1.0, x, phase=phase)
        return graph.record()

    assert ("Sign", "Sign") in hows(net("forward"), net("forward"))
    assert ("Sign", "Sign") not in hows(net("forward"), net("backward"))


def test_work_that_is_done_in_the_other_phase_pairs_across() -> None:
    def net(in_backward: bool) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", np.arange(1.0, 5), "input")
        y = graph.op("Exp", np.exp, x)
        graph.result("out", y)
        factor = graph.op("Cos", np.cos, x, phase="backward" if in_backward else "forward")
        graph.result("dx", graph.back("Mul", np.multiply, y, factor, forward=y), "backward")
        return graph.record()

    alignment = align(net(True), net(False))
    assert alignment.divergence is None
    assert [pair.how for pair in alignment.pairs].count("across") == 1
    assert alignment.unpaired == ()


def test_an_unobserved_value_pairs_by_provenance() -> None:
    def net(observed: bool) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", np.arange(3.0), "input")
        graph.result("out", graph.op("Sin", np.sin, graph.op("Exp", np.exp, x, observed=observed)))
        return graph.record()

    alignment = align(net(True), net(False))
    assert [pair.how for pair in alignment.pairs] == [
        "name",
        "provenance",
        "value+provenance",
        "name",
    ]


def test_gradients_that_are_noise_about_zero_agree() -> None:
    def net(noise: float) -> GradGraph:
        graph = ComputedGraph("a")
        y = graph.op("Exp", np.exp, graph.leaf("x", np.arange(3.0), "input"))
        graph.result("out", y)
        graph.result("dx", graph.back("SumGrad", lambda y: y * noise, y, forward=y), "backward")
        return graph.record()

    alignment = align(net(1e-9), net(-3e-8))
    assert alignment.divergence is None
    assert "provenance" in {pair.how for pair in alignment.pairs}


def test_the_gradient_of_a_transposed_parameter_is_transposed_too() -> None:
    def dense(engine: str, is_transposed: bool) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        w = np.random.default_rng(2).standard_normal((4, 4))
        if is_transposed:
            weight = graph.leaf("fc.weight", w.T.copy())
            y = graph.op("Dense", lambda x, w: x @ w.T, x, weight)
            dw = graph.back("MatMul", lambda x, y: (x.T @ y).T, x, y, forward=y)
        else:
            weight = graph.leaf("fc.weight", w)
            y = graph.op("MatMul", np.matmul, x, weight)
            dw = graph.back("MatMul", lambda x, y: x.T @ y, x, y, forward=y)
        graph.result("out", y)
        graph.result("dfc.weight", dw, "backward")
        return graph.record()

    alignment = align(dense("a", False), dense("b", True))
    assert alignment.divergence is None
    assert [pair.how for pair in alignment.pairs].count("transposed") == 3


def test_a_transposed_gradient_of_a_parameter_that_is_not_is_a_divergence() -> None:
    def dense(engine: str, is_transposed: bool) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        weight = graph.leaf("fc.weight", np.random.default_rng(2).standard_normal((4, 4)))
        y = graph.op("MatMul", np.matmul, x, weight)
        graph.result("out", y)
        dw = graph.back("MatMul", lambda x, y: x.T @ y, x, y, forward=y)
        if is_transposed:
            dw = graph.back("Transpose", np.transpose, dw, forward=y)
        graph.result("dfc.weight", dw, "backward")
        return graph.record()

    assert align(dense("a", False), dense("b", False)).divergence is None
    divergence = align(dense("a", False), dense("b", True)).divergence
    assert divergence is not None
    assert divergence.phase == "backward"


def test_results_of_other_names_pair_in_their_order() -> None:
    def net(*names: str) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", V, "input")
        graph.result(names[0], graph.op("Exp", np.exp, x))
        graph.result(names[1], graph.op("Sin", np.sin, x))
        return graph.record()

    pairs = align(net("loss", "logits"), net("output 0", "output 1")).pairs
    assert [pair.how for pair in pairs].count("name") == 3


def test_a_leaf_whose_name_the_other_side_knows_pairs_with_nothing_else() -> None:
    def net(engine: str, **leaves: AnyArray) -> GradGraph:
        graph = ComputedGraph(engine)
        for name, value in leaves.items():
            graph.leaf(name, value)
        return graph.record()

    assert align(net("a", w=V, b=V + 1), net("b", w=V + 2, c=V)).pairs == ()
    assert len(align(net("a", w=V, b=V + 1), net("b", v=V + 2, c=V)).pairs) == 1


def test_constants_of_one_name_may_hold_other_values() -> None:
    def net(engine: str, value: float) -> GradGraph:
        graph = ComputedGraph(engine)
        graph.leaf("c0", value, "constant")
        graph.result("out", graph.op("Exp", np.exp, graph.leaf("x", V, "input")))
        return graph.record()

    alignment = align(net("a", 2.0), net("b", 3.0))
    assert {unpaired.reason for unpaired in alignment.unpaired} == {"bookkeeping"}
    assert align(net("a", 2.0), net("b", 2.0)).unpaired == ()


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
