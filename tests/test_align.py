"""Alignment by value, on synthetic gradient graphs whose every value is computed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.align.families import family
from explorer.compare.align.order import increasing
from explorer.engines.capture.lint import lint
from explorer.model.alignment import Alignment
from explorer.model.arrays import AnyArray
from explorer.model.graph import Edge, GradGraph, Kind, Node, Output, Phase
from explorer.numeric.summaries import summarise

Function = Callable[..., Any]


@dataclass
class Tape:
    """Builds a graph by computing it: each method adds a node with its numpy value and returns its
    id.
    """

    engine: str
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    values: dict[str, tuple[AnyArray, ...]] = field(default_factory=dict)
    noise: float = 0.0
    planted: str = ""
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def add(
        self, op: str, values: tuple[AnyArray, ...], args: tuple[str, ...], kind: Kind, **known: Any
    ) -> str:
        node = f"n{len(self.nodes)}"
        observed = known.pop("observed", True)
        found = tuple(
            Output(v.shape, v.dtype.name, summarise(v) if observed else None) for v in values
        )
        self.nodes.append(
            Node(id=node, op=op, kind=kind, order=len(self.nodes), outputs=found, **known)
        )
        phases = {n.id: n for n in self.nodes}
        for slot, arg in enumerate(args):
            crosses = (
                phases[arg].phase == "forward"
                and known["phase"] == "backward"
                and phases[arg].kind == "op"
            )
            self.edges.append(Edge(arg, node, 0, slot, "saved" if crosses else "data"))
        self.values[node] = values
        return node

    def leaf(
        self, name: str, value: Any, kind: Kind = "parameter", phase: Phase = "forward"
    ) -> str:
        return self.add(kind, (np.asarray(value),), (), kind, name=name, phase=phase)

    def op(
        self,
        op: str,
        function: Function,
        *args: str,
        line: int = 0,
        scope: str = "",
        phase: Phase = "forward",
        **known: Any,
    ) -> str:
        value = function(*(self.values[arg][0] for arg in args))
        values = tuple(np.asarray(v) for v in (value if isinstance(value, tuple) else (value,)))
        if self.noise:
            values = tuple(v * (1 + self.noise * self.rng.standard_normal(v.shape)) for v in values)
        if op == self.planted:
            self.planted = ""
            spoiled = values[0].copy()
            spoiled.flat[int(spoiled.argmax())] *= 1.001
            values = (spoiled, *values[1:])
        source = (f"net.py:{line}",) if line else ()
        return self.add(op, values, args, "op", source=source, scope=scope, phase=phase, **known)

    def back(self, op: str, function: Function, *args: str, **known: Any) -> str:
        return self.op(op, function, *args, phase="backward", **known)

    def result(self, name: str, node: str, phase: Phase = "forward") -> None:
        self.add("output", self.values[node][:1], (node,), "output", name=name, phase=phase)

    def graph(self) -> GradGraph:
        graph = GradGraph(
            engine=self.engine,
            case="grad",
            stage="tape",
            nodes=tuple(self.nodes),
            edges=tuple(self.edges),
        )
        assert lint(graph) == []
        return graph


def start() -> dict[str, AnyArray]:
    rng = np.random.default_rng(0)
    shapes = {
        "x": (4, 5),
        "y": (4, 3),
        "l1.weight": (6, 5),
        "l1.bias": (6,),
        "l2.weight": (3, 6),
        "l2.bias": (3,),
    }
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def torch_like(
    tape: Tape | None = None, values: dict[str, AnyArray] | None = None, reduce: str = "mean"
) -> GradGraph:
    """Two dense layers, relu and squared error as PyTorch's dispatcher shows them, with their
    backward.
    """
    t, v = tape or Tape("torch-tape"), values or start()
    at = {
        name: t.leaf(name, value, "input" if len(name) == 1 else "parameter")
        for name, value in v.items()
    }
    w1 = t.op("aten.t.default", np.transpose, at["l1.weight"], line=5, scope="l1")
    a = t.op(
        "aten.addmm.default",
        lambda b, x, w: x @ w + b,
        at["l1.bias"],
        at["x"],
        w1,
        line=5,
        scope="l1",
    )
    h = t.op("aten.relu.default", lambda a: np.maximum(a, 0), a, line=6)
    w2 = t.op("aten.t.default", np.transpose, at["l2.weight"], line=7, scope="l2")
    z = t.op(
        "aten.addmm.default", lambda b, x, w: x @ w + b, at["l2.bias"], h, w2, line=7, scope="l2"
    )
    average = np.mean if reduce == "mean" else np.sum
    loss = t.op("aten.mse_loss.default", lambda z, y: average((z - y) ** 2), z, at["y"], line=8)
    count = 12.0 if reduce == "mean" else 1.0
    one = t.add("aten.ones_like.default", (np.array(1.0),), (), "op", phase="backward")
    dz = t.back(
        "aten.mse_loss_backward.default",
        lambda g, z, y: 2 * (z - y) / count * g,
        one,
        z,
        at["y"],
        forward=loss,
    )
    dh = t.back("aten.mm.default", lambda g, w: g @ w, dz, at["l2.weight"], forward=z)
    dw2 = t.back("aten.mm.default", lambda g, h: g.T @ h, dz, h, forward=z)
    db2 = t.back("aten.sum.dim_IntList", lambda g: g.sum(0), dz, forward=z)
    da = t.back("aten.threshold_backward.default", lambda g, h: g * (h > 0), dh, h, forward=h)
    dx = t.back("aten.mm.default", lambda g, w: g @ w, da, at["l1.weight"], forward=a)
    dw1 = t.back("aten.mm.default", lambda g, x: g.T @ x, da, at["x"], forward=a)
    db1 = t.back("aten.sum.dim_IntList", lambda g: g.sum(0), da, forward=a)
    t.result("loss", loss)
    for name, node in {
        "dx": dx,
        "dl1.weight": dw1,
        "dl1.bias": db1,
        "dl2.weight": dw2,
        "dl2.bias": db2,
    }.items():
        t.result(name, node, "backward")
    return t.graph()


def mindspore_like(
    tape: Tape | None = None, values: dict[str, AnyArray] | None = None
) -> GradGraph:
    """The same net as MindSpore's IR shows it: MatMul and BiasAdd apart, the error in pieces,
    gradients in another order.
    """
    t, v = tape or Tape("mindspore-graph"), values or start()
    at = {
        name: t.leaf(name, value, "input" if len(name) == 1 else "parameter")
        for name, value in v.items()
    }
    m1 = t.op("MatMul", lambda x, w: x @ w.T, at["x"], at["l1.weight"], line=25, scope="l1")
    a = t.op("BiasAdd", np.add, m1, at["l1.bias"], line=25, scope="l1")
    h = t.op("ReLU", lambda a: np.maximum(a, 0), a, line=26)
    m2 = t.op("MatMul", lambda x, w: x @ w.T, h, at["l2.weight"], line=27, scope="l2")
    z = t.op("BiasAdd", np.add, m2, at["l2.bias"], line=27, scope="l2")
    e = t.op("Sub", np.subtract, z, at["y"], line=28, scope="loss")
    s = t.op("Square", np.square, e, line=28, scope="loss")
    loss = t.op("ReduceMean", np.mean, s, line=28, scope="loss")
    ds = t.back("Fill", lambda s: np.full(s.shape, 1 / s.size), s, forward=loss)
    scaled = t.back("Mul", np.multiply, ds, e, forward=s)
    dz = t.back("Muls", lambda g: 2 * g, scaled, forward=s)
    db2 = t.back("BiasAddGrad", lambda g: g.sum(0), dz, forward=z)
    dw2 = t.back("MatMul", lambda g, h: g.T @ h, dz, h, forward=m2)
    dh = t.back("MatMul", lambda g, w: g @ w, dz, at["l2.weight"], forward=m2)
    da = t.back("ReluGrad", lambda g, h: g * (h > 0), dh, h, forward=h)
    db1 = t.back("BiasAddGrad", lambda g: g.sum(0), da, forward=a)
    dw1 = t.back("MatMul", lambda g, x: g.T @ x, da, at["x"], forward=m1)
    dx = t.back("MatMul", lambda g, w: g @ w, da, at["l1.weight"], forward=m1)
    t.result("loss", loss)
    for name, node in {
        "dx": dx,
        "dl1.weight": dw1,
        "dl1.bias": db1,
        "dl2.weight": dw2,
        "dl2.bias": db2,
    }.items():
        t.result(name, node, "backward")
    return t.graph()


def ops(graph: GradGraph, found: Alignment) -> set[tuple[str, str]]:
    """The pairs of ops, by op name of each side."""
    other = {"torch": torch_like().by_id(), "self": graph.by_id()}
    return {
        (graph.by_id()[p.left].op, other["torch"][p.right].op)
        for p in found.pairs
        if graph.by_id()[p.left].kind == "op"
    }


def reasons(found: Alignment, side: str, graph: GradGraph) -> dict[str, str]:
    return {graph.by_id()[u.node].op: u.reason for u in found.unpaired if u.side == side}


def small(
    engine: str, build: Callable[[Tape, str], str], x: Any = None, name: str = "out"
) -> GradGraph:
    """A net of one input whose result is ``build``'s node."""
    t = Tape(engine)
    at = t.leaf("x", np.random.default_rng(1).standard_normal((4, 4)) if x is None else x, "input")
    t.result(name, build(t, at))
    return t.graph()


