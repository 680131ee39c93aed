"""The first divergence: what a person who migrates a net needs to see, found where it was planted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.divergence import OtherValue
from explorer.model.graph import Absence, GradGraph, NodeKind
from explorer.model.unpaired import Recorded
from explorer.words.divergences import first_divergence, sentence
from explorer.words.readings import reading
from tests.support.alignments import parting, reasons, said, sources, values_read
from tests.support.computed_graphs import ComputedGraph, Function, one_input
from tests.support.two_layer_nets import (
    BATCH_TIMES_OUTPUTS,
    addmm,
    mindspore_net,
    pytorch_net,
    relu,
    start,
)

Build = Callable[[ComputedGraph, int], int]

WEIGHT = np.random.default_rng(3).standard_normal((4, 4))


# One element changed


@pytest.mark.parametrize("op", ["MatMul", "BiasAdd", "ReLU", "Sub", "Square", "ReduceMean"])
def test_one_element_changed_by_a_thousandth_is_the_first_divergence_in_forward(op: str) -> None:
    spoiled = mindspore_net(ComputedGraph("spoiled", spoiled=op))
    left, right, sentence = parting(mindspore_net(), spoiled)
    assert (left, right) == (op, op)
    assert sentence.startswith(f"First divergence in forward: `{op}` (")
    assert "take equal inputs but give different values" in sentence


@pytest.mark.parametrize("op", ["Muls", "BiasAddGrad", "ReluGrad"])
def test_one_element_changed_by_a_thousandth_is_the_first_divergence_in_backward(op: str) -> None:
    spoiled = mindspore_net(ComputedGraph("spoiled", spoiled=op))
    left, right, sentence = parting(mindspore_net(), spoiled)
    assert (left, right) == (op, op)
    assert sentence.startswith(f"First divergence in backward: `{op}`")


@pytest.mark.parametrize("op", ["MatMul", "ReLU", "ReduceMean", "Muls", "BiasAddGrad"])
def test_a_divergence_reads_the_same_from_either_side(op: str) -> None:
    plain = mindspore_net()
    spoiled = mindspore_net(ComputedGraph("spoiled", spoiled=op))
    there, back = align(plain, spoiled).divergence, align(spoiled, plain).divergence
    assert there is not None
    assert back is not None
    assert (there.nodes[0], there.ends[0].source, reading(there.ends[0].value)) == (
        back.nodes[1],
        back.ends[1].source,
        reading(back.ends[1].value),
    )
    assert (there.phase, there.gap.greatest) == (back.phase, back.gap.greatest)


def gelu_net(engine: str, gelu: str, multiply: str, share: float) -> GradGraph:
    """A net that passes small numbers through gelu, then great ones, of which it keeps a share."""

    def kept(x: AnyArray) -> AnyArray:
        return np.where(x > 1, share * x, np.maximum(x, 0))

    graph = ComputedGraph(engine)
    small = graph.leaf("x", np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]]), "input")
    weight = graph.leaf("weight", np.array([[7.0, 5.0, -4.0], [11.0, 2.0, 9.0]]))
    first = graph.op(gelu, kept, small, line=1)
    great = graph.op(multiply, np.multiply, first, weight, line=2)
    graph.result("out", graph.op(gelu, kept, great, line=3))
    return graph.record()


@pytest.mark.parametrize("left", ["mindspore-graph", "torch-tape"])
def test_where_the_two_ops_are_equal_is_found_whichever_graph_comes_first(left: str) -> None:
    graphs = {
        "mindspore-graph": gelu_net("mindspore-graph", "GeLU", "Mul", 1.0),
        "torch-tape": gelu_net("torch-tape", "aten.gelu.default", "aten.mul.Tensor", 1.2),
    }
    (right,) = graphs.keys() - {left}
    divergence = align(graphs[left], graphs[right]).divergence
    assert isinstance(divergence, OtherValue)
    (places,) = divergence.equal_at
    ops = {"mindspore-graph": "GeLU", "torch-tape": "aten.gelu.default"}
    assert [place.label for place in places] == [ops[left], ops[right]]
    assert [place.source for place in places] == ["net.py:1", "net.py:1"]


# Reductions


def test_mean_for_sum_is_named_with_its_factor() -> None:
    left, right, sentence = parting(
        pytorch_net(), pytorch_net(ComputedGraph("mindspore-tape"), reduction="sum")
    )
    assert (left, right) == ("aten.mse_loss.default", "aten.mse_loss.default")
    assert f"{BATCH_TIMES_OUTPUTS} times" in sentence
    assert "net.py:8" in sentence


def test_mean_for_sum_across_frameworks_is_named_at_the_reduction() -> None:
    left, right, _ = parting(mindspore_net(), pytorch_net(reduction="sum"))
    assert (left, right) == ("Sub", "aten.mse_loss.default")
    divergence = align(mindspore_net(), pytorch_net(reduction="sum")).divergence
    assert divergence is not None
    assert "the 3 ops from `Sub` (loss, net.py:28) to `ReduceMean`" in sentence(
        divergence, ("a", "b")
    )
    excess = BATCH_TIMES_OUTPUTS - 1
    assert divergence.gap.greatest == pytest.approx(
        excess * float(reading(divergence.ends[0].value)), rel=1e-4
    )


# Inputs and parameters


def test_a_parameter_that_starts_elsewhere_is_the_divergence() -> None:
    other = start() | {"l2.bias": np.zeros(3)}
    left, right, sentence = parting(mindspore_net(), pytorch_net(values=other))
    assert (left, right) == ("l2.bias", "l2.bias")
    assert "start from different values of `l2.bias`" in sentence
    divergence = align(mindspore_net(), pytorch_net(values=other)).divergence
    assert divergence is not None
    assert divergence.phase == "forward"


def test_an_input_that_differs_is_the_divergence() -> None:
    values = start() | {"y": np.ones((4, 3))}
    left, right, _ = parting(mindspore_net(), pytorch_net(values=values))
    assert (left, right) == ("y", "y")


def test_leaves_are_compared_even_where_graphs_name_no_results() -> None:
    def net(bias: float) -> GradGraph:
        graph = ComputedGraph("a")
        graph.op("Exp", np.exp, graph.leaf("x", np.full(3, bias), "input"))
        return graph.record()

    assert align(net(1), net(1)).divergence is None
    left, right, _ = parting(net(1), net(2))
    assert (left, right) == ("x", "x")


def test_a_transposed_weight_of_square_shape_is_not_the_same_weight() -> None:
    w = np.random.default_rng(2).standard_normal((4, 4))

    def net(engine: str, weight: AnyArray) -> GradGraph:
        return one_input(
            engine,
            lambda g, x: g.op("MatMul", np.matmul, x, g.leaf("fc.weight", weight), line=3),
        )

    left, right, sentence = parting(net("a", w), net("b", w.T.copy()))
    assert (left, right) == ("MatMul", "MatMul")
    assert "`fc.weight` against `fc.weight`: the same numbers, transposed" in sentence
    pairs = align(net("a", w), net("b", w.T.copy())).pairs
    assert {pair.how for pair in pairs} == {"name", "transposed"}


def test_a_mask_of_one_side_is_not_named_where_what_is_masked_differs_already() -> None:
    future = np.triu(np.ones((4, 4)), 1)

    def net(engine: str, slope: float, masked: float) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            h = graph.op("Mul", lambda h: slope * h, x, line=3)
            mask = np.where(future > 0, masked, 0.0)
            kind: NodeKind = "parameter" if engine == "a" else "constant"
            leaf = graph.leaf("mask" if engine == "a" else "", mask, kind)
            rows = graph.op("Slice", lambda mask: mask[:4], leaf, line=4)
            return graph.op("Exp", np.exp, graph.op("Add", np.add, h, rows, line=4), line=5)

        return one_input(engine, build)

    assert align(net("a", 0.5, -1e8), net("b", 0.5, -1e9)).divergence is None
    assert parting(net("a", 0.5, -1e8), net("b", 0.6, -1e9))[:2] == ("Mul", "Mul")


def test_a_missing_bias_is_named_by_its_parameter() -> None:
    w, b = np.random.default_rng(2).standard_normal((4, 4)), np.arange(4.0)

    def with_bias(graph: ComputedGraph, x: int) -> int:
        weight, bias = graph.leaf("fc.weight", w), graph.leaf("fc.bias", b)
        y = graph.op("aten.addmm.default", addmm, bias, x, weight, line=4, scope="fc")
        return graph.op("relu", np.abs, y)

    def without(graph: ComputedGraph, x: int) -> int:
        weight = graph.leaf("fc.weight", w)
        y = graph.op("MatMul", np.matmul, x, weight, line=9, scope="fc")
        return graph.op("ReLU", relu, y)

    left_graph, right_graph = one_input("a", without), one_input("torch-tape", with_bias)
    left, right, sentence = parting(left_graph, right_graph)
    assert (left, right) == (None, "fc.bias")
    assert "only torch-tape has the parameter `fc.bias`; " in sentence
    assert sentence.endswith("`aten.addmm.default` (fc, net.py:4) uses it")
    divergence = align(left_graph, right_graph).divergence
    assert divergence is not None
    assert sources(divergence) == ("", "net.py:4")
    assert values_read(divergence) == (
        "absent",
        "[0, 1, 2, 3]",
    )


def test_a_running_statistic_that_differs_is_named_beside_the_op_that_reads_it() -> None:
    def net(engine: str, mean: float) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            running_mean = graph.leaf("bn.running_mean", np.full(4, mean))
            return graph.op("BatchNorm", np.subtract, x, running_mean, line=3)

        return one_input(engine, build)

    left, right, sentence = parting(net("a", 0.5), net("b", 0.7))
    assert (left, right) == ("BatchNorm", "BatchNorm")
    assert "equal inputs but for `bn.running_mean`" in sentence


# What two ops read


def gated(engine: str, is_swapped: bool = False) -> GradGraph:
    """silu(gate(x)) * up(x); swapped, the two trade places."""

    def build(graph: ComputedGraph, x: int) -> int:
        gate = graph.op("MatMul", lambda x: x @ WEIGHT, x, line=2)
        up = graph.op("MatMul", lambda x: x @ WEIGHT.T, x, line=3)
        into, beside = (up, gate) if is_swapped else (gate, up)
        silu = graph.op("SiLU", lambda x: x / (1 + np.exp(-x)), into, line=4)
        return graph.op("Mul", np.multiply, silu, beside, line=5)

    return one_input(engine, build)


def test_ops_that_read_one_thing_in_the_place_of_another_are_not_said_to_read_equal_inputs() -> (
    None
):
    left, right, sentence = parting(gated("a"), gated("b", is_swapped=True))
    assert (left, right) == ("SiLU", "SiLU")
    assert "different inputs, `MatMul` (net.py:2) against `MatMul` (net.py:3), and give" in sentence
    assert "equal inputs" not in sentence


def test_a_constant_that_one_side_alone_reads_is_told() -> None:
    def net(engine: str, factor: float, is_node: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            if not is_node:
                return graph.op("Scale", lambda x: x * factor, x, line=2)
            constant = graph.leaf("", np.array(factor), "constant")
            return graph.op("Scale", np.multiply, x, constant, line=2)

        return one_input(engine, build)

    _, _, sentence = parting(net("a", 0.2, is_node=True), net("b", 0.02, is_node=False))
    assert "equal inputs (beside 0.2, a constant of a alone) but give" in sentence


def test_a_tensor_that_one_side_alone_reads_is_named() -> None:
    def net(engine: str, is_extra: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            cosine = graph.op("Cos", np.cos, x, line=2)
            if is_extra:
                fused = graph.op("Fuse", np.multiply, x, cosine, line=3)
            else:
                fused = graph.op("Fuse", lambda x: 2 * x, x, line=3)
            return graph.op("Add", np.add, fused, cosine, line=4)

        return one_input(engine, build)

    _, _, sentence = parting(net("a", is_extra=False), net("b", is_extra=True))
    assert "take equal inputs but for `Cos` (net.py:2) of b alone, but give" in sentence


def test_a_tensor_that_was_not_observed_is_not_said_to_be_equal() -> None:
    def net(engine: str, rate: float, observed: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            mask = graph.hold("constant", np.full((4, 4), rate), kind="constant", observed=observed)
            return graph.op("Mul", np.multiply, x, mask, line=2)

        return one_input(engine, build)

    _, _, sentence = parting(net("a", 0.9, observed=True), net("b", 0.1, observed=False))
    assert "equal inputs, as far as their values are known, but give" in sentence


def test_what_backward_starts_from_is_never_what_only_one_side_has() -> None:
    def net(engine: str, has_seed: bool, slope: float) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
        y = graph.op("Exp", np.exp, x)
        graph.result("out", y)
        if has_seed:
            seed = graph.leaf("seed", np.ones(5), "input", "backward")
        else:
            seed = graph.back("OnesLike", np.ones_like, y)
        dx = graph.back("Mul", lambda seed, y: slope * seed * y, seed, y, forward=y, line=2)
        graph.result("dx", dx, "backward")
        return graph.record()

    assert align(net("a", True, 3), net("b", False, 3)).divergence is None
    assert parting(net("a", True, 3), net("b", False, 2))[:2] == ("Mul", "Mul")


# The same ops, done in another way


def test_swapped_arguments_are_seen() -> None:
    def net(engine: str, swap: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            y = graph.leaf("y", np.eye(4), "input")
            return graph.op("Sub", np.subtract, *((y, x) if swap else (x, y)), line=3)

        return one_input(engine, build)

    left, right, sentence = parting(net("a", False), net("b", True))
    assert (left, right) == ("Sub", "Sub")
    assert "given in another order" in sentence
    assert "opposite in sign" in sentence


def test_halves_put_side_by_side_in_another_order_are_named_where_that_is_done() -> None:
    w = np.random.default_rng(2).standard_normal((8, 3))

    def net(engine: str, swap: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            halves = graph.op("Exp", np.exp, x, line=3), graph.op("Tanh", np.tanh, x, line=4)
            both = graph.op("Concat", side_by_side, *(halves[::-1] if swap else halves), line=5)
            scaled = graph.op("Mul", lambda h: h * 0.7, both, line=6)
            weight = graph.leaf("weight", w)
            return graph.op("MatMul", np.matmul, scaled, weight, line=7)

        return one_input(engine, build)

    def side_by_side(one: AnyArray, other: AnyArray) -> AnyArray:
        return np.concatenate((one, other), axis=1)

    left, right, sentence = parting(net("a", False), net("b", True))
    assert (left, right) == ("Concat", "Concat")
    assert "given in another order" in sentence
    assert "the same numbers in another order" in sentence
    assert align(net("a", False), net("b", False)).divergence is None


def test_halves_that_are_taken_apart_again_are_named_where_they_were_put_together() -> None:
    def net(engine: str, swap: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            halves = graph.op("Exp", np.exp, x, line=3), graph.op("Tanh", np.tanh, x, line=4)
            both = graph.op("Concat", stack, *(halves[::-1] if swap else halves), line=5)
            first = graph.op("Slice", lambda h: h[:4], both, line=6)
            second = graph.op("Slice", lambda h: h[4:], both, line=6)
            return graph.op("Add", np.add, graph.op("Sin", np.sin, first, line=7), second, line=8)

        return one_input(engine, build)

    def stack(one: AnyArray, other: AnyArray) -> AnyArray:
        return np.concatenate((one, other))

    assert parting(net("a", False), net("b", True))[:2] == ("Concat", "Concat")


def test_the_other_half_of_what_one_op_takes_apart_is_no_other_order() -> None:
    def net(engine: str, output: int) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            halves = graph.op("Split", lambda h: (h[:2], h[2:]), x, line=3)
            negative = graph.op_on_output("Neg", np.negative, halves, output, line=4)
            return graph.op("Exp", np.exp, negative, line=5)

        return one_input(engine, build)

    assert parting(net("a", 0), net("b", 1))[:2] == ("Neg", "Neg")


def test_a_product_of_swapped_factors_is_named_and_not_what_reads_its_transpose() -> None:
    def net(engine: str, swap: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            q = graph.op("Exp", np.exp, x, line=3)
            k = graph.op("Tanh", np.tanh, x, line=4)
            q, k = (k, q) if swap else (q, k)
            k_t = graph.op("Transpose", np.transpose, k, line=5)
            scores = graph.op("MatMul", np.matmul, q, k_t, line=6)
            scaled = graph.op("Mul", lambda h: h * 0.5, scores, line=7)
            return graph.op("Softmax", softmax, scaled, line=8)

        return one_input(engine, build)

    def softmax(h: AnyArray) -> AnyArray:
        powers = np.exp(h)
        probabilities: AnyArray = powers / powers.sum(-1, keepdims=True)
        return probabilities

    assert parting(net("a", False), net("b", True))[:2] == ("MatMul", "MatMul")


def test_axes_moved_to_other_places_are_named_where_they_are_moved() -> None:
    def net(engine: str, axes: tuple[int, ...]) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            h = graph.op("Exp", np.exp, x, line=3)
            flat = graph.op("Reshape", lambda h: h.reshape(4, 4, 1), h, line=4)
            moved = graph.op("Permute", lambda h: h.transpose(axes), flat, line=5)
            y = dense(graph, moved, engine == "a")
            back = graph.op("Reshape", lambda h: h.reshape(4, 4), y, line=7)
            return graph.op("Add", np.add, x, back, line=8)

        return one_input(engine, build)

    def dense(graph: ComputedGraph, h: int, in_one: bool) -> int:
        # Where one engine takes the product inside its addition, the way back leads through both.
        w, b = graph.leaf("w", np.full((1, 1), 1.5)), graph.leaf("b", np.full(1, 0.25))
        if in_one:
            return graph.op("addmm", lambda b, h, w: b + h @ w, b, h, w, line=6)
        return graph.op("BiasAdd", np.add, graph.op("MatMul", np.matmul, h, w, line=6), b, line=6)

    divergence = align(net("a", (0, 1, 2)), net("b", (1, 0, 2))).divergence
    assert divergence is not None
    assert divergence.ends[1].source == "net.py:5"


def test_of_ops_that_are_equally_alike_the_first_is_named() -> None:
    def net(engine: str, *factors: float) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            products = []
            for line, factor in enumerate(factors, start=3):
                products.append(graph.op("Muls", lambda x, f=factor: f * x, x, line=line))
            return graph.op("AddN", lambda *terms: sum(terms), *products)

        return one_input(engine, build)

    sentence = parting(net("a", 2, 4), net("b", 5, 11)).sentence
    assert "`Muls` (net.py:3) and `Muls` (net.py:3)" in sentence


def test_ops_of_one_module_part_from_one_another_whatever_they_read() -> None:
    def net(engine: str, op: str, read: str) -> GradGraph:
        graph = ComputedGraph(engine)
        leaves = {}
        for number, name in enumerate(("x", "y")):
            drawn = np.random.default_rng(number).standard_normal((4, 4))
            leaves[name] = graph.leaf(name, drawn, "input")
        graph.result("sum", graph.op("Add", np.add, leaves["x"], leaves["y"]))
        curve = graph.op(op, np.tanh, leaves[read], line=3, scope="net.curve")
        graph.result("out", curve)
        return graph.record()

    assert parting(net("a", "Tanh", "x"), net("b", "Softsign", "y"))[:2] == ("Tanh", "Softsign")


def softmax(x: AnyArray, axis: int) -> AnyArray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


def test_a_softmax_over_the_wrong_axis_is_seen() -> None:
    def net(engine: str, op: str, axis: int) -> GradGraph:
        return one_input(engine, lambda g, x: g.op(op, lambda x: softmax(x, axis), x, line=3))

    left, right, _ = parting(net("a", "Softmax", 0), net("b", "aten._softmax.default", 1))
    assert (left, right) == ("Softmax", "aten._softmax.default")


def batch_norm(eps: float) -> Function:
    """The normalised input, its mean, and the reciprocal of its deviation."""

    def compute(x: AnyArray) -> tuple[AnyArray, ...]:
        mean, deviation = x.mean(0), np.sqrt(x.var(0) + eps)
        return (x - mean) / deviation, mean, 1 / deviation

    return compute


def fused_batch_norm(eps: float) -> GradGraph:
    op = "aten.native_batch_norm.default"
    return one_input("b", lambda g, x: g.op(op, batch_norm(eps), x, line=8, scope="bn"))


def decomposed_batch_norm(graph: ComputedGraph, x: int) -> int:
    where: dict[str, Any] = {"line": 3, "scope": "bn"}
    mean = graph.op("ReduceMean", lambda x: x.mean(0), x, **where)
    variance = graph.op("ReduceVar", lambda x: x.var(0), x, **where)
    centred = graph.op("Sub", np.subtract, x, mean, **where)
    scale = graph.op("Rsqrt", lambda v: 1 / np.sqrt(v + 1e-5), variance, **where)
    return graph.op("Mul", np.multiply, centred, scale, **where)


def test_another_eps_of_batch_norm_is_named_at_the_module() -> None:
    left, right, _ = parting(fused_batch_norm(1e-3), fused_batch_norm(1e-2))
    assert (left, right) == ("aten.native_batch_norm.default", "aten.native_batch_norm.default")


def test_another_eps_of_batch_norm_is_named_at_the_module_even_where_it_is_decomposed() -> None:
    decomposed = one_input("a", decomposed_batch_norm)
    assert align(decomposed, fused_batch_norm(1e-5)).divergence is None
    left, right, sentence = parting(decomposed, fused_batch_norm(1e-2))
    assert right == "aten.native_batch_norm.default"
    assert left in {"ReduceVar", "Sub"}
    assert "(bn, net.py:3) to `Mul`" in sentence


def test_an_equal_second_output_does_not_excuse_a_first_one_that_differs() -> None:
    def net(eps: float) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        norm = graph.op("BatchNorm", batch_norm(eps), x, line=2)
        graph.result("out", graph.op("ReLU", relu, norm, line=3))
        graph.result("bn.running_mean", norm, output=1)
        return graph.record()

    left, right, _ = parting(net(1e-5), net(1e-1))
    assert (left, right) == ("BatchNorm", "BatchNorm")


def test_another_momentum_of_batch_norm_shows_only_where_running_statistics_are_results() -> None:
    def net(momentum: float, is_result: bool) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        y = graph.op("BatchNorm", lambda x: batch_norm(1e-5)(x)[0], x)
        running = graph.op("UpdateMean", lambda x: momentum * x.mean(0), x, scope="bn")
        graph.result("out", y)
        if is_result:
            graph.result("bn.running_mean", running)
        return graph.record()

    hidden = align(net(0.1, False), net(0.9, False))
    assert hidden.divergence is None
    assert reasons(hidden, "left", net(0.1, False)) == {"UpdateMean": "bookkeeping"}
    left, right, _ = parting(net(0.1, True), net(0.9, True))
    assert (left, right) == ("UpdateMean", "UpdateMean")


def erf(x: AnyArray) -> AnyArray:
    """Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    polynomial = t * (0.254829592 + series)
    return np.asarray(np.sign(x) * (1 - polynomial * np.exp(-x * x)))


