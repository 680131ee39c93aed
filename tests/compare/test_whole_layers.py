"""The way back by whole layers: where one side has modules, and the other one functions of many lines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.divergence import Divergence, LoneLeaf, OtherValue
from explorer.model.graph import GradGraph
from tests.support.computed_graphs import ComputedGraph

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((5, 4))
WEIGHT, BIAS = RANDOM.standard_normal((4, 4)), RANDOM.standard_normal(4)
SCALE, SHIFT = RANDOM.standard_normal(4), RANDOM.standard_normal(4)
FUTURE = np.triu(np.ones((5, 5), bool), 1)


def masked(scores: Any, future: Any) -> Any:
    return np.where(future, -1e9, scores)


def softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def call(
    graph: ComputedGraph, op: str, function: Callable[..., Any], *inputs: int, lines: str
) -> int:
    """An op on the first of some lines, which the others call."""
    value = function(*(graph.values[node][0] for node in inputs))
    source = tuple(f"net.py:{line}" for line in lines.split())
    return graph.hold(op, value, inputs=inputs, source=source)


def leaves(graph: ComputedGraph) -> list[int]:
    values = {"weight": WEIGHT, "bias": BIAS, "scale": SCALE, "shift": SHIFT}
    return [graph.leaf(name, value) for name, value in values.items()]


def in_functions(engine: str, factor: float) -> GradGraph:
    """Attention whose mask is made of a range, and a norm in a function of two lines."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", X, "input")
    weight, bias, scale, shift = leaves(graph)
    scores = graph.op("dot_general", lambda x: x @ x.T, x, line=1)
    if factor != 1:
        scores = graph.op("mul", lambda scores: scores * factor, scores, line=1)
    rows = graph.op("iota", lambda: np.repeat(np.arange(5), 5).reshape(5, 5), line=2)
    future = graph.op("gt", lambda rows: rows < rows.T, rows, line=2)
    scores = graph.op("select_n", masked, scores, future, line=3)
    powers = graph.op("exp", lambda it: np.exp(it - it.max(-1, keepdims=True)), scores, line=3)
    total = graph.op("reduce_sum", lambda it: it.sum(-1, keepdims=True), powers, line=3)
    weights = graph.op("div", np.divide, powers, total, line=3)
    mixed = graph.op("dot_general", np.matmul, weights, x, line=4)
    dense = call(graph, "dot_general", np.matmul, mixed, weight, lines="5 9")
    dense = call(graph, "add", np.add, dense, bias, lines="5 9")
    x = graph.op("add", np.add, x, dense, line=10)

    centred = call(graph, "sub", lambda x: x - x.mean(-1, keepdims=True), x, lines="7 11")
    spread = call(
        graph, "rsqrt", lambda x: (x.var(-1, keepdims=True) + 1e-5) ** -0.5, x, lines="7 11"
    )
    normal = call(graph, "mul", np.multiply, centred, spread, lines="7 11")
    normal = call(graph, "mul", np.multiply, normal, scale, lines="8 11")
    graph.result("out", call(graph, "add", np.add, normal, shift, lines="8 11"))
    return graph.record()


def in_modules(engine: str, factor: float, future: Any = FUTURE) -> GradGraph:
    """The same with a mask that is kept, and in one op for a layer."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", X, "input")
    weight, bias, scale, shift = leaves(graph)
    mask = graph.leaf("future", future)
    scores = graph.op("aten.mm", lambda x: x @ x.T, x, line=21, scope="attention")
    if factor != 1:
        scores = graph.op(
            "aten.mul", lambda scores: scores * factor, scores, line=21, scope="attention"
        )
    scores = graph.op("aten.masked_fill", masked, scores, mask, line=22, scope="attention")
    weights = graph.op("aten._softmax", softmax, scores, line=23, scope="attention")
    mixed = graph.op("aten.mm", np.matmul, weights, x, line=24, scope="attention")
    dense = graph.op(
        "aten.addmm", lambda b, x, w: x @ w + b, bias, mixed, weight, line=25, scope="dense"
    )
    x = graph.op("aten.add.Tensor", np.add, x, dense, line=26)
    normal = graph.op("aten.native_layer_norm", layer_norm, x, scale, shift, line=27, scope="ln")
    graph.result("out", normal)
    return graph.record()


def lines_of(divergence: Divergence | None) -> set[str]:
    assert isinstance(divergence, OtherValue)
    return {row.first.source for row in divergence.rows}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_scale_that_modules_alone_have_is_in_their_row(is_swapped: bool) -> None:
    pair = in_functions("jax-tape", 1.0), in_modules("torch-tape", 0.5)
    divergence = align(*(pair[::-1] if is_swapped else pair)).divergence
    assert lines_of(divergence) == {"net.py:3", "net.py:21"}
    assert isinstance(divergence, OtherValue)
    rows = sorted((row.first.label, row.last) for row in divergence.rows)
    assert rows == [("aten.mul", "aten._softmax"), ("select_n", "div")]


def test_another_mask_is_named_by_the_side_that_keeps_it() -> None:
    future = np.triu(np.ones((5, 5), bool), 2)
    pair = in_functions("jax-tape", 0.5), in_modules("torch-tape", 0.5, future)
    divergence = align(*pair).divergence
    assert isinstance(divergence, LoneLeaf)
    assert (divergence.name, divergence.user.source if divergence.user else "") == (
        "future",
        "net.py:22",
    )


def test_nets_that_do_the_same_do_not_diverge() -> None:
    assert align(in_functions("a", 0.5), in_modules("b", 0.5)).divergence is None
