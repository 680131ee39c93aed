"""A backward written by hand: a straight-through estimator."""

import re

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph, Node
from tests.support.scenario_reports import BY_FIRST, Reports, all_say, graph, row, values_of
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_it_is_what_was_written_and_not_the_derivative(report: Reports) -> None:
    whole = report("custom_gradient")
    x = values_of(whole)["x"]
    by_x = row(whole, BY_FIRST)
    all_say(by_x, {"dx": 3 * 3 * (3 * np.sign(x)) ** 2 * (np.abs(x) <= 1)})
    (estimate,) = by_x.oracle.estimates
    assert unpack(estimate.value).tolist() == [0, 0, 0, 0]
    assert (by_x.verdict, by_x.oracle_agrees, by_x.expected) == ("match", False, True)


def first_op(gradient_graph: GradGraph, pattern: str) -> Node:
    for node in gradient_graph.nodes:
        if re.search(pattern, node.op):
            return node
    raise AssertionError(f"no op is called {pattern}")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_it_computes_is_backward_and_derives_from_the_forward_it_belongs_to(
    report: Reports, engine: str
) -> None:
    drawn = graph(report("custom_gradient"), engine)
    nodes = drawn.by_id()
    size = first_op(drawn, "Abs|aten.abs")
    mask = first_op(drawn, "LessEqual|aten.le")
    readers = [nodes[edge.target] for edge in drawn.edges if edge.origin == mask.id]
    for node in (size, mask, readers[0]):
        assert node.phase == "backward", node.op
        assert "sign" in nodes[node.forward or ""].op.lower(), node.op