def parted(left: GradGraph, right: GradGraph) -> tuple[str | None, str | None, str]:
    """The ops where two graphs part, and the sentence."""
    found = align(left, right).divergence
    assert found is not None
    at = tuple(
        graph.by_id()[node].name or graph.by_id()[node].op if node else None
        for graph, node in ((left, found.left), (right, found.right))
    )
    return at[0], at[1], found.sentence


def test_a_graph_pairs_every_node_with_itself() -> None:
    graph = torch_like()
    found = align(graph, graph)
    assert {p.left: p.right for p in found.pairs} == {n.id: n.id for n in graph.nodes}
    assert (found.unpaired, found.divergence, found.differing) == ((), None, ())
    assert sorted(found.numbers("left").values()) == list(range(1, len(graph.nodes) + 1))
    assert found.left_coverage == found.right_coverage
    assert (found.left_coverage.forward, found.left_coverage.backward_total) == (6, 9)


def test_two_frameworks_pair_by_value_whatever_their_ops_are_called() -> None:
    left = mindspore_like()
    found = align(left, torch_like())
    assert found.divergence is None
    assert ops(left, found) >= {
        ("BiasAdd", "aten.addmm.default"),
        ("ReLU", "aten.relu.default"),
        ("ReduceMean", "aten.mse_loss.default"),
        ("Muls", "aten.mse_loss_backward.default"),
        ("ReluGrad", "aten.threshold_backward.default"),
        ("BiasAddGrad", "aten.sum.dim_IntList"),
        ("MatMul", "aten.mm.default"),
    }
    assert (
        found.left_coverage.forward,
        found.left_coverage.forward_total,
        found.left_coverage.within,
    ) == (8, 8, 6)