def test_another_gelu_is_named_at_the_users_line() -> None:
    def decomposed(graph: ComputedGraph, x: int) -> int:
        where: dict[str, Any] = {"line": 3, "scope": "act"}
        scaled = graph.op("Div", lambda x: x / np.sqrt(2), x, **where)
        wave = graph.op("Erf", erf, scaled, **where)
        up = graph.op("Add", lambda e: 1 + e, wave, **where)
        return graph.op("Mul", lambda x, up: x * up / 2, x, up, **where)

    def tanh_gelu(x: AnyArray) -> AnyArray:
        return np.asarray(x / 2 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))))

    right_graph = one_input(
        "b", lambda g, x: g.op("aten.gelu.default", tanh_gelu, x, line=9, scope="act")
    )
    left, right, sentence = parting(one_input("a", decomposed), right_graph)
    assert (left, right) == ("Div", "aten.gelu.default")
    assert "the 4 ops from `Div` (act, net.py:3) to `Mul`" in sentence
    assert "`aten.gelu.default` (act, net.py:9) take equal inputs" in sentence


def test_what_fills_in_another_number_is_named_where_the_number_is_used() -> None:
    def net(engine: str, number: float) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            filled = graph.op("FillV2", lambda x: np.full(x.shape, number), x, line=2)
            return graph.op("Mul", np.multiply, x, filled, line=3)

        return one_input(engine, build)

    assert parting(net("a", 2), net("b", 3))[:2] == ("Mul", "Mul")


