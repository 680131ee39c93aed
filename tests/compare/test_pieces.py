"""A parameter that one graph holds whole and the other in pieces is one and the same."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment, Plain
from explorer.model.arrays import AnyArray
from explorer.model.divergence import ResultElsewhere
from explorer.model.graph import GradGraph, with_outputs
from explorer.model.requests import Repacked
from tests.support.alignments import said
from tests.support.computed_graphs import ComputedGraph

X = np.random.default_rng(1).standard_normal((3, 4))
W = np.random.default_rng(2).standard_normal((6, 4))
PARTS = {
    "qkv.weight[0:2]": slice(0, 2),
    "qkv.weight[2:4]": slice(2, 4),
    "qkv.weight[4:6]": slice(4, 6),
}
PIECE = Repacked(own=dict.fromkeys(PARTS, (2, 4)), torch={"qkv.weight": (6, 4)})
ALIKE = ("out", "dx", "dqkv.weight")


def whole(factor: float = 1.0) -> GradGraph:
    """A product with the whole parameter; some rows of its gradient may be wrong by a factor."""
    graph = ComputedGraph("torch-tape")
    x = graph.leaf("x", X, "input")
    w = graph.leaf("qkv.weight", W)
    product = graph.op("aten.mm", lambda x, w: x @ w.T, x, w, line=1)
    out = graph.op("Tanh", np.tanh, product, line=2)
    graph.result("out", out)
    slope = graph.back("TanhGrad", lambda y: 1 - y**2, out, line=2)
    graph.result("dx", graph.back("aten.mm", np.matmul, slope, w, line=1), "backward")

    def gradient(slope: AnyArray, x: AnyArray) -> AnyArray:
        rows: AnyArray = slope.T @ x
        rows[2:4] *= factor
        return rows

    graph.result("dqkv.weight", graph.back("aten.mm", gradient, slope, x, line=1), "backward")
    return graph.record()


def in_parts(activation: str = "Tanh", without: str = "") -> GradGraph:
    """The same with three parameters, whose products are put together; one may have no gradient."""
    graph = ComputedGraph("mindspore-graph")
    x = graph.leaf("x", X, "input")
    parts = [graph.leaf(name, W[rows]) for name, rows in PARTS.items()]
    products = [graph.op("MatMul", lambda x, w: x @ w.T, x, w, line=11) for w in parts]
    joined = graph.op("Concat", lambda *them: np.concatenate(them, 1), *products, line=11)
    function = np.tanh if activation == "Tanh" else np.sin
    out = graph.op(activation, function, joined, line=12)
    graph.result("out", out)
    slope = graph.back("TanhGrad", lambda y: 1 - y**2, out, line=12)
    slopes = [
        graph.back("Slice", lambda s, rows=rows: s[:, rows], slope, line=11)
        for rows in PARTS.values()
    ]
    steps = [
        graph.back("MatMul", np.matmul, part, w, line=11)
        for part, w in zip(slopes, parts, strict=True)
    ]
    graph.result("dx", graph.back("AddN", lambda *them: sum(them), *steps, line=11), "backward")
    for name, part in zip(PARTS, slopes, strict=True):
        gradient = graph.back("MatMul", lambda s, x: s.T @ x, part, x, line=11)
        if name != without:
            graph.result(f"d{name}", gradient, "backward")
    return graph.record()


def both_ways(left: GradGraph, right: GradGraph, alike: tuple[str, ...]) -> list[Alignment]:
    return [
        align(left, right, alike=alike, pieces=[PIECE]),
        align(right, left, alike=alike, pieces=[PIECE]),
    ]


@pytest.mark.parametrize("alike", [ALIKE, ()])
def test_equal_gradients_in_other_pieces_are_no_divergence(alike: tuple[str, ...]) -> None:
    for alignment in both_ways(whole(), in_parts(), alike):
        assert alignment.divergences == ()
        assert alignment.differing == ()
        reasons = [lone.why for lone in alignment.unpaired if lone.reason == "difference"]
        assert reasons == []
        assert Plain("in_pieces") in [lone.why for lone in alignment.unpaired]


def test_a_piece_that_differs_is_named_with_its_values() -> None:
    for alignment in both_ways(whole(factor=2.0), in_parts(), ("out", "dx")):
        (divergence,) = alignment.divergences
        assert isinstance(divergence, ResultElsewhere)
        assert divergence.name == "dqkv.weight[2:4]"
        assert alignment.differing == ("dqkv.weight[2:4]",)
        assert divergence.gap.greatest == pytest.approx(_greatest_of_rows())


def with_noise(graph: GradGraph, noise: float) -> GradGraph:
    return with_outputs(graph, lambda _, output: msgspec.structs.replace(output, noise=noise))


@pytest.mark.parametrize(("times", "differ"), [(12, 0), (20, 1)])
def test_a_piece_differs_where_it_stands_clear_of_its_noise(times: float, differ: int) -> None:
    noise = 1e-3 * _greatest_of_rows() / times / 2**0.5
    one, other = (with_noise(it, noise) for it in (whole(factor=1.001), in_parts()))
    for alignment in both_ways(one, other, ("out", "dx")):
        assert len(alignment.divergences) == len(alignment.differing) == differ


@pytest.mark.parametrize("name", PARTS)
def test_no_piece_is_compared_with_another_one_s_rows(name: str) -> None:
    for alignment in both_ways(whole(), in_parts(without=name), ("out", "dx")):
        for divergence in alignment.divergences:
            assert not isinstance(divergence, ResultElsewhere)


def _greatest_of_rows() -> float:
    slope = 1 - np.tanh(X @ W.T) ** 2
    rows = (slope.T @ X)[2:4]
    return float(np.abs(rows).max())


def test_a_mistake_beside_pieces_is_found_and_no_parameter_is_called_missing() -> None:
    for alignment in both_ways(whole(), in_parts("Sin"), ()):
        first = alignment.divergence
        assert first is not None
        assert "`Tanh` (net.py:2)" in said(first)
        assert "`Sin` (net.py:12)" in said(first)
        for divergence in alignment.divergences:
            assert "has the parameter" not in said(divergence)
            assert "returns the gradient" not in said(divergence)