def within(
    found: Alignment, left: GradGraph, right: GradGraph
) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """The steps inside the partners of each pair of ops, by op names."""
    one, other = left.by_id(), right.by_id()
    return {
        (one[p.left].op, other[p.right].op): (
            {one[n].op for n in p.left_within},
            {other[n].op for n in p.right_within},
        )
        for p in found.pairs
        if p.left_within or p.right_within
    }


def test_a_product_and_its_bias_are_both_paired_with_the_one_op_that_does_both() -> None:
    left, right = mindspore_like(), torch_like()
    found = align(left, right)
    assert within(found, left, right) == {
        ("BiasAdd", "aten.addmm.default"): ({"MatMul"}, {"aten.t.default"}),
        ("ReduceMean", "aten.mse_loss.default"): ({"Sub", "Square"}, set()),
        ("Muls", "aten.mse_loss_backward.default"): ({"Fill", "Mul"}, {"aten.ones_like.default"}),
    }
    assert found.unpaired == ()
    products = [node.id for node in left.nodes if node.op == "MatMul" and node.phase == "forward"]
    numbers = found.numbers("left"), found.numbers("right")
    assert [numbers[0][node] for node in products] == [
        numbers[1][node.id] for node in right.nodes if "addmm" in node.op
    ]


def dense(t: Tape, x: str, fused: bool, extra: str = "") -> str:
    """x·w + b in one op or in two; ``extra`` says who else takes the product, or what else goes
    into it.
    """
    w, b = (
        t.leaf("w", np.random.default_rng(2).standard_normal((4, 4))),
        t.leaf("b", np.arange(4.0)),
    )
    if fused:
        return t.op("aten.addmm.default", lambda b, x, w: x @ w + b, b, x, w)
    more = [t.leaf("mask", np.ones(4))] if extra == "fed by another leaf" else []
    product = t.op("MatMul", lambda x, w, *more: x @ w, x, w, *more)
    if extra == "a result":
        t.result("product", product)
    if extra == "read elsewhere":
        t.result("square", t.op("Square", np.square, product))
    return t.op("BiasAdd", np.add, product, b)


@pytest.mark.parametrize("extra", ["a result", "read elsewhere", "fed by another leaf"])
def test_a_step_is_inside_an_op_only_if_nothing_else_uses_it_and_nothing_else_goes_in(
    extra: str,
) -> None:
    one, other = (
        small("a", lambda t, x: dense(t, x, False)),
        small("b", lambda t, x: dense(t, x, True)),
    )
    assert within(align(one, other), one, other) == {
        ("BiasAdd", "aten.addmm.default"): ({"MatMul"}, set())
    }
    one = small("a", lambda t, x: dense(t, x, False, extra))
    found = align(one, other)
    assert within(found, one, other) == {}
    assert "MatMul" in reasons(found, "left", one)


def convolution(engine: str, together: bool, db: float) -> GradGraph:
    """Three gradients of y = x·w + b, by one op or by three; ``db`` is what the gradient of b
    cancels to.
    """
    t = Tape(engine)
    x = t.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
    y = dense(t, x, True)
    t.result("out", y)
    g = t.back("Cos", np.cos, y, forward=y)
    every: list[Function] = [
        lambda g: g @ np.ones((4, 4)),
        lambda g: g * g,
        lambda g: g[0] * 0 + db,
    ]
    if together:
        back = t.back(
            "aten.convolution_backward.default", lambda g: tuple(f(g) for f in every), g, forward=y
        )
        made = [(back, 0), (back, 1), (back, 2)]
    else:
        ops = ("Conv2DBackpropInput", "Conv2DBackpropFilter", "BiasAddGrad")
        made = [(t.back(op, f, g, forward=y), 0) for op, f in zip(ops, every, strict=True)]
    for name, (node, slot) in zip(("dx", "dw", "db"), made, strict=True):
        end = t.add(
            "output", (t.values[node][slot],), (node,), "output", phase="backward", name=name
        )
        t.edges[-1] = Edge(node, end, slot, 0)
    return t.graph()


@pytest.mark.parametrize("db", [0.5, 1e-8])
def test_ops_that_each_yield_one_gradient_pair_with_the_outputs_of_the_op_that_yields_all(
    db: float,
) -> None:
    split, whole = (
        convolution("mindspore-graph", False, db),
        convolution("torch-tape", True, -db if db < 1e-6 else db),
    )
    for left, right in ((split, whole), (whole, split)):
        found = align(left, right)
        assert found.divergence is None
        nodes = left.by_id(), right.by_id()
        made = [
            (
                p.number,
                {(nodes[0][p.left].op, p.left_output), (nodes[1][p.right].op, p.right_output)},
            )
            for p in found.pairs
            if "convolution_backward" in nodes[0][p.left].op + nodes[1][p.right].op
        ]
        assert [ends for _, ends in made] == [
            {("Conv2DBackpropInput", 0), ("aten.convolution_backward.default", 0)},
            {("Conv2DBackpropFilter", 0), ("aten.convolution_backward.default", 1)},
            {("BiasAddGrad", 0), ("aten.convolution_backward.default", 2)},
        ]
        assert len({number for number, _ in made}) == 1
        assert found.left_coverage.backward == found.left_coverage.backward_total
        assert found.right_coverage.backward == found.right_coverage.backward_total


