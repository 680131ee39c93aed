"""What is no divergence of its own: steps of a formula, orders that are put back, one number held twice."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.divergence import ExtraOps, GradientAdded, OtherValue
from explorer.model.graph import GradGraph
from explorer.words.divergences import divergences
from tests.support.alignments import parting
from tests.support.computed_graphs import ComputedGraph, Function

X = np.random.default_rng(5).standard_normal((3, 4))
W = np.random.default_rng(6).standard_normal((4, 4))


def started(engine: str) -> tuple[ComputedGraph, int]:
    graph = ComputedGraph(engine)
    return graph, graph.leaf("x", X, "input")


def ended(graph: ComputedGraph, node: int) -> GradGraph:
    graph.result("out", node)
    return graph.record()


def joined(engine: str, names: str, *, put_back: bool, slope: float) -> GradGraph:
    """Two functions of x, joined in an order that may be put back, under an op that has a slope."""
    graph, x = started(engine)
    parts = {"s": graph.op("Sin", np.sin, x, line=1), "c": graph.op("Cos", np.cos, x, line=1)}
    node = graph.op(
        "Concat", lambda a, b: np.concatenate([a, b], 1), *map(parts.__getitem__, names), line=2
    )
    if put_back:
        halves = [
            graph.op("Slice", lambda v, at=at: v[:, at : at + 4], node, line=3) for at in (4, 0)
        ]
        node = graph.op("Concat", lambda a, b: np.concatenate([a, b], 1), *halves, line=3)
    return ended(
        graph, graph.op("LeakyReLU", lambda v: np.where(v > 0, v, slope * v), node, line=4)
    )


def test_an_order_that_is_put_back_is_no_divergence() -> None:
    left, right = (
        joined("a", "sc", put_back=True, slope=0.1),
        joined("b", "cs", put_back=False, slope=0.2),
    )
    assert parting(left, right)[:2] == ("LeakyReLU", "LeakyReLU")
    assert parting(right, left)[:2] == ("LeakyReLU", "LeakyReLU")
    moved = joined("a", "sc", put_back=False, slope=0.1)
    assert parting(moved, right)[:2] == ("Concat", "Concat")


def deviation(engine: str, *, is_written_out: bool) -> GradGraph:
    """x over its deviation, which is one op or is written out."""
    graph, x = started(engine)
    centred = graph.op("Sub", lambda v: v - v.mean(), x, line=1)
    if is_written_out:
        total = graph.op("Sum", np.sum, graph.op("Square", np.square, centred, line=1), line=1)
        spread = graph.op("Sqrt", np.sqrt, graph.op("Div", lambda v: v / 12, total, line=1), line=1)
    else:
        spread = graph.op("Std", lambda v: v.std(ddof=1), x, line=1)
    shifted = graph.op("Add", lambda v: v + 1e-8, spread, line=1)
    return ended(graph, graph.op("Div", np.divide, centred, shifted, line=1))


def test_a_formula_that_begins_unlike_is_compared_where_both_have_come_to_one_quantity() -> None:
    """The square is no op too many."""
    left, right = deviation("a", is_written_out=False), deviation("b", is_written_out=True)
    divergence = align(left, right).divergence
    assert isinstance(divergence, OtherValue)
    assert divergence.ends[0].value.shape == divergence.ends[1].value.shape


def test_an_op_of_one_side_is_not_read_against_an_input_that_the_other_side_uses_otherwise() -> (
    None
):
    left, x = started("a")
    left_graph = ended(
        left, left.op("Tanh", np.tanh, left.op("Square", np.square, x, line=1), line=2)
    )
    right, x = started("b")
    right_graph = ended(right, right.op("Tanh", np.tanh, x, line=2))
    divergence = align(left_graph, right_graph).divergence
    assert isinstance(divergence, ExtraOps)
    assert divergence.gap.greatest is not None  # both go on with a tanh
    right, x = started("b")
    right_graph = ended(right, right.op("Sin", np.sin, right.op("Exp", np.exp, x, line=1), line=2))
    for divergence in align(left_graph, right_graph).divergences:
        assert not isinstance(divergence, ExtraOps) or divergence.gap.greatest is None


def test_what_one_side_scales_is_read_against_its_input_as_that_lies_there() -> None:
    left, x = started("a")
    turned = left.op("Transpose", np.transpose, x, line=1)
    left_graph = ended(
        left,
        left.op(
            "MatMul",
            np.matmul,
            left.leaf("w", W),
            left.op("Mul", lambda v: v / 2, turned, line=1),
            line=2,
        ),
    )
    right, x = started("b")
    turned = right.op("Transpose", np.transpose, x, line=1)
    right_graph = ended(right, right.op("MatMul", np.matmul, right.leaf("w", W), turned, line=2))
    divergence = align(left_graph, right_graph).divergence
    assert isinstance(divergence, ExtraOps)
    assert divergence.gap.greatest == pytest.approx(np.abs(X).max() / 2)


def test_values_are_compared_as_they_lie_where_both_are_read() -> None:
    """One side turns its axes behind its formula."""
    left, x = started("a")
    left_graph = ended(
        left,
        left.op("Tanh", np.tanh, left.op("Resize", lambda v: v[:3, :3] + 1, x, line=1), line=2),
    )
    right, x = started("b")
    made = right.op("Dot", lambda v: v[:3, :3].T, x, line=1)
    right_graph = ended(
        right, right.op("Tanh", np.tanh, right.op("Transpose", np.transpose, made, line=1), line=2)
    )
    divergence = align(left_graph, right_graph).divergence
    assert isinstance(divergence, OtherValue)
    assert divergence.gap.greatest == pytest.approx(1)


@pytest.mark.parametrize(("term", "is_term"), [((np.nan, 0.0), False), ((np.nan, 0.5), True)])
def test_a_term_of_nan_and_zeros_is_not_said_to_be_left_out(
    term: tuple[float, float], is_term: bool
) -> None:
    def summed(engine: str, *, is_added: bool) -> GradGraph:
        graph, x = started(engine)
        value = graph.op("Max", lambda v: np.array([-np.inf, v.max()]), x, line=1)
        log = graph.op("Log", lambda v: np.array(term), x, line=1)
        if is_added:
            value = graph.op("Add", np.add, value, log, line=1)
        graph.result("log", log)
        return ended(graph, graph.op("Exp", np.exp, value, line=2))

    found = align(summed("a", is_added=True), summed("b", is_added=False)).divergence
    assert isinstance(found, GradientAdded) == is_term


def halves(engine: str, order: tuple[str, str], first: Function, second: Function) -> GradGraph:
    """Two parts of x, made in an ``order``, of which one is negated before both are joined."""
    graph, x = started(engine)
    parts = {}
    for name in order:
        parts[name] = graph.op("Slice", {"first": first, "second": second}[name], x, line=1)
    negated = graph.op("Neg", np.negative, parts["second"], line=2)
    return ended(
        graph,
        graph.op("Concat", lambda a, b: np.concatenate([a, b], 1), negated, parts["first"], line=2),
    )


def test_of_two_parts_of_a_tensor_those_that_are_read_alike_are_set_side_by_side() -> None:
    left = halves("a", ("first", "second"), lambda v: v[:, :2], lambda v: v[:, 2:])
    right = halves("b", ("second", "first"), lambda v: v[:, ::2], lambda v: v[:, 1::2])
    first = align(left, right).divergence
    assert first is not None
    readers = []
    for graph, node in zip((left, right), first.nodes, strict=True):
        (edge,) = [it for it in graph.edges if it.origin == node]
        readers.append({it.id: it for it in graph.nodes}[edge.target].op)
    assert readers[0] == readers[1]


def gradient(engine: str, ops: tuple[str, ...], number: float, shape: tuple[int, ...]) -> GradGraph:
    """A mean, whose cotangent is held as one number or as many, and the gradient of x under some ops."""
    graph, x = started(engine)
    out = graph.op("Mean", np.mean, x, line=1)
    graph.result("out", out)
    seed = graph.leaf("seed", np.ones(()), "constant", "backward")
    node = graph.back("Div", lambda v: np.full(shape, v * number), seed, line=1, forward=out)
    for op in ops:
        node = graph.back(op, lambda v: np.broadcast_to(v, X.shape) * X, node, line=2, forward=out)
    graph.result("dx", node, "backward")
    return graph.record()


def test_one_number_held_once_or_many_times_is_no_divergence() -> None:
    left = gradient("a", ("Mul",), 0.5, X.shape)
    right = gradient("b", ("Mul", "Sin"), 0.5, ())
    for text in divergences(align(left, right)):
        assert "shape []" not in text
