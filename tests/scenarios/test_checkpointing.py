"""A block that is computed again in backward instead of being kept."""

import numpy as np
import pytest

from tests.support.scenario_reports import Reports, graph, ops_called, value
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

RAN_AGAIN = {"mindspore-graph": 2, "mindspore-tape": 2, "torch-tape": 2, "torch-graph": 0}
"""How many of the checkpointed block's two functions each engine runs in backward."""

TENSOR_BYTES = 6 * 8


@pytest.mark.parametrize("engine", ENGINES)
def test_it_runs_again_in_backward_instead_of_being_saved(report: Reports, engine: str) -> None:
    gradient_graph = graph(report("checkpointing"), engine)
    first = ops_called(gradient_graph, ("tanh", "sigmoid"), "forward")
    again = ops_called(gradient_graph, ("tanh", "sigmoid"), "backward")
    assert len(first) == 4
    assert len(again) == RAN_AGAIN[engine]
    saved = {edge.origin for edge in gradient_graph.edges if edge.kind == "saved"}
    assert len(saved & {node.id for node in first}) == 4 - len(again)

    nodes = gradient_graph.by_id()
    checkpointed = first[2:]
    for node in again:
        assert any(np.array_equal(value(other), value(node)) for other in checkpointed)
        is_linked = nodes[node.forward or ""] in checkpointed
        assert is_linked or engine.endswith("tape")


def test_it_keeps_fewer_bytes_than_the_same_block_without(report: Reports) -> None:
    whole = report("checkpointing")
    kept = {}
    for engine in ENGINES:
        forward = [node for node in graph(whole, engine).nodes if node.phase == "forward"]
        kept[engine] = sum(node.saved_bytes for node in forward)
    scopes = {node.scope for node in graph(whole, "torch-tape").nodes if node.saved_bytes}
    assert scopes == {"kept"}
    assert kept["torch-tape"] == 2 * TENSOR_BYTES
    # MindSpore's tape keeps the input of the second block too, from which it is computed again.
    assert kept["mindspore-tape"] == 3 * TENSOR_BYTES
    assert kept["torch-graph"] == 4 * TENSOR_BYTES
