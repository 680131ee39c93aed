"""The pairs found so far, and what pairs imply."""

import numpy as np
import pytest

from explorer.compare.align.matching import Matching
from explorer.compare.align.sameness import NOISE, are_noise, layout_of
from explorer.model.alignment import How
from explorer.model.arrays import AnyArray
from tests.support.alignments import matching_of
from tests.support.computed_graphs import ComputedGraph

SQUARE = np.array([[1.0, 2.0], [4.0, 7.0]])
LARGE = np.random.default_rng(0).standard_normal((40, 40))


def holding(left: list[AnyArray], right: list[AnyArray]) -> Matching:
    """Two sides whose ops hold some arrays and read nothing."""
    graphs = ComputedGraph("a"), ComputedGraph("b")
    for graph, arrays in zip(graphs, (left, right), strict=True):
        for array in arrays:
            graph.hold("Exp", array)
    return matching_of(*graphs)


def reshaped(engine: str) -> ComputedGraph:
    """The exponential of an input, reshaped twice."""
    graph = ComputedGraph(engine)
    exponential = graph.op("Exp", np.exp, graph.leaf("x", np.arange(4.0), "input"))
    for _ in range(2):
        graph.op("Reshape", lambda e: e.reshape(2, 2), exponential)
    return graph


def test_partners_know_each_other() -> None:
    matching = holding([SQUARE], [SQUARE])
    (left,), (right,) = matching.first.nodes, matching.second.nodes
    assert left.is_free
    matching.join(left.value, right.value, "value")
    assert (left.partner, right.partner) == (right, left)
    assert left.is_paired
    assert left.is_agreed
    assert left.value.is_taken
    assert not left.is_free


@pytest.mark.parametrize("how", ["value+order", "across", "name", "provenance"])
def test_what_made_the_numbers_that_a_pair_passes_on_is_a_pair_where_there_is_evidence_of_it(
    how: How,
) -> None:
    matching = matching_of(reshaped("a"), reshaped("b"))
    _, maker, reshape, _ = matching.first.nodes
    _, other_maker, _, other_reshape = matching.second.nodes
    matching.join(reshape.value, other_reshape.value, how)
    assert maker.counterpart is other_maker
    assert maker.partner is (other_maker if how == "value+order" else None)
    assert maker.is_free == (how != "value+order")
    assert matching.matches[-1].how == ("value+provenance" if how == "value+order" else how)


def test_the_first_pair_decides_on_the_counterpart_of_an_origin() -> None:
    right = reshaped("b")
    right.hold("Exp", np.exp(np.arange(4.0)))
    matching = matching_of(reshaped("a"), right)
    _, maker, reshape, second = matching.first.nodes
    _, other_maker, other_reshape, _, like_it = matching.second.nodes
    matching.join(reshape.value, other_reshape.value, "name")
    matching.join(second.value, like_it.value, "name")
    assert maker.counterpart is other_maker
    assert like_it.counterpart is maker


def test_makers_of_other_numbers_are_no_counterparts_though_what_is_cast_of_them_agrees() -> None:
    exact = np.exp(np.arange(4.0))
    matching = holding([exact, exact * 1.01], [exact * 1.01])
    maker, cast = matching.first.nodes
    (other,) = matching.second.nodes
    cast.origin = maker
    assert cast.value.agrees(other.value)
    assert maker.value.agrees(other.value) is False
    matching.join(cast.value, other.value, "across")
    assert maker.counterpart is None
    assert other.counterpart is None


def test_a_node_beside_a_further_output_is_in_the_pair_of_its_op() -> None:
    matching = holding([SQUARE, SQUARE + 1], [SQUARE, SQUARE + 1])
    op, free = matching.first.nodes
    other_op, other_free = matching.second.nodes
    matching.join(op.value, other_op.value, "value")
    matching.share(other_op.output(1), free.value, "value+provenance")
    assert free.is_free
    assert free.is_paired
    assert free.representative is op
    assert (matching.shared[0].first, matching.shared[0].second) == (free.value, other_op.output(1))
    assert not other_free.is_paired


@pytest.mark.parametrize(
    ("array", "other", "layout"),
    [
        (SQUARE, SQUARE.copy(), None),
        (SQUARE, SQUARE * (1 + 1e-5), None),
        (SQUARE, SQUARE.T, "transposed"),
        (SQUARE, SQUARE[::-1], "reordered"),
        (SQUARE, SQUARE.ravel(), None),
        (SQUARE.astype(np.complex64), SQUARE.astype(np.float32), None),
        (SQUARE.ravel(), SQUARE.ravel()[::-1], "reordered"),
        (LARGE, LARGE.T, None),  # of which figures alone are known
    ],
)
def test_equal_numbers_lie_alike_transposed_or_in_another_order(
    array: AnyArray, other: AnyArray, layout: How | None
) -> None:
    matching = holding([array], [other])
    (left,), (right,) = matching.first.nodes, matching.second.nodes
    assert layout_of(left.value, right.value) == layout


@pytest.mark.parametrize(
    ("array", "other", "room", "noise"),
    [
        (np.full(3, 0.9e-6), np.full(3, -0.9e-6), 1.0, True),
        (np.full(3, 1.1e-6), np.full(3, -0.9e-6), 1.0, False),
        (np.full(3, 1.1e-6), np.full(3, -9e-6), NOISE, True),
        (np.full(3, 0.9e-6), np.full(4, 0.9e-6), 1.0, False),
        (np.array([np.nan, 0, 0]), np.zeros(3), 1.0, False),
    ],
)
def test_noise_about_zero_is_of_one_size_and_finite(
    array: AnyArray, other: AnyArray, room: float, noise: bool
) -> None:
    matching = holding([array], [other])
    (left,), (right,) = matching.first.nodes, matching.second.nodes
    assert are_noise(left.value, right.value, room) is noise


@pytest.mark.parametrize(("factor", "is_partial"), [(1.0, False), (2.0, True)])
def test_partners_by_a_further_output_that_hold_equal_main_values_are_whole(
    factor: float, is_partial: bool
) -> None:
    graphs = ComputedGraph("a"), ComputedGraph("b")
    for graph, by in zip(graphs, (1.0, factor), strict=True):
        graph.hold("Norm", by * SQUARE, np.arange(3.0))
    matching = matching_of(*graphs)
    (left,), (right,) = matching.first.nodes, matching.second.nodes
    matching.join(left.values[1], right.values[1], "value")
    assert left.is_partial is is_partial
    assert right.is_partial is is_partial
