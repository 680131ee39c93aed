"""A loop whose number of turns depends on a value."""

import pytest

from tests.support.scenario_reports import (
    BY_FIRST,
    FLOAT32,
    MINDSPORE,
    Reports,
    all_say,
    graph,
    ops_called,
    row,
    value,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_it_is_unrolled_by_tapes_and_kept_as_one_body_by_mindspore_s_graph(
    report: Reports,
) -> None:
    whole = report("while_loop")
    x = values_of(whole)["x"]
    answering = (*MINDSPORE, "torch-tape")
    all_say(row(whole, BY_FIRST), {"dx": 8 * x**7}, FLOAT32, answering)

    turns = {}
    for engine in answering:
        turns[engine] = ops_called(graph(whole, engine), ("mul",), "forward")
    assert {engine: len(nodes) for engine, nodes in turns.items()} == {
        "mindspore-graph": 1,
        "mindspore-tape": 3,
        "torch-tape": 3,
    }
    unrolled = [float(value(node)) for node in turns["torch-tape"]]
    assert unrolled == pytest.approx([x**2, x**4, x**8])
    assert float(value(turns["mindspore-graph"][0])) == pytest.approx(x**8)
    assert any(node.kind == "call" for node in graph(whole, "mindspore-graph").nodes)


def test_pytorch_s_joint_graph_of_it_is_refused_with_the_line(report: Reports) -> None:
    result = row(report("while_loop"), BY_FIRST).results["torch-graph"]
    assert result.outcome == "unsupported"
    assert result.error is not None
    assert "Data-dependent branching" in result.error.message
    assert result.error.source.startswith("while_loop.py:")
    assert "Data-dependent branching" in report("while_loop").ungraphed["torch-graph"].error.message