@pytest.mark.parametrize("noise", [1e-7, 1e-6])
def test_rounding_noise_splits_no_pair(noise: float) -> None:
    plain, noisy = mindspore_like(), mindspore_like(Tape("torch-tape", noise=noise))
    found = align(plain, noisy)
    assert found.divergence is None
    assert {p.left: p.right for p in found.pairs} == {n.id: n.id for n in plain.nodes}


@pytest.mark.parametrize("op", ["MatMul", "BiasAdd", "ReLU", "Sub", "Square", "ReduceMean"])
def test_one_element_changed_by_a_thousandth_is_the_first_divergence_in_forward(op: str) -> None:
    left, right, sentence = parted(mindspore_like(), mindspore_like(Tape("spoiled", planted=op)))
    assert (left, right) == (op, op)
    assert sentence.startswith(f"First divergence in forward: `{op}` (")
    assert "take equal inputs but give different values" in sentence


@pytest.mark.parametrize("op", ["Muls", "BiasAddGrad", "ReluGrad"])
def test_one_element_changed_by_a_thousandth_is_the_first_divergence_in_backward(op: str) -> None:
    left, right, sentence = parted(mindspore_like(), mindspore_like(Tape("spoiled", planted=op)))
    assert (left, right) == (op, op)
    assert sentence.startswith(f"First divergence in backward: `{op}`")


def test_what_follows_from_a_divergence_is_told_apart_from_it() -> None:
    left = mindspore_like()
    found = align(left, mindspore_like(Tape("spoiled", planted="ReLU")))
    why = reasons(found, "left", left)
    assert (why["ReLU"], why["Sub"], why["ReduceMean"], why["ReluGrad"]) == (
        "difference",
        "consequence",
        "consequence",
        "consequence",
    )


def test_mean_for_sum_is_named_with_its_factor() -> None:
    left, right, sentence = parted(torch_like(), torch_like(Tape("mindspore-tape"), reduce="sum"))
    assert (left, right) == ("aten.mse_loss.default", "aten.mse_loss.default")
    assert "12 times" in sentence
    assert "net.py:8" in sentence


def test_mean_for_sum_across_frameworks_is_named_at_the_reduction() -> None:
    left, right, _ = parted(mindspore_like(), torch_like(reduce="sum"))
    assert (left, right) == ("Sub", "aten.mse_loss.default")
    found = align(mindspore_like(), torch_like(reduce="sum")).divergence
    assert found is not None
    assert "the 3 ops from `Sub` (loss, net.py:28) to `ReduceMean`" in found.sentence
    assert found.greatest == pytest.approx(11 * float(found.left_value), rel=1e-4)


def test_a_parameter_that_starts_elsewhere_is_the_divergence() -> None:
    other = start() | {"l2.bias": np.zeros(3)}
    left, right, sentence = parted(mindspore_like(), torch_like(values=other))
    assert (left, right) == ("l2.bias", "l2.bias")
    assert sentence.startswith(
        "First divergence: the nets start from different values of `l2.bias`: "
    )


def test_an_input_that_differs_is_the_divergence_even_where_inputs_were_swapped() -> None:
    values = start() | {"y": np.ones((4, 3))}
    assert parted(mindspore_like(), torch_like(values=values))[:2] == ("y", "y")


def test_a_transposed_weight_of_square_shape_is_not_the_same_weight() -> None:
    w = np.random.default_rng(2).standard_normal((4, 4))

    def net(weight: AnyArray) -> Callable[[Tape, str], str]:
        return lambda t, x: t.op("MatMul", np.matmul, x, t.leaf("fc.weight", weight), line=3)

    left, right, sentence = parted(small("a", net(w)), small("b", net(w.T.copy())))
    assert (left, right) == ("MatMul", "MatMul")
    assert "`fc.weight` against `fc.weight`: the same numbers, transposed" in sentence
    found = align(small("a", net(w)), small("b", net(w.T.copy())))
    assert {p.how for p in found.pairs} == {"name", "transposed"}


def test_a_missing_bias_is_named_by_its_parameter() -> None:
    w, b = np.random.default_rng(2).standard_normal((4, 4)), np.arange(4.0)

    def with_bias(t: Tape, x: str) -> str:
        weight, bias = t.leaf("fc.weight", w), t.leaf("fc.bias", b)
        return t.op(
            "aten.addmm.default", lambda b, x, w: x @ w + b, bias, x, weight, line=4, scope="fc"
        )

    def without(t: Tape, x: str) -> str:
        y = t.op("MatMul", np.matmul, x, t.leaf("fc.weight", w), line=9, scope="fc")
        return t.op("ReLU", lambda y: np.maximum(y, 0), y)

    left, right, sentence = parted(
        small("a", without), small("torch-tape", lambda t, x: t.op("relu", abs, with_bias(t, x)))
    )
    assert (left, right) == (None, "fc.bias")
    assert "exists in torch-tape only; `aten.addmm.default` (fc, net.py:4) uses it" in sentence


def test_swapped_arguments_are_seen() -> None:
    def net(swap: bool) -> Callable[[Tape, str], str]:
        def build(t: Tape, x: str) -> str:
            y = t.leaf("y", np.eye(4), "input")
            return t.op("Sub", np.subtract, *((y, x) if swap else (x, y)), line=3)

        return build

    left, right, sentence = parted(small("a", net(False)), small("b", net(True)))
    assert (left, right) == ("Sub", "Sub")
    assert "given in another order" in sentence
    assert "opposite in sign" in sentence


