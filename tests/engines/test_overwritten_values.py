"""MindSpore's tape shows a value as it was before it was overwritten, and so do views of it."""

import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from tests.support.engine_requests import EngineRequests
from tests.support.narrowing import present

pytestmark = pytest.mark.mindspore


def forward_values(
    mindspore: EngineRequests, name: str, case: GradCase
) -> list[tuple[str, object]]:
    """The ops of the forward on MindSpore's tape, each with its value; sums are left out."""
    captured = mindspore.capture(name, "mindspore-tape", case)
    assert captured.result.outcome == "ok", captured.result.error
    (graph,) = captured.graphs
    sums = ("AddExt", "Contiguous", "SumExt")
    return [(op, value) for op, value in _values(graph) if op not in sums]


def _values(graph: GradGraph) -> list[tuple[str, object]]:
    values = []
    for node in graph.nodes:
        if node.kind == "op" and node.phase == "forward":
            summary = present(node.outputs[0].values)
            values.append((node.op, unpack(present(summary.whole)).tolist()))
    return values


def test_a_value_is_what_it_was_before_it_was_overwritten(mindspore: EngineRequests) -> None:
    # h = x² of [1, -2, 0.5], energy h², then h becomes 3x, and the loss its square.
    assert forward_values(mindspore, "in_place_update", GradCase("grad", 0, has_aux=True)) == [
        ("Mul", [1.0, 4.0, 0.25]),
        ("Mul", [1.0, 16.0, 0.0625]),
        ("Muls", [3.0, -6.0, 1.5]),
        ("InplaceCopy", [3.0, -6.0, 1.5]),
        ("Mul", [9.0, 36.0, 2.25]),
    ]


def test_a_view_shows_what_it_showed_before_the_memory_that_it_shares_was_overwritten(
    mindspore: EngineRequests,
) -> None:
    # h = 3x of [[1, 2], [3, 4]] and its view of one row; then h becomes x².
    assert forward_values(mindspore, "ms_overwritten_view", GradCase("grad", 0)) == [
        ("Muls", [[3.0, 6.0], [9.0, 12.0]]),
        ("Reshape", [3.0, 6.0, 9.0, 12.0]),
        ("Mul", [[1.0, 4.0], [9.0, 16.0]]),
        ("InplaceCopy", [[1.0, 4.0], [9.0, 16.0]]),
    ]
