"""Leaves pair by name; a buffer here that is a constant there pairs by value, and hides nothing."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.align.matching import Matching, pair_leaves, pair_results
from explorer.compare.align.sameness import ATOL, NOISE
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph, NodeKind, Phase
from tests.support.alignments import called, matching_of, parting, partners
from tests.support.computed_graphs import ComputedGraph
from tests.support.handmade_graph import HandmadeGraph

X = np.linspace(-1, 2, 16, dtype=np.float32).reshape(2, 8)
SCALE = np.linspace(1, 3, 16, dtype=np.float32).reshape(2, 8)


def scaled(op: str, activation: AnyArray, kind: NodeKind, scale: AnyArray = SCALE) -> GradGraph:
    """An activation times ``scale``, which is of some kind; a constant stands there twice."""
    graph = HandmadeGraph()
    x = graph.leaf("x", "input", X)
    name = "scale" if kind == "parameter" else ""
    held = graph.add(kind, kind=kind, name=name, value=scale)
    if kind == "constant":
        graph.add(kind, kind=kind, value=scale)
    active = graph.add(op, [x], value=activation)
    product = graph.add("mul", [active, held], value=activation * scale)
    graph.result("out", product, activation * scale)
    return graph.record()


def test_a_mistake_behind_a_buffer_that_is_a_constant_there_is_named() -> None:
    buffer = scaled("sigmoid", 1 / (1 + np.exp(-X)), "parameter")
    constant = scaled("tanh", np.tanh(X), "constant")
    for left, right in ((buffer, constant), (constant, buffer)):
        sentence = parting(left, right).sentence
        assert "`scale`" not in sentence
        assert "`tanh`" in sentence
        assert "`sigmoid`" in sentence


def test_a_buffer_pairs_with_the_first_of_two_equal_constants() -> None:
    buffer, constant = (
        scaled("tanh", np.tanh(X), "parameter"),
        scaled("tanh", np.tanh(X), "constant"),
    )
    assert align(buffer, constant).divergence is None
    assert partners(align(buffer, constant))["n1"] == "n1"


def test_a_buffer_of_other_values_than_the_constant_is_told_as_one_sided() -> None:
    buffer = scaled("tanh", np.tanh(X), "parameter")
    other = scaled("tanh", np.tanh(X), "constant", SCALE * 1.01)
    assert "`mul` (net.py:12) take different inputs, `scale` (net.py:12) against `constant`" in (
        parting(buffer, other).sentence
    )


def test_a_leaf_of_ones_is_no_constant_of_ones() -> None:
    ones = np.ones_like(SCALE)
    buffer = scaled("sigmoid", 1 / (1 + np.exp(-X)), "parameter", ones)
    constant = scaled("tanh", np.tanh(X), "constant", ones)
    assert "n1" not in partners(align(buffer, constant))


@pytest.mark.parametrize("is_buffer_first", [True, False])
def test_a_buffer_and_a_constant_pair_each_on_its_own_side(is_buffer_first: bool) -> None:
    graphs = ComputedGraph("a"), ComputedGraph("b")
    kinds: tuple[NodeKind, NodeKind] = ("parameter", "constant")
    for graph, kind in zip(graphs, kinds if is_buffer_first else kinds[::-1], strict=True):
        graph.leaf("scale" if kind == "parameter" else "", SCALE, kind)
    matching = matching_of(*graphs)
    pair_leaves(matching)
    (match,) = matching.matches
    assert (match.first.node.side, match.second.node.side) == matching.sides


def test_a_leaf_that_differs_from_its_namesake_is_no_constant_of_its_own_numbers() -> None:
    graphs = ComputedGraph("a"), ComputedGraph("b")
    for graph, scale in zip(graphs, (SCALE, 2 * SCALE), strict=True):
        graph.leaf("scale", scale)
        graph.leaf("", 3 * SCALE - scale, "constant")
    matching = matching_of(*graphs)
    pair_leaves(matching)
    assert matching.matches == []
    assert [(row.first.name, row.second.name) for row in matching.mismatches] == [
        ("scale", "scale")
    ]


def results(left: ComputedGraph, right: ComputedGraph) -> Matching:
    """Two sides of which the results alone are paired."""
    matching = matching_of(left, right)
    pair_results(matching)
    return matching


def test_what_makes_a_result_pairs_once_though_it_makes_two() -> None:
    one, two = ComputedGraph("a"), ComputedGraph("b")
    maker = one.hold("Exp", X)
    for name in ("p", "q"):
        one.result(name, maker)
        two.result(name, two.hold(f"Exp/{name}", X))
    matching = results(one, two)
    assert called(matching.first, "Exp").partner is called(matching.second, "Exp/p")
    assert called(matching.second, "Exp/q").is_free


def test_a_leaf_that_is_a_result_is_not_paired_as_what_makes_it() -> None:
    graphs = ComputedGraph("a"), ComputedGraph("b")
    for graph, name in zip(graphs, "xy", strict=True):
        graph.result("out", graph.leaf(name, X, "input"))
    first, second = results(*graphs).sides
    assert called(first, "x").is_free
    assert called(second, "y").is_free


@pytest.mark.parametrize("phase", ["forward", "backward"])
def test_results_of_other_names_pair_by_their_order_within_a_phase(phase: Phase) -> None:
    graphs = ComputedGraph("a"), ComputedGraph("b")
    for graph, names in zip(graphs, (("p", "q"), ("r", "s")), strict=True):
        for name, value in zip(names, (SCALE, X), strict=True):
            graph.result(name, graph.hold("Exp", value, phase=phase), phase)
    matching = results(*graphs)
    assert matching.mismatches == []
    pairs = [(match.first.node.name, match.second.node.name) for match in matching.matches]
    assert [pair for pair in pairs if all(pair)] == [("p", "r"), ("q", "s")]


@pytest.mark.parametrize(("share", "are_noise"), [(0.9, True), (1.1, False)])
def test_results_within_ten_times_atol_of_zero_are_noise(share: float, are_noise: bool) -> None:
    graphs = ComputedGraph("a"), ComputedGraph("b")
    for graph, sign in zip(graphs, (1, -1), strict=True):
        value = sign * share * 10 * ATOL * np.array([1.0, 0.5, 0.25])
        graph.result("out", graph.hold("Exp", value))
    matching = results(*graphs)
    assert NOISE == 10
    assert (matching.mismatches == []) is are_noise