def test_a_dropout_left_on_has_no_counterpart() -> None:
    mask = np.random.default_rng(3).random((4, 4)) > 0.5
    w = np.random.default_rng(4).standard_normal((4, 4))

    def net(drop: bool) -> Callable[[Tape, str], str]:
        def build(t: Tape, x: str) -> str:
            h = t.op("Dropout", lambda x: x * mask * 2, x, line=3, scope="drop") if drop else x
            return t.op("MatMul", np.matmul, h, t.leaf("w", w), line=4)

        return build

    left, right, sentence = parted(
        small("mindspore-tape", net(True)), small("torch-tape", net(False))
    )
    assert (left, right) == ("Dropout", None)
    assert "has no counterpart in torch-tape, which goes on with `MatMul` (net.py:4)" in sentence
    left, right, _ = parted(small("torch-tape", net(False)), small("mindspore-tape", net(True)))
    assert (left, right) == (None, "Dropout")


def softmax(x: AnyArray, axis: int) -> AnyArray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


def test_a_softmax_over_the_wrong_axis_is_seen() -> None:
    left = small("a", lambda t, x: t.op("Softmax", lambda x: softmax(x, 0), x, line=3))
    right = small(
        "b", lambda t, x: t.op("aten._softmax.default", lambda x: softmax(x, 1), x, line=4)
    )
    assert parted(left, right)[:2] == ("Softmax", "aten._softmax.default")


def batch_norm(eps: float, momentum: float) -> Function:
    def compute(x: AnyArray) -> tuple[AnyArray, ...]:
        mean, var = x.mean(0), x.var(0)
        return (x - mean) / np.sqrt(var + eps), mean, 1 / np.sqrt(var + eps), momentum * mean

    return compute


def test_another_eps_of_batch_norm_is_named_at_the_module_even_where_it_is_decomposed() -> None:
    def decomposed(t: Tape, x: str) -> str:
        mean = t.op("ReduceMean", lambda x: x.mean(0), x, line=3, scope="bn")
        var = t.op("ReduceVar", lambda x: x.var(0), x, line=3, scope="bn")
        centred = t.op("Sub", np.subtract, x, mean, line=3, scope="bn")
        scale = t.op("Rsqrt", lambda v: 1 / np.sqrt(v + 1e-5), var, line=3, scope="bn")
        return t.op("Mul", np.multiply, centred, scale, line=3, scope="bn")

    def fused(eps: float) -> Callable[[Tape, str], str]:
        return lambda t, x: t.op(
            "aten.native_batch_norm.default", batch_norm(eps, 0.1), x, line=8, scope="bn"
        )

    assert align(small("a", decomposed), small("b", fused(1e-5))).divergence is None
    left, right, sentence = parted(small("a", decomposed), small("b", fused(1e-2)))
    assert right == "aten.native_batch_norm.default"
    assert left in {"ReduceVar", "Sub"}
    assert "(bn, net.py:3) to `Mul`" in sentence
    assert (
        parted(small("a", fused(1e-3)), small("b", fused(1e-2)))[0]
        == "aten.native_batch_norm.default"
    )


def test_another_momentum_of_batch_norm_shows_only_where_running_statistics_are_results() -> None:
    def net(momentum: float, asked: bool) -> GradGraph:
        t = Tape("a")
        x = t.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        y = t.op("BatchNorm", lambda x: batch_norm(1e-5, 0)(x)[0], x)
        running = t.op("UpdateMean", lambda x: momentum * x.mean(0), x, scope="bn")
        t.result("out", y)
        if asked:
            t.result("bn.running_mean", running)
        return t.graph()

    assert align(net(0.1, False), net(0.9, False)).divergence is None
    assert reasons(align(net(0.1, False), net(0.9, False)), "left", net(0.1, False)) == {
        "UpdateMean": "bookkeeping"
    }
    assert parted(net(0.1, True), net(0.9, True))[:2] == ("UpdateMean", "UpdateMean")


def test_another_gelu_is_named_at_the_users_line() -> None:
    def erf(x: AnyArray) -> AnyArray:
        t = 1 / (1 + 0.3275911 * np.abs(x))
        poly = t * (
            0.254829592
            + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
        )
        return np.asarray(np.sign(x) * (1 - poly * np.exp(-x * x)))

    def decomposed(t: Tape, x: str) -> str:
        known: dict[str, Any] = {"line": 3, "scope": "act"}
        scaled = t.op("Div", lambda x: x / np.sqrt(2), x, **known)
        wave = t.op("Erf", erf, scaled, **known)
        up = t.op("Add", lambda e: 1 + e, wave, **known)
        return t.op("Mul", lambda x, u: x * u / 2, x, up, **known)

    def tanh(t: Tape, x: str) -> str:
        return t.op(
            "aten.gelu.default",
            lambda x: x / 2 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))),
            x,
            line=9,
            scope="act",
        )

    left, right, sentence = parted(small("a", decomposed), small("b", tanh))
    assert (left, right) == ("Div", "aten.gelu.default")
    assert (
        "the 4 ops from `Div` (act, net.py:3) to `Mul` and `aten.gelu.default` (act, net.py:9) take equal inputs"
        in sentence
    )


def branch(engine: str, detached: bool) -> GradGraph:
    """y = sum(3x · sin x), with or without the gradient through the second factor."""
    t = Tape(engine)
    x = t.leaf("x", np.linspace(0.5, 2, 5), "input")
    a, b = t.op("Muls", lambda x: 3 * x, x, line=2), t.op("Sin", np.sin, x, line=3)
    product = t.op("Mul", np.multiply, a, b, line=4)
    t.result("loss", t.op("Sum", np.sum, product, line=5))
    g = t.back("Mul", lambda b: 3 * b, b, forward=a)
    if not detached:
        other = t.back("SinBackward0", lambda a, x: a * np.cos(x), a, x, forward=b, line=3)
        g = t.back("AddN", np.add, g, other)
    t.result("dx", g, "backward")
    return t.graph()


