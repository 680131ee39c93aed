"""What must be true of every captured graph, and needs no recorded answer."""

from collections.abc import Callable, Iterable
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
from tests.support.engine_requests import EngineRequests, compared, each, reply, requests_of
from tests.support.narrowing import present
from tests.support.net_classes import lines_of_other_classes
from tests.support.nets import net_file
from tests.support.standard_engines import ENGINES
from tests.support.worker_targets import SavedStorages

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

TELLING = ("called_at_two_lines", "sequence_of_blocks", "used_together_twice", "custom_gradient")
"""Those that are captured in every run; the others in the whole run."""


def is_left(name: str) -> bool:
    """Whether a net is for the whole run."""
    return name not in TELLING


EACH_NET = [
    pytest.param(name, marks=[pytest.mark.whole] if is_left(name) else [])
    for name in (*OWN, *SHIPPED)
]

ON_EACH_ENGINE = [
    parameter for name in (*OWN, *SHIPPED) for parameter in each(ENGINES, name, whole=is_left(name))
]

HOOKED = [one for one in EACH_NET if one.values != ("checkpointing",)]
"""But for checkpointed blocks: their own hooks hide from others what they keep."""


def graph_of(workers: Workers, name: str, engine: str) -> GradGraph:
    return compared(requests_of(workers, engine).capture(name, engine))


FACTS: dict[str, Callable[[GradGraph, Path], Iterable[object]]] = {
    "a backward operator derives from the operator whose gradient it is": (
        lambda graph, _: [*foreign_links(graph), *backward_links(graph)]
    ),
    "a sum of gradients is that of the node whose gradient is computed of it": (
        lambda graph, _: foreign_sums(graph)
    ),
    "lines lie in the net of the engine's framework": outside_lines,
    "a node lies in the code of the module that it is in": lines_of_other_classes,
}
"""What is true of each graph, and what in it contradicts that."""


@pytest.mark.parametrize(("engine", "name"), ON_EACH_ENGINE)
def test_no_node_contradicts_what_is_true_of_every_graph(
    workers: Workers, engine: str, name: str
) -> None:
    graph = graph_of(workers, name, engine)
    contradictions = {fact: list(against(graph, net_file(name))) for fact, against in FACTS.items()}
    assert not any(contradictions.values()), contradictions


@pytest.mark.mindspore
@pytest.mark.parametrize("name", EACH_NET)
def test_a_compiled_operator_is_at_the_line_and_in_the_module_that_it_has_on_the_tape(
    workers: Workers, name: str
) -> None:
    compiled, tape = (graph_of(workers, name, f"mindspore-{style}") for style in ("graph", "tape"))
    assert list(strange_places(compiled, tape)) == []
    # No gradient that was computed is a constant of the tape.
    assert list(computed_constants(tape)) == []


@pytest.mark.torch
@pytest.mark.parametrize("name", [*HOOKED, "lstm", "in_place_update"])
def test_saved_bytes_are_those_that_the_framework_reports(workers: Workers, name: str) -> None:
    requests = EngineRequests(workers, "torch")
    graph = graph_of(workers, name, "torch-tape")
    request = CaseRequest(requests.net(name, "torch-tape"), requests.widest(name))
    target = "tests.support.worker_targets:saved_storages"
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
    text = net_file(name).read_text(encoding="utf-8").split("\n")
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
    values = present(node.outputs[output].values)
    return values.norm


@pytest.mark.mindspore
def test_the_users_own_backward_is_on_its_own_lines(workers: Workers) -> None:
    for engine in ("mindspore-tape", "mindspore-graph"):
        graph = graph_of(workers, "custom_gradient", engine)
        (absolute,) = (node for node in graph.nodes if node.op == "Abs")
        text = net_file("custom_gradient").read_text(encoding="utf-8").split("\n")
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
        assert node.outputs == nodes[present(node.forward)].outputs
