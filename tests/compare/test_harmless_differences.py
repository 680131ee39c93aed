"""What is no divergence of its own: steps of a formula, orders that are put back, one number held twice."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.align.contrasts import FoundDivergence
from explorer.compare.align.divergence import is_difference
from explorer.compare.align.one_sided import extra_ops
from explorer.model.divergence import ExtraOps, GradientAdded, OtherValue
from explorer.model.graph import GradGraph
from tests.support.alignments import called, join, matching_of, parting
from tests.support.computed_graphs import ComputedGraph
from tests.support.divergence_records import other_value

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


@pytest.mark.parametrize(("then", "is_read_against"), [("Tanh", True), ("Sin", False)])
def test_an_op_of_one_side_is_read_against_its_input_where_the_other_side_goes_on_alike(
    then: str, is_read_against: bool
) -> None:
    """Else the other side may do the same with it, inside of another op."""
    left, x = started("a")
    left.op("Tanh", np.tanh, left.op("Square", np.square, x, line=1), line=2)
    right, x = started("b")
    right.op(then, np.tanh, x, line=2)
    matching = matching_of(left, right)
    join(matching, "x")
    found = extra_ops([called(matching.first, "Square")], None)
    assert (found.ends is not None) == is_read_against


@pytest.mark.parametrize(("number", "is_different"), [(0.5, False), (0.25, True)])
def test_one_number_held_once_or_many_times_is_no_divergence(
    number: float, is_different: bool
) -> None:
    left, right = started("a")[0], started("b")[0]
    left.hold("Fill", np.full(3, 0.5))
    right.hold("Fill", np.array(number))
    matching = matching_of(left, right)
    ends = called(matching.first, "Fill"), called(matching.second, "Fill")
    found = FoundDivergence(other_value("n1", "n1", phase="backward"), frozenset(ends), ends)
    assert is_difference(found) == is_different


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