def test_a_detached_branch_diverges_in_backward_at_the_gradient_that_only_one_side_has() -> None:
    left, right, sentence = parted(branch("torch-tape", False), branch("mindspore-graph", True))
    assert (left, right) == ("SinBackward0", None)
    assert sentence.startswith(
        "First divergence in backward: `SinBackward0` (net.py:3) of torch-tape has no counterpart in mindspore-graph"
    )
    assert parted(branch("mindspore-graph", True), branch("torch-tape", False))[:2] == (
        None,
        "SinBackward0",
    )


def gate(engine: str, detach: str) -> GradGraph:
    """y = sum(x · sin x), with or without an op that stops the gradient before the sine."""
    t = Tape(engine)
    x = t.leaf("x", np.linspace(0.5, 2, 5), "input")
    h = t.op("Exp", np.exp, x, line=1)
    held = t.op("View", np.copy, t.op(detach, np.copy, h, line=2), line=2) if detach else h
    wave = t.op("Sin", np.sin, held, line=3)
    t.result("loss", t.op("Sum", np.sum, t.op("Mul", np.multiply, h, wave, line=4), line=5))
    g = t.back("Mul", np.copy, wave, forward=wave)
    if not detach:
        g = t.back(
            "AddN", np.add, g, t.back("SinGrad", lambda h: h * np.cos(h), h, forward=wave, line=3)
        )
    t.result("dx", t.back("Mul", np.multiply, g, h, forward=h), "backward")
    return t.graph()


@pytest.mark.parametrize("detach", ["aten.detach.default", "StopGradient"])
def test_an_op_that_stops_a_gradient_is_named_where_the_other_side_passes_it_on(
    detach: str,
) -> None:
    left, right, sentence = parted(gate("stops", detach), gate("passes", ""))
    assert (left, right) == (detach, "SinGrad")
    assert (
        f"`{detach}` (net.py:2) of stops stops the gradient that passes passes on in `SinGrad` (net.py:3)"
        in sentence
    )
    assert parted(gate("passes", ""), gate("stops", detach))[:2] == ("SinGrad", detach)
    assert align(gate("stops", detach), gate("stops too", detach)).divergence is None


def test_an_equal_second_output_does_not_excuse_a_first_one_that_differs() -> None:
    def net(eps: float) -> GradGraph:
        t = Tape("a")
        x = t.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        y = t.op("BatchNorm", lambda x: (batch_norm(eps, 0)(x)[0], 0.1 * x.mean(0)), x, line=2)
        t.result("out", t.op("ReLU", lambda y: np.maximum(y, 0), y, line=3))
        node = t.add(
            "output", (t.values[y][1],), (y,), "output", phase="forward", name="bn.running_mean"
        )
        t.edges[-1] = Edge(y, node, 1, 0)
        return t.graph()

    assert parted(net(1e-5), net(1e-1))[:2] == ("BatchNorm", "BatchNorm")


def test_aliased_inputs_diverge_where_the_tape_sums_into_both() -> None:
    def net(tape: bool) -> GradGraph:
        t = Tape("torch-tape" if tape else "mindspore-graph")
        value = np.array([1.0, 2.0, 3.0])
        a, b = t.leaf("a", value, "input"), t.leaf("b", value, "input")
        product = t.op("Mul", np.multiply, a, b, line=2)
        t.result("loss", t.op("Sum", np.sum, product, line=3))
        da, db = (
            t.back("Mul", np.copy, b, forward=product),
            t.back("Mul", np.copy, a, forward=product),
        )
        if tape:
            da = db = t.add("accumulate", (value * 2,), (da, db), "accumulate", phase="backward")
        t.result("da", da, "backward")
        t.result("db", db, "backward")
        return t.graph()

    found = align(net(True), net(False))
    assert found.differing == ("da", "db")
    assert found.divergence is not None
    assert found.divergence.phase == "backward"
    assert (
        "`accumulate` of torch-tape adds 2 gradients that mindspore-graph does not add"
        in found.divergence.sentence
    )
    assert align(net(True), net(True)).divergence is None


def test_a_gradient_that_only_one_side_names_is_the_last_thing_to_report() -> None:
    full, short = branch("a", True), branch("b", True)
    extra = Tape("a", list(full.nodes), list(full.edges), {full.nodes[5].id: (np.ones(5),)})
    extra.result("dy", full.nodes[5].id, "backward")
    found = align(extra.graph(), short)
    assert found.divergence is not None
    assert (
        found.divergence.sentence
        == "First divergence in backward: `dy` is a result of a only; b has none"
    )
    assert found.differing == ("dy",)


def chain(engine: str, length: int, step: Function) -> GradGraph:
    t = Tape(engine)
    here = t.leaf("x", np.array([0.5, -1.0, 2.0]), "input")
    nodes, edges = t.nodes, t.edges
    value = t.values[here][0]
    for index in range(1, length):
        value = step(value)
        nodes.append(
            Node(
                id=f"n{index}",
                op="Add",
                kind="op",
                phase="forward",
                order=index,
                outputs=(Output((3,), "float64", summarise(value)),),
            )
        )
        edges.append(Edge(f"n{index - 1}", f"n{index}"))
    t.values[nodes[-1].id] = (value,)
    t.result("out", nodes[-1].id)
    return t.graph()


