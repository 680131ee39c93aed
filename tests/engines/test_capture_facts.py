"""What must be true of every captured graph, and needs no recorded answer."""

from pathlib import Path

import pytest

from explorer.model.graph import GradGraph, Node, is_users
from explorer.model.requests import CaseRequest
from explorer.workers.workers import Workers
from tests.support.capture_facts import (
    backward_links,
    computed_constants,
    foreign_links,
    foreign_sums,
    outside_lines,
    strange_places,
)
from tests.support.engine_requests import EngineRequests, path, reply
from tests.support.net_classes import lines_of_other_classes
from tests.support.saved_storages import SavedStorages
from tests.support.standard_engines import ENGINES

MARKS = {"mindspore": pytest.mark.mindspore, "torch": pytest.mark.torch}

OWN = (
    "called_at_two_lines",
    "losses_at_two_lines",
    "module_called_network",
    "sequence_of_blocks",
    "used_together_shifted",
    "used_together_twice",
)
"""Nets in which the compiler shares programs between calls, or operators share what they read."""

SHIPPED = (
    "checkpointing",
    "custom_gradient",
    "kinks",
    "real/conv_lstm",
    "real/convnext_block",
    "real/gpt",
    "real/mixture_of_experts",
    "shared_weight",
    "top_k_mixture",
    "view_and_slice",
)
"""Scenarios with recomputation, a custom backward, views, indexing, splits and shared layers."""

ON_EACH_ENGINE = [
    pytest.param(name, engine, marks=MARKS[ENGINES[engine].framework])
    for engine in ENGINES
    for name in (*OWN, *SHIPPED)
]

NEITHER_HOOKED = frozenset({"checkpointing"})
"""Checkpointed blocks install hooks of their own, which hide what they keep from others."""


def graph_of(workers: Workers, name: str, engine: str) -> GradGraph:
    captured = EngineRequests(workers, ENGINES[engine].framework).capture(name, engine)
    assert captured.graphs, captured.result.error
    return captured.graphs[-1]


@pytest.mark.parametrize(("name", "engine"), ON_EACH_ENGINE)
def test_a_backward_operator_derives_from_the_operator_whose_gradient_it_is(
    workers: Workers, name: str, engine: str
) -> None:
    graph = graph_of(workers, name, engine)
    assert list(foreign_links(graph)) == []
    assert list(backward_links(graph)) == []


@pytest.mark.parametrize(("name", "engine"), ON_EACH_ENGINE)
def test_a_sum_of_gradients_is_that_of_the_node_whose_gradient_is_computed_of_it(
    workers: Workers, name: str, engine: str
) -> None:
    assert list(foreign_sums(graph_of(workers, name, engine))) == []


@pytest.mark.parametrize(("name", "engine"), ON_EACH_ENGINE)
def test_lines_lie_in_the_net_of_the_engines_framework(
    workers: Workers, name: str, engine: str
) -> None:
    assert list(outside_lines(graph_of(workers, name, engine), path(name))) == []


@pytest.mark.parametrize(("name", "engine"), ON_EACH_ENGINE)
def test_a_node_lies_in_the_code_of_the_module_that_it_is_in(
    workers: Workers, name: str, engine: str
) -> None:
    assert list(lines_of_other_classes(graph_of(workers, name, engine), path(name))) == []


@pytest.mark.mindspore
@pytest.mark.parametrize("name", [*OWN, *SHIPPED])
def test_a_compiled_operator_is_at_the_line_and_in_the_module_that_it_has_on_the_tape(
    workers: Workers, name: str
) -> None:
    compiled = graph_of(workers, name, "mindspore-graph")
    assert list(strange_places(compiled, graph_of(workers, name, "mindspore-tape"))) == []


@pytest.mark.mindspore
@pytest.mark.parametrize("name", [*OWN, *SHIPPED])
def test_no_gradient_that_was_computed_is_a_constant_of_the_tape(
    workers: Workers, name: str
) -> None:
    assert list(computed_constants(graph_of(workers, name, "mindspore-tape"))) == []


@pytest.mark.torch
@pytest.mark.parametrize(
    "name", sorted({*OWN, *SHIPPED, "lstm", "in_place_update"} - NEITHER_HOOKED)
)
def test_saved_bytes_are_those_that_the_framework_reports(workers: Workers, name: str) -> None:
    requests = EngineRequests(workers, "torch")
    graph = graph_of(workers, name, "torch-tape")
    request = CaseRequest(requests.net(name, "torch-tape"), requests.widest(name))
    target = "tests.support.saved_storages:measured"
    reported = reply(workers.call("torch", target, request, SavedStorages))
    assert sum(node.saved_bytes for node in graph.nodes) == reported.bytes