def test_ops_of_one_line_are_compared_up_to_where_they_are_as_large_as_the_other_op() -> None:
    def mean_of_squares(graph: ComputedGraph, x: int) -> int:
        shifted = graph.op("Sub", lambda x: x - 1, x, line=3)
        square = graph.op("Square", np.square, shifted, line=3)
        return graph.op("ReduceMean", np.mean, square, line=3)

    def squared_error(graph: ComputedGraph, x: int) -> int:
        error = graph.op("SquaredError", lambda x: 2 * (x - 1) ** 2, x, line=8)
        return graph.op("ReduceMean", np.mean, error, line=9)

    sentence = parting(one_input("a", mean_of_squares), one_input("b", squared_error)).sentence
    assert "the 2 ops from `Sub` (net.py:3) to `Square` and `SquaredError`" in sentence


def test_a_reshape_is_not_taken_for_an_op_that_hardly_changes_its_input() -> None:
    def net(engine: str, eps: float, reshapes: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            h = graph.op("Exp", np.exp, x)
            if reshapes:
                h = graph.op("Reshape", lambda h: h.reshape(2, 8), h)
            norm = graph.op("BatchNorm", lambda h: h / np.sqrt(1 + eps), h, line=5)
            return graph.op("Sin", lambda h: np.sin(h).reshape(4, 4), norm)

        return one_input(engine, build)

    left, right, _ = parting(net("a", 1e-3, True), net("b", 1e-5, False))
    assert (left, right) == ("BatchNorm", "BatchNorm")


# Values of any kind


def test_large_values_are_compared_by_their_figures() -> None:
    x = np.random.default_rng(5).standard_normal((64, 64))

    def transposed(graph: ComputedGraph, x: int) -> int:
        return graph.op("T", np.transpose, graph.op("Tanh", np.tanh, x))

    left = one_input("a", lambda g, x: g.op("Tanh", np.tanh, x), x)
    assert align(left, one_input("b", transposed, x)).divergence is None
    other = one_input("b", lambda g, x: g.op("Tanh", lambda x: np.tanh(x) * 1.01, x), x)
    assert parting(left, other)[:2] == ("Tanh", "Tanh")


def test_infinities_pair_and_differ_like_numbers() -> None:
    def net(op: str, least: float) -> GradGraph:
        x = np.array([0.0, 1.0, 4.0])
        return one_input("a", lambda g, x: g.op(op, lambda x: np.log(x + least), x), x)

    with np.errstate(divide="ignore"):
        left, same, other = net("Log", 0), net("aten.log.default", 0), net("Log", 1e-30)
    assert align(left, same).divergence is None
    divergence = align(left, other).divergence
    assert divergence is not None
    assert (reading(divergence.ends[0].value), divergence.gap.greatest) == ("-inf", None)


def test_an_unobserved_value_is_never_called_a_difference() -> None:
    freed = {"values": Absence("not_in_ir")}

    def two_ops(graph: ComputedGraph, x: int) -> int:
        sine = graph.op("Sin", np.sin, x, observed=False, missing=freed)
        return graph.op("Exp", np.exp, sine)

    one_op = one_input("c", lambda g, x: g.op("ExpSin", lambda x: np.exp(np.sin(x)), x))
    alignment = align(one_input("b", two_ops), one_op)
    assert alignment.divergence is None
    assert [(unpaired.reason, unpaired.why) for unpaired in alignment.unpaired] == [
        ("unobserved", Recorded(freed["values"]))
    ]


# Gradients


def test_a_forward_difference_too_small_for_the_outputs_is_still_where_gradients_part() -> None:
    def net(curve: float) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        h = graph.op("Gelu", lambda x: x + curve * x**3, x, line=3)
        z = graph.op("MatMul", np.matmul, h, graph.leaf("w", np.eye(4)), line=4)
        graph.result("loss", graph.op("Sum", lambda z: z.sum() * 0 + 5, z, line=5))
        dx = graph.back("GeluGrad", lambda h: h * 2, h, forward=h, line=3)
        graph.result("dx", dx, "backward")
        return graph.record()

    left, right, sentence = parting(net(0.1), net(0.12))
    assert (left, right) == ("Gelu", "Gelu")
    assert sentence.startswith("First divergence in forward")


def test_steps_of_forward_that_lead_to_equal_results_are_no_divergence() -> None:
    def net(scale: float, op: str, slope: float) -> GradGraph:
        graph = ComputedGraph("a")
        x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
        scaled = graph.op(op, lambda x: scale * x, x, line=2)
        y = graph.op("Wave", lambda scaled: np.sin(scaled / scale), scaled, line=3)
        graph.result("out", y)
        # What is kept differs, and so does what a gradient is computed from.
        dx = graph.back(
            "WaveGrad", lambda kept: slope * np.cos(kept / scale), scaled, forward=y, line=3
        )
        graph.result("dx", dx, "backward")
        return graph.record()

    assert align(net(2, "Twice", 1), net(3, "Thrice", 1)).divergence is None
    divergence = align(net(2, "Twice", 1), net(3, "Thrice", 1.5)).divergence
    assert divergence is not None
    assert divergence.phase == "backward"
    assert parting(net(2, "Twice", 1), net(3, "Thrice", 1.5))[:2] == ("WaveGrad", "WaveGrad")
    # The same op with another value is a divergence, though the results agree.
    assert parting(net(2, "Muls", 1), net(3, "Muls", 1.5))[:2] == ("Muls", "Muls")


def test_a_gradient_that_only_one_side_names_is_the_last_thing_to_report() -> None:
    def net(engine: str, curve: float, names_dy: bool) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
        y = graph.op("Sin", lambda x: np.sin(curve * x), x, line=2)
        graph.result("out", y)
        dx = graph.back("SinGrad", lambda x: curve * np.cos(curve * x), x, forward=y)
        graph.result("dx", dx, "backward")
        if names_dy:
            graph.result("dy", y, "backward")
        return graph.record()

    alignment = align(net("a", 1, True), net("b", 1, False))
    assert alignment.differing == ("dy",)
    assert alignment.divergence is not None
    assert "only a returns the gradient `dy`" in first_divergence(alignment)
    assert parting(net("a", 1, True), net("b", 2, False))[:2] == ("Sin", "Sin")


def test_graphs_without_results_part_in_forward_where_their_leaves_differ() -> None:
    def leaf(engine: str, value: float) -> GradGraph:
        graph = ComputedGraph(engine)
        graph.leaf("w", np.array([1.0, value, 4.0]))
        return graph.record()

    divergence = align(leaf("a", 2.0), leaf("b", 3.0)).divergence
    assert divergence is not None
    assert divergence.phase == "forward"
    assert "`w`" in said(divergence)


def test_of_several_steps_that_pass_numbers_on_the_one_that_moves_them_is_named() -> None:
    def moved(engine: str, first: Function) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            exponential = graph.op("Exp", np.exp, x, line=1)
            step = graph.op("Permute", first, exponential, line=2)
            step = graph.op("Reshape", np.copy, step, line=3)
            flat = graph.op("Reshape", lambda e: e.reshape(2, 8), step, line=4)
            return graph.op("MatMul", lambda e: e @ np.arange(24.0).reshape(8, 3), flat, line=5)

        return one_input(engine, build)

    divergence = align(moved("a", np.transpose), moved("b", np.copy)).divergence
    assert divergence is not None
    assert sources(divergence) == ("net.py:2", "net.py:2")


def test_a_leaf_of_backward_parts_the_graphs_in_backward() -> None:
    def net(engine: str, factor: float) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.array([1.0, 2.0, 4.0]), "input")
        sens = factor * np.array([3.0, 5.0, 7.0])
        scale = graph.leaf("sens", sens, "input", "backward")
        graph.result("out", graph.op("Exp", np.exp, x))
        graph.result("dx", graph.back("Mul", np.multiply, x, scale), "backward")
        return graph.record()

    divergence = align(net("a", 1.0), net("b", 2.0)).divergence
    assert divergence is not None
    assert divergence.phase == "backward"
    assert "`sens`" in said(divergence)