@pytest.mark.parametrize("step", [lambda v: v + 0.01, lambda v: v], ids=["near", "equal"])
def test_a_chain_of_ten_thousand_nodes_pairs_in_order(step: Function) -> None:
    graph = chain("a", 10_000, step)
    found = align(graph, graph)
    assert {p.left: p.right for p in found.pairs} == {n.id: n.id for n in graph.nodes}


def test_a_hundred_equal_subgraphs_pair_copy_by_copy() -> None:
    t = Tape("a")
    x = t.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    w = t.leaf("w", np.random.default_rng(2).standard_normal((4, 4)))
    total = x
    for _ in range(100):
        h = t.op("MatMul", np.matmul, x, w)
        h = t.op("Tanh", np.tanh, h)
        total = t.op("Add", np.add, total, t.op("MatMul", np.matmul, h, w))
    t.result("out", total)
    graph = t.graph()
    assert {p.left: p.right for p in align(graph, graph).pairs} == {n.id: n.id for n in graph.nodes}


def test_many_equal_scalars_pair_by_where_they_come_from() -> None:
    t = Tape("a")
    x = t.leaf("x", np.random.default_rng(1).standard_normal(4), "input")
    ones = [
        t.op(op, lambda x: np.array(1.0), x, scope=f"s{i}")
        for i, op in enumerate(["OnesLike", "Fill", "Sign", "OnesLike"] * 50)
    ]
    t.result("out", t.op("Add", lambda *v: sum(v), *ones))
    graph = t.graph()
    shuffled = align(graph, msgspec.structs.replace(graph, engine="b"))
    assert {p.left: p.right for p in shuffled.pairs} == {n.id: n.id for n in graph.nodes}


def test_a_different_dtype_is_the_same_quantity_and_coarse_dtypes_get_their_room() -> None:
    left = small("a", lambda t, x: t.op("Exp", np.exp, x))
    half = small(
        "b",
        lambda t, x: t.op(
            "Cast", np.float64, t.op("Exp", lambda x: np.exp(x.astype(np.float16)), x)
        ),
    )
    assert align(left, half).divergence is None
    assert (
        align(left, small("c", lambda t, x: t.op("Exp", lambda x: np.exp(x) * 1.01, x))).divergence
        is not None
    )


def test_a_mask_of_minus_a_billion_hides_no_difference() -> None:
    mask = np.where(np.eye(4) > 0, -1e9, 0)
    left = small("a", lambda t, x: t.op("Add", lambda x: x + mask, x))
    right = small("b", lambda t, x: t.op("Add", lambda x: x * 1.01 + mask, x))
    assert align(left, right).divergence is not None


def test_large_values_are_compared_by_their_figures() -> None:
    x = np.random.default_rng(5).standard_normal((64, 64))
    left = small("a", lambda t, at: t.op("Tanh", np.tanh, at), x)
    assert (
        align(
            left, small("b", lambda t, at: t.op("T", np.transpose, t.op("Tanh", np.tanh, at)), x)
        ).divergence
        is None
    )
    assert parted(left, small("b", lambda t, at: t.op("Tanh", lambda x: np.tanh(x) * 1.01, at), x))[
        :2
    ] == ("Tanh", "Tanh")


def test_infinities_and_nans_pair_and_differ_like_numbers() -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.array([0.0, 1.0, 4.0])
        left = small("a", lambda t, at: t.op("Log", np.log, at), x)
        same = small("b", lambda t, at: t.op("aten.log.default", np.log, at), x)
        other = small("c", lambda t, at: t.op("Log", lambda x: np.log(x + 1e-30), at), x)
    assert align(left, same).divergence is None
    found = align(left, other).divergence
    assert found is not None
    assert (found.left_value, found.greatest) == ("-inf", None)


def test_an_unobserved_value_pairs_by_provenance_and_is_never_called_a_difference() -> None:
    def net(observed: bool) -> GradGraph:
        t = Tape("a")
        x = t.leaf("x", np.arange(3.0), "input")
        h = t.op("Exp", np.exp, x, observed=observed)
        t.result("out", t.op("Sin", np.sin, h))
        return t.graph()

    found = align(net(True), net(False))
    assert [p.how for p in found.pairs] == ["name", "provenance", "value+provenance", "name"]
    freed = {"values": "freed before it was read"}
    lone = small(
        "b", lambda t, x: t.op("Exp", np.exp, t.op("Sin", np.sin, x, observed=False, missing=freed))
    )
    whole = align(lone, small("c", lambda t, x: t.op("ExpSin", lambda x: np.exp(np.sin(x)), x)))
    assert [(u.reason, u.detail) for u in whole.unpaired] == [
        ("unobserved", "freed before it was read")
    ]
    assert whole.divergence is None


def test_gradients_that_are_noise_about_zero_agree() -> None:
    def net(noise: float) -> GradGraph:
        t = Tape("a")
        x = t.leaf("x", np.arange(3.0), "input")
        y = t.op("Exp", np.exp, x)
        t.result("out", y)
        t.result("dx", t.back("SumGrad", lambda y: y * noise, y, forward=y), "backward")
        return t.graph()

    found = align(net(1e-9), net(-3e-8))
    assert found.divergence is None
    assert "provenance" in {p.how for p in found.pairs}


