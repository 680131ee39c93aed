"""Where values come from and go to: the evidence that tells nodes of equal value apart."""

from typing import Any

import numpy as np
import pytest

from explorer.compare.align.provenance import (
    FEW,
    Candidates,
    are_consistent,
    evidence,
    shared_origins,
    successors,
)
from explorer.compare.align.sameness import TIGHT
from explorer.compare.align.vertices import Side
from explorer.model.arrays import AnyArray
from tests.support.alignments import called, join, matching_of
from tests.support.computed_graphs import ComputedGraph, Function

X = np.array([1.0, 2.0, 4.0])
Y = np.array([3.0, 5.0, 7.0])


def side_of(graph: ComputedGraph) -> Side:
    return matching_of(graph, ComputedGraph("empty")).first


# Origins


def test_reshapes_and_casts_pass_on_the_numbers_of_their_origin() -> None:
    graph = ComputedGraph("a")
    x = graph.leaf("x", np.arange(6.0), "input")
    reshaped = graph.op("Reshape", lambda x: x.reshape(2, 3), x)
    graph.op("Cast", np.float32, graph.op("Transpose", np.transpose, reshaped))
    side = side_of(graph)
    for op in ("Reshape", "Transpose", "Cast"):
        assert called(side, op).origin is called(side, "x")


@pytest.mark.parametrize(
    ("op", "function", "value", "origin"),
    [
        ("Exp", np.exp, X, "Exp"),
        # An op that changes nothing passes its input on; zeros of zeros are equal by chance.
        ("ReLU", np.abs, X, "x"),
        ("ReLU", np.abs, 0 * X, "ReLU"),
        ("Reshape", np.copy, 0 * X, "x"),
    ],
)
def test_an_op_that_computes_has_its_own_numbers(
    op: str, function: Function, value: AnyArray, origin: str
) -> None:
    graph = ComputedGraph("a")
    graph.op(op, function, graph.leaf("x", value, "input"))
    side = side_of(graph)
    assert called(side, op).origin is called(side, origin)


# Evidence


def one_op(
    engine: str,
    op: str = "Sum",
    value: AnyArray = X + 1,
    *,
    feed: str = "x",
    reader: str = "",
    derives_from: str = "",
    **fields: Any,
) -> ComputedGraph:
    """A graph with one op that holds a value: what feeds it, reads it, or is differentiated by it."""
    graph = ComputedGraph(engine)
    nodes = {"x": graph.leaf("x", X, "input"), "y": graph.leaf("y", Y, "input")}
    nodes["Exp"] = graph.op("Exp", np.exp, nodes["x"])
    nodes["Log"] = graph.op("Log", np.log, nodes["x"])
    if derives_from:
        fields |= {"phase": "backward", "forward": nodes[derives_from]}
    node = graph.hold(op, value, inputs=(nodes[feed],), **fields)
    if reader:
        graph.op(reader, lambda value: value * 5, node)
    return graph


def points(left: ComputedGraph, right: ComputedGraph) -> float:
    """Evidence for the ops of two graphs being the same, where leaves, Exp and Sin are pairs."""
    matching = matching_of(left, right)
    paired = ("x", "y", "Exp", "Sin")
    ops = []
    for node, other in zip(matching.first.nodes, matching.second.nodes, strict=True):
        if node.op not in ("input", "Exp", "Log", "Sin", "Cos"):
            ops.append((node.value, other.value))
        elif (node.name or node.op) in paired and node.op == other.op:
            matching.join(node.value, other.value, "name")
    ((value, candidate),) = ops
    return evidence(value, candidate)[0]


