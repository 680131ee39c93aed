"""The way back from results that differ: terms of sums, ops of a kind, what one side alone adds."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.graph import GradGraph
from explorer.words.divergences import divergences
from tests.support.alignments import parting
from tests.support.captured_graphs import captured_graphs
from tests.support.computed_graphs import ComputedGraph
from tests.support.nets import NETS
from tests.support.tables import rows

X = np.random.default_rng(4).standard_normal((2, 3))
SEED = np.full((2, 3), 1.0)


def two_slopes(engine: str, first: float, second: float, merged: bool = False) -> GradGraph:
    """The gradient of a sum of two ops of x, on lines 1 and 2; ``merged`` adds it up at once."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", X, "input")
    one = graph.op("Relu6", lambda x: np.clip(x, 0, 6), x, line=1)
    two = graph.op("Hardtanh", lambda x: np.clip(x, -1, 1), x, line=2)
    graph.result("out", graph.op("Add", np.add, one, two, line=3))
    seed = graph.hold("seed", SEED, kind="constant", phase="backward")
    into_one = graph.back("Relu6Grad", lambda g: first * g * X, seed, forward=one, line=1)
    into_two = graph.back("HardtanhGrad", lambda g: second * g / X, seed, forward=two, line=2)
    third = graph.back("TanhGrad", lambda g: g * np.cos(X), seed, forward=one, line=1)
    if merged:
        dx = graph.back("AddN", lambda *terms: sum(terms), into_one, into_two, third, line=9)
    else:
        dx = graph.back("Add", np.add, third, into_two, line=9)
        dx = graph.back("Add", np.add, dx, into_one, line=9)
    graph.result("dx", dx, "backward")
    return graph.record()


def test_two_differences_that_meet_in_one_gradient_are_both_named() -> None:
    alignment = align(two_slopes("a", 1, 1), two_slopes("b", 2, 3, merged=True))
    first, further = divergences(alignment)
    assert "`Relu6Grad` (net.py:1) and `Relu6Grad` (net.py:1) take equal inputs" in first
    assert "`HardtanhGrad` (net.py:2) and `HardtanhGrad` (net.py:2) take equal inputs" in further


def test_one_difference_of_two_terms_is_named_alone() -> None:
    (only,) = divergences(align(two_slopes("a", 1, 1), two_slopes("b", 1, 3, merged=True)))
    assert "`HardtanhGrad` (net.py:2) and `HardtanhGrad` (net.py:2) take equal inputs" in only


@pytest.mark.slow
def test_captured_graphs_differ_first_where_their_nets_do() -> None:
    expected = {
        "dead_metric": "`aten.mul.Scalar` (dead_metric.py:3",
        "own_mask": "has `aten.mul.Tensor` (own_mask.py:",
        "three_kinks": "`aten.hardtanh_backward.default` (three_kinks.py:2",
        "physics_informed": "mindspore-tape leaves it out after `Mul` (physics_informed.py:",
        "kinks": "Sqrt",
    }
    for name, part in expected.items():
        graphs = {graph.engine: graph for graph in captured_graphs()[name]}
        alignment = align(graphs["mindspore-tape"], graphs["torch-tape"])
        assert part in next(divergences(alignment)), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"),
    rows(__file__, "test_a_mistake_of_a_port_is_named_and_nothing_that_follows_from_it"),
)
def test_a_mistake_of_a_port_is_named_and_nothing_that_follows_from_it(
    name: str, part: str
) -> None:
    graphs = {graph.engine: graph for graph in captured_graphs()[name]}
    text = (NETS / "divergences" / "attention_block.py").read_text()
    q = text[: text.index("q = self.q(x)")].count("\n") + 1
    (only,) = divergences(align(graphs["torch-tape"], graphs["mindspore-graph"]))
    assert part.format(q=q) in only
    (mirrored,) = divergences(align(graphs["mindspore-graph"], graphs["torch-tape"]))
    assert mirrored.partition(": ")[0] == only.partition(": ")[0]


# Two formulas of one gradient


def squared(engine: str, overwritten: bool) -> GradGraph:
    """y = 2x, z = Σ y·y: by the product rule of two ops, or in one; y may be overwritten between."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", X, "input")
    y = graph.op("Muls", lambda x: 2 * x, x, line=1)
    square = graph.op("Mul", np.multiply, y, y, line=2)
    graph.result("out", graph.op("Sum", np.sum, square, line=3))
    if overwritten:
        kept = graph.op("Copy", lambda y: y + 5.0, y, line=9)
        seed = graph.back("Expand", lambda square: np.ones_like(square), square, line=3)
        one = graph.back("Mul", np.multiply, seed, kept, forward=square, line=2)
        other = graph.back("Mul", lambda s, y: s * y * 1.5, seed, kept, forward=square, line=2)
        both = graph.back("Add", np.add, one, other, line=8)
        dx = graph.back("Mul", lambda g: 2 * g, both, forward=y, line=1)
    else:
        both = graph.back("AddN", lambda a, b: a + b, y, y, forward=square, line=2)
        dx = graph.back("Muls", lambda g: 2 * g, both, forward=y, line=2)
    graph.result("dx", dx, "backward")
    return graph.record()


def test_ways_to_a_gradient_without_a_common_step_are_compared_where_they_end() -> None:
    sentence = parting(squared("a", True), squared("b", False)).sentence
    # 2·(y + 5)·2.5 against 4·y, and none of the products between, which the other side does not have.
    y = 2 * X
    place = np.unravel_index(np.argmax(np.abs(5 * (y + 5) - 4 * y)), X.shape)
    mine, others = 5 * (y + 5)[place], 4 * y[place]
    assert f"different values: {mine:.6g} against {others:.6g}" in sentence
    assert "`AddN` (net.py:2)" in sentence