@pytest.mark.mindspore
@pytest.mark.parametrize(
    ("name", "op", "call"),
    [
        ("called_at_two_lines", "ArgMaxWithValue", "ops.max("),
        ("called_at_two_lines", "Softmax", "ops.softmax("),
        ("called_at_two_lines", "Sqrt", "ops.norm("),
        ("losses_at_two_lines", "ReduceMax", "ops.cross_entropy("),
    ],
)
def test_each_call_of_a_shared_function_has_its_own_line(
    workers: Workers, name: str, op: str, call: str
) -> None:
    text = path(name).read_text(encoding="utf-8").split("\n")
    graph = graph_of(workers, name, "mindspore-graph")
    found = set()
    for node in graph.nodes:
        if node.op == op and node.phase == "forward":
            found.add(int(node.source[0].rpartition(":")[2]))
    assert len(found) == 2
    assert all(call in text[line - 1] for line in found)


@pytest.mark.mindspore
@pytest.mark.parametrize("engine", ["mindspore-graph", "mindspore-tape"])
@pytest.mark.parametrize(
    ("name", "modules"),
    [
        (
            "module_called_network",
            {"act", "network.act", "network.network.act", "network.network.fc"},
        ),
        (
            "sequence_of_blocks",
            {"features.0.act", "features.1", "features.2.act", "features.3", "features.2.fc"},
        ),
    ],
)
def test_modules_without_parameters_and_called_network_keep_their_paths(
    workers: Workers, name: str, modules: set[str], engine: str
) -> None:
    graph = graph_of(workers, name, engine)
    assert modules <= {node.scope for node in graph.nodes}


@pytest.mark.mindspore
@pytest.mark.parametrize("name", ["data_overwritten", "data_added"])
def test_a_net_that_overwrites_data_has_a_compiled_graph(workers: Workers, name: str) -> None:
    graph = graph_of(workers, name, "mindspore-graph")
    assert any(node.phase == "backward" and node.kind == "op" for node in graph.nodes)


@pytest.mark.mindspore
@pytest.mark.parametrize("name", ["ms_called_twice", "ms_clipped_twice"])
def test_values_of_like_kernels_are_not_mixed_up(workers: Workers, name: str) -> None:
    graph = graph_of(workers, name, "mindspore-graph")
    nodes = graph.by_id()
    assert [node.id for node in graph.nodes if node.proof == "refuted"] == []
    fed = 0
    for edge in graph.edges:
        target, origin = nodes[edge.target], nodes[edge.origin]
        if target.kind == "output" and origin.kind == "op":
            assert shown(origin, edge.output) == pytest.approx(shown(target, 0), rel=1e-5)
            fed += 1
    assert fed


def shown(node: Node, output: int) -> float:
    values = node.outputs[output].values
    assert values is not None
    return values.norm


@pytest.mark.mindspore
def test_the_users_own_backward_is_on_its_own_lines(workers: Workers) -> None:
    for engine in ("mindspore-tape", "mindspore-graph"):
        graph = graph_of(workers, "custom_gradient", engine)
        (absolute,) = (node for node in graph.nodes if node.op == "Abs")
        text = path("custom_gradient").read_text(encoding="utf-8").split("\n")
        line = int(next(filter(is_users, absolute.source)).rpartition(":")[2])
        assert "dout * (ops.abs(x) <= 1)" in text[line - 1], Path(engine)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("mindspore-tape", marks=pytest.mark.mindspore),
        pytest.param("torch-tape", marks=pytest.mark.torch),
    ],
)
def test_a_module_that_is_made_while_another_runs_belongs_to_that_one(
    workers: Workers, engine: str
) -> None:
    graph = graph_of(workers, "made_while_running", engine)
    scopes = {node.scope for node in graph.nodes if "tanh" in node.op.lower()}
    assert scopes == {"block"}


@pytest.mark.torch
def test_each_operator_of_a_recomputed_block_is_that_of_forward_with_its_values(
    workers: Workers,
) -> None:
    graph = graph_of(workers, "recomputed_alike", "torch-tape")
    nodes = graph.by_id()
    again = [
        node for node in graph.nodes if node.phase == "backward" and node.op == "aten.sin.default"
    ]
    assert len(again) == 2
    for node in again:
        assert node.forward is not None
        assert node.outputs == nodes[node.forward].outputs