@pytest.mark.parametrize(
    ("left", "right", "worth"),
    [
        ({}, {}, 0),
        ({}, {"feed": "y"}, -3),
        ({"reader": "Sin"}, {"reader": "Sin"}, 2),
        ({"reader": "Sin"}, {"reader": "Cos"}, 0),
        ({"scope": "fc"}, {"scope": "fc"}, 2),
        ({"scope": "fc"}, {"scope": "fc2"}, 0),
        ({"name": "total"}, {"name": "total"}, 4),
        ({}, {"op": "Unknown"}, -3),
        ({}, {"op": "Reshape"}, -5),
        ({"derives_from": "Exp"}, {"derives_from": "Exp"}, 3),
        ({"derives_from": "Exp"}, {"derives_from": "Log"}, -3),
        ({"derives_from": "Log"}, {"derives_from": "Log"}, 0),
        ({}, {"value": (X + 1).reshape(3, 1)}, -1),
        ({}, {"value": (X + 1)[::-1]}, -2),
        ({}, {"value": (X + 1) * (1 + 1e-5)}, -2),
        ({}, {"value": (X + 1) * (1 + 5e-5)}, -4),
    ],
)
def test_each_thing_in_common_is_worth_its_points(
    left: dict[str, Any], right: dict[str, Any], worth: float
) -> None:
    without = points(one_op("a"), one_op("b"))
    assert points(one_op("a", **left), one_op("b", **right)) - without == pytest.approx(worth)


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [(TIGHT, np.nextafter(TIGHT, 1)), (10 * TIGHT, np.nextafter(10 * TIGHT, 1))],
)
def test_a_distance_at_a_limit_is_still_within_it(nearer: float, farther: float) -> None:
    matching = matching_of(one_op("a"), one_op("b", value=(X + 1) * (1 + 1e-5)))
    first, second = (called(side, "Sum").value for side in matching.sides)
    worth = []
    for distance in (nearer, farther):
        assert first.bucket
        assert second.bucket
        first.bucket.near[second.bucket] = distance
        worth.append(evidence(first, second)[0])
    assert worth[0] - worth[1] == 2


def test_nearness_in_the_graphs_decides_between_equal_points() -> None:
    graph, other = ComputedGraph("a"), ComputedGraph("b")
    graph.hold("Sum", X)
    for _ in range(3):
        other.hold("Sum", X)
    matching = matching_of(graph, other)
    (node,) = matching.first.nodes
    closeness = [evidence(node.value, candidate.value)[1] for candidate in matching.second.nodes]
    assert closeness == sorted(closeness, reverse=True)
    assert closeness[0] == 0


# Candidates


def equal_readers(engine: str, count: int) -> ComputedGraph:
    graph = ComputedGraph(engine)
    x = graph.leaf("x", X, "input")
    for _ in range(count):
        graph.op("Exp", np.exp, x)
    return graph


def test_candidates_are_fed_by_the_partner_of_what_feeds_a_node() -> None:
    matching = matching_of(equal_readers("a", 1), equal_readers("b", 2))
    wanted = called(matching.first, "Exp").value
    everything = Candidates(matching.second, lambda node: node.values)
    assert everything.of(wanted) == []
    join(matching, "x")
    readers = [node.value for node in matching.second.work]
    assert everything.of(wanted) == readers
    readers[0].node.partner = wanted.node
    assert everything.of(wanted) == readers[1:]


def test_of_many_equal_candidates_a_few_free_ones_do() -> None:
    matching = matching_of(equal_readers("a", 1), equal_readers("b", 10 * FEW))
    join(matching, "x")
    everything = Candidates(matching.second, lambda node: node.values)
    wanted = called(matching.first, "Exp").value
    readers = [node.value for node in matching.second.work]
    assert everything.of(wanted) == readers[:FEW]
    for value in readers[: 5 * FEW]:
        value.node.partner = wanted.node
    assert everything.of(wanted) == readers[5 * FEW : 6 * FEW]


# Consistency


def test_a_reshape_of_another_origin_is_not_the_same_quantity() -> None:
    def reshapes(engine: str) -> ComputedGraph:
        graph = ComputedGraph(engine)
        for name in ("x", "y"):
            graph.op(f"Reshape/{name}", np.copy, graph.leaf(name, X, "input"))
        return graph

    matching = matching_of(reshapes("a"), reshapes("b"))
    (of_x, of_y), (other_of_x, other_of_y) = (
        [called(side, f"Reshape/{name}") for name in "xy"] for side in matching.sides
    )
    for node in (of_x, of_y, other_of_x, other_of_y):
        node.is_bookkeeping = True
        node.origin = node.inputs[0].node
    # As long as no origin has a counterpart, nothing speaks against any pair.
    assert are_consistent(of_x, other_of_y)
    join(matching, "x", "y")
    assert are_consistent(of_x, other_of_x)
    assert not are_consistent(of_x, other_of_y)


# Successors


def test_successors_are_the_same_op_of_the_same_inputs_in_the_same_order() -> None:
    def differences(engine: str) -> ComputedGraph:
        graph = ComputedGraph(engine)
        x, y = graph.leaf("x", X, "input"), graph.leaf("y", Y, "input")
        graph.op("Sub", np.subtract, x, y)
        graph.op("Mul", np.multiply, x, y)
        return graph

    left, right = differences("a"), differences("b")
    matching = matching_of(left, right)
    subtraction = called(matching.first, "Sub")
    assert list(successors(subtraction)) == []
    join(matching, "x", "y")
    assert list(successors(subtraction)) == [called(matching.second, "Sub")]
    assert shared_origins(subtraction, called(matching.second, "Mul")) == 2