def test_the_same_graphs_give_the_same_bytes() -> None:
    encode = msgspec.json.Encoder(order="sorted").encode
    runs = {encode(align(mindspore_like(), torch_like(reduce="sum"))) for _ in range(3)}
    assert len(runs) == 1
    assert msgspec.json.decode(runs.pop(), type=Alignment) == align(
        mindspore_like(), torch_like(reduce="sum")
    )


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("aten.addmm.default", "matmul"),
        ("PrimFunc_ReLU", "relu"),
        ("AddmmBackward0", "matmulgrad"),
        ("BiasAddGrad", "sum"),
        ("ReluBackward0", "relugrad"),
        ("aten.threshold_backward.default", "relugrad"),
        ("TBackward0", "transpose"),
        ("SomethingNew", "somethingnew"),
    ],
)
def test_op_families_know_every_engines_names(op: str, wanted: str) -> None:
    assert family(op) == wanted


def test_the_longest_common_order_wins_over_the_first_candidate() -> None:
    options: list[tuple[Any, list[Any]]] = [("a", [9]), ("b", [1]), ("c", [2, 9]), ("d", [3])]
    assert increasing(options, int) == [("b", 1), ("c", 2), ("d", 3)]


def test_graphs_without_values_or_without_nodes_align_as_far_as_they_go() -> None:
    empty = GradGraph(engine="a", case="grad", stage="tape", nodes=(), edges=())
    assert (align(empty, empty).pairs, align(empty, torch_like()).divergence) == ((), None)
    bare = torch_like()
    unseen = tuple(
        msgspec.structs.replace(
            n, outputs=tuple(msgspec.structs.replace(o, values=None) for o in n.outputs)
        )
        for n in bare.nodes
    )
    found = align(bare, msgspec.structs.replace(bare, nodes=unseen))
    assert found.divergence is None
    assert {p.how for p in found.pairs} == {"name", "provenance"}
    assert all(p.left == p.right for p in found.pairs)
    assert {u.reason for u in found.unpaired if u.side == "right"} <= {"unobserved", "bookkeeping"}


def test_a_forward_difference_too_small_for_the_outputs_is_still_where_gradients_part() -> None:
    def net(curve: float) -> GradGraph:
        t = Tape("a")
        x = t.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
        h = t.op("Gelu", lambda x: x + curve * x**3, x, line=3)
        z = t.op("MatMul", np.matmul, h, t.leaf("w", np.eye(4)), line=4)
        t.result("loss", t.op("Sum", lambda z: z.sum() * 0 + 5, z, line=5))
        t.result("dx", t.back("GeluGrad", lambda h: h * 2, h, forward=h, line=3), "backward")
        return t.graph()

    left, right, sentence = parted(net(0.1), net(0.12))
    assert (left, right) == ("Gelu", "Gelu")
    assert sentence.startswith("First divergence in forward: ")


def test_a_detached_branch_is_seen_within_a_sum_of_decomposed_gradients() -> None:
    def net(pieces: bool) -> GradGraph:
        t = Tape("mindspore-graph" if pieces else "torch-tape")
        x = t.leaf("x", np.linspace(0.5, 2, 5), "input")
        t.result("loss", t.op("Sum", np.sum, x))
        g = t.back("Exp", np.exp, x)
        if pieces:
            one, two = (
                t.back("Sin", lambda x, g: g * np.sin(x), x, g),
                t.back("Cos", lambda x, g: g * np.cos(x), x, g),
            )
            g = t.back("AddN", lambda a, b, c: a + b + c, one, two, g, line=3)
        else:
            g = t.back("WaveBackward0", lambda x, g: g * (np.sin(x) + np.cos(x)), x, g, line=9)
        t.result("dx", g, "backward")
        return t.graph()

    left, right, sentence = parted(net(True), net(False))
    assert (left, right) == ("AddN", None)
    assert (
        "adds the gradient from `Exp`, which torch-tape leaves out after `WaveBackward0` (net.py:9)"
        in sentence
    )


def test_a_dropout_made_of_small_ops_is_named_as_a_whole() -> None:
    mask = np.random.default_rng(3).random((4, 4)) > 0.5
    w = np.random.default_rng(4).standard_normal((4, 4))

    def net(drop: bool) -> Callable[[Tape, str], str]:
        def build(t: Tape, x: str) -> str:
            if drop:
                kept = t.op(
                    "aten.bernoulli_.float",
                    lambda e: mask.astype(float),
                    t.op("aten.empty_like", np.zeros_like, x),
                    line=3,
                )
                x = t.op(
                    "aten.mul.Tensor",
                    np.multiply,
                    x,
                    t.op("aten.div_.Scalar", lambda k: k / 0.5, kept, line=3),
                    line=3,
                )
            return t.op("MatMul", np.matmul, x, t.leaf("w", w), line=4)

        return build

    left, right, sentence = parted(
        small("mindspore-tape", net(False)), small("torch-tape", net(True))
    )
    assert (left, right) == (None, "aten.mul.Tensor")
    assert (
        "to `aten.mul.Tensor` of torch-tape have no counterpart in mindspore-tape, which goes on with `MatMul`"
        in sentence
    )


def test_a_reshape_is_not_taken_for_an_op_that_hardly_changes_its_input() -> None:
    def net(eps: float) -> Callable[[Tape, str], str]:
        def build(t: Tape, x: str) -> str:
            tidy = (
                t.op("Reshape", lambda h: h.reshape(2, 8), t.op("Exp", np.exp, x))
                if eps > 1e-4
                else t.op("Exp", np.exp, x)
            )
            h = t.op("BatchNorm", lambda h: h / np.sqrt(1 + eps), tidy, line=5)
            return t.op("Sin", lambda h: np.sin(h).reshape(4, 4), h)

        return build

    assert parted(small("a", net(1e-3)), small("b", net(1e-5)))[:2] == ("BatchNorm", "BatchNorm")
