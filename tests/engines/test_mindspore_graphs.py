"""The graphs that both MindSpore engines capture, asked of them through their workers."""

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.graph import Absence, GradGraph, Node
from explorer.model.passes import PASSES
from explorer.model.requests import CaseRequest
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests
from tests.support.worker_targets import Word

pytestmark = pytest.mark.mindspore

GRAPH, TAPE = "mindspore-graph", "mindspore-tape"
BOTH = (GRAPH, TAPE)
NETS = ("ms_dense", "ms_conv", "ms_shared", "ms_mlp")


@pytest.fixture(scope="module")
def mindspore(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "mindspore")


def backward(graph: GradGraph) -> list[Node]:
    """The nodes of backward that derive from a forward node."""
    kinds = {"op", "accumulate", "call"}
    return [node for node in graph.nodes if node.phase == "backward" and node.kind in kinds]


def share(facts: list[bool]) -> float:
    return sum(facts) / len(facts)


def products(graph: GradGraph) -> list[Node]:
    """The matrix products of the forward."""
    return [node for node in graph.nodes if node.op == "MatMul" and node.phase == "forward"]


def gradient_nodes(graph: GradGraph) -> dict[str, Node]:
    """The nodes of the gradients that the graph returns, by name."""
    results = [node for node in graph.nodes if node.kind == "output"]
    return {node.name: node for node in results if node.phase == "backward"}


# Both engines


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("name", NETS)
def test_capture_does_not_change_the_answer(
    name: str, engine: str, mindspore: EngineRequests
) -> None:
    plain = mindspore.answer(name, engine, mindspore.widest(name))
    assert mindspore.capture(name, engine).result.leaves == plain.leaves
    assert mindspore.capture(name, engine, values=False).result.leaves == plain.leaves


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("name", NETS)
def test_backward_nodes_have_value_source_and_forward_node(
    name: str, engine: str, mindspore: EngineRequests
) -> None:
    graph = mindspore.capture(name, engine).graphs[-1]
    assert lint(graph) == []
    nodes = backward(graph)
    assert share([all(output.values for output in node.outputs) for node in nodes]) >= 0.95
    assert share([bool(node.source) for node in nodes]) >= 0.95
    assert share([node.forward is not None for node in nodes]) >= 0.95


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("name", NETS)
def test_a_gradient_node_holds_the_gradient_and_so_does_what_feeds_it(
    name: str, engine: str, mindspore: EngineRequests
) -> None:
    captured = mindspore.capture(name, engine)
    graph = captured.graphs[-1]
    nodes = graph.by_id()
    norms = {}
    for leaf in captured.result.leaves:
        if leaf.name.startswith("d"):
            norms[leaf.name] = float(np.linalg.norm(unpack(leaf.value).astype(np.float64)))
    gradients = gradient_nodes(graph)
    assert gradients.keys() == norms.keys()
    for gradient, node in gradients.items():
        (edge,) = (edge for edge in graph.edges if edge.target == node.id)
        for output in (node.outputs[0], nodes[edge.origin].outputs[edge.output]):
            assert output.values is not None
            assert output.values.norm == pytest.approx(norms[gradient], rel=1e-12)


def test_the_graph_of_the_call_alone_lacks_what_only_outputs_need(
    mindspore: EngineRequests,
) -> None:
    case = GradCase("grad", 0)
    whole = mindspore.capture("dense_mse", GRAPH, case)
    alone = mindspore.capture("dense_mse", GRAPH, case, whole_forward=False)
    assert alone.result.leaves == whole.result.leaves
    for captured, computes_the_loss in ((whole, True), (alone, False)):
        ops = {node.op for node in captured.graphs[-1].nodes if node.phase == "forward"}
        assert ("ReduceMean" in ops) == computes_the_loss
        assert "Sub" in ops  # the error, which the gradient is made of


@pytest.mark.parametrize("engine", BOTH)
def test_every_float_keeps_its_dtype_through_answer_and_capture(
    engine: str, mindspore: EngineRequests
) -> None:
    captured = mindspore.capture("ms_dtypes", engine, GradCase("value_and_grad", (0, 3)))
    assert captured.result.error is None
    assert {leaf.name: leaf.value.dtype for leaf in captured.result.leaves} == {
        "half": "float16",
        "brain": "bfloat16",
        "double": "float64",
        "dx": "float16",
        "dwide": "float64",
    }
    graph = captured.graphs[-1]
    assert lint(graph) == []
    outputs = [output for node in graph.nodes for output in node.outputs]
    values = [output.values for output in outputs if output.dtype == "bfloat16"]
    assert values
    assert None not in values


@pytest.mark.parametrize("engine", BOTH)
def test_nodes_stand_in_their_modules_under_pytorchs_paths(
    engine: str, mindspore: EngineRequests
) -> None:
    graph = mindspore.capture("ms_conv", engine).graphs[-1]
    scopes = {node.scope for node in graph.nodes if node.kind == "op"}
    assert {"conv", "bn", "relu", "pool", "flatten", "fc", "loss"} <= scopes
    parameters = {node.name for node in graph.nodes if node.kind == "parameter"}
    assert {"bn.weight", "bn.bias", "fc.weight"} <= parameters


@pytest.mark.parametrize("engine", BOTH)
def test_each_call_of_a_shared_layer_has_its_own_backward(
    engine: str, mindspore: EngineRequests
) -> None:
    graph = mindspore.capture("ms_shared", engine).graphs[-1]
    linked = {node.forward for node in backward(graph) if node.op == "MatMul"}
    assert len(linked) == 2
    assert linked == {node.id for node in products(graph)}


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize(("order", "derivative"), [(2, [6.0, 12.0, 18.0]), (3, [6.0, 6.0, 6.0])])
def test_nested_gradients_are_captured(
    engine: str, order: int, derivative: list[float], mindspore: EngineRequests
) -> None:
    captured = mindspore.capture("ms_cubic", engine, GradCase("grad", 0, order=order))
    assert captured.result.error is None
    assert lint(captured.graphs[-1]) == []
    (leaf,) = captured.result.leaves
    assert unpack(leaf.value).tolist() == derivative


@pytest.mark.parametrize("engine", BOTH)
def test_a_statistic_comes_from_what_wrote_it_though_a_later_operator_reads_it(
    engine: str, mindspore: EngineRequests
) -> None:
    graph = mindspore.capture("ms_statistics", engine).graphs[-1]
    nodes = graph.by_id()
    (result,) = (
        node.id for node in graph.nodes if (node.kind, node.name) == ("output", "bn.running_mean")
    )
    (feeder,) = (nodes[edge.origin] for edge in graph.edges if edge.target == result)
    assert feeder.op == "BatchNorm"


# The tape


def test_the_same_capture_twice_gives_the_same_graph(mindspore: EngineRequests) -> None:
    first, second = (mindspore.capture("ms_conv", TAPE) for _ in range(2))
    assert first.graphs == second.graphs


def test_the_tape_counts_what_is_saved(mindspore: EngineRequests) -> None:
    graph = mindspore.capture("ms_dense", TAPE).graphs[-1]
    assert [node.saved_bytes for node in products(graph)] == [24]


# The compiled graph


def test_what_indexing_takes_comes_on_the_tape_from_what_is_indexed(
    mindspore: EngineRequests,
) -> None:
    (graph,) = mindspore.capture("ms_indexed", TAPE).graphs
    (tanh,) = (node for node in graph.nodes if node.op == "Tanh")
    copies = {node.id for node in graph.nodes if node.op == "Contiguous"}
    assert len(copies) >= 3
    indexed = {edge.target: edge.origin for edge in graph.edges if edge.target in copies}
    assert indexed == dict.fromkeys(copies, tanh.id)


def test_a_branch_is_two_graphs_in_graph_style_and_one_line_on_the_tape(
    mindspore: EngineRequests,
) -> None:
    case = GradCase("grad", 0)
    compiled = mindspore.capture("ms_branch", GRAPH, case).graphs[-1]
    assert lint(compiled) == []
    assert any(len(node.calls) == 2 for node in compiled.nodes)
    assert any(node.missing.get("values") == Absence("branch_not_run") for node in compiled.nodes)
    (recorded,) = mindspore.capture("ms_branch", TAPE, case).graphs
    assert not any(node.calls for node in recorded.nodes)


def test_the_passes_come_in_order_with_the_forward_program_first(
    mindspore: EngineRequests,
) -> None:
    graphs = mindspore.capture("ms_dense", GRAPH).graphs
    assert [graph.stage for graph in graphs] == [passing.stage for passing in PASSES]
    assert [lint(graph) for graph in graphs] == [[], [], []]
    assert not backward(graphs[0])


# What a capture in graph style writes, and how it looks for forward nodes


def told(workers: Workers, target: str, request: CaseRequest | Word) -> list[str]:
    """The words that a target of the tests answers in a worker that captures."""
    name = f"tests.support.worker_targets:{target}"
    answer = workers.call("mindspore-capture", name, request, Word)
    assert isinstance(answer, Word)
    return answer.text.split()


def test_a_capture_writes_the_passes_and_what_kernels_yield_and_nothing_that_is_not_read(
    mindspore: EngineRequests,
) -> None:
    request = CaseRequest(mindspore.net("ms_dense", GRAPH), GradCase("grad", 0, "all", True))
    # A worker of its own: others have captured other nets.
    with Workers() as workers:
        written = told(workers, "written_by_capture", request)
    kernels = {word.removesuffix(".npy") for word in written if word.endswith(".npy")}
    assert "MatMul" in kernels
    assert "Parameter" not in kernels
    assert set(written) - {f"{kernel}.npy" for kernel in kernels} == {".ir", ".json"}


def test_the_forward_node_is_the_one_that_weighing_every_copy_would_yield(
    mindspore: EngineRequests,
) -> None:
    linked, others = map(int, told(mindspore.workers, "links_among_all", Word("3000")))
    assert linked > 10_000
    assert others == 0


def test_a_copy_of_a_transposed_gradient_on_the_tape_is_that_gradient_and_no_constant(
    mindspore: EngineRequests,
) -> None:
    (graph,) = mindspore.capture("ms_mixed_tokens", TAPE).graphs
    constants = [node for node in graph.nodes if node.kind == "constant"]
    assert [node.name for node in constants if node.phase == "backward"] == ["seed"]
    nodes = graph.by_id()
    dense = [node for node in backward(graph) if node.op == "MatMul"]
    assert len(dense) == 2
    for product in dense:
        origins = [nodes[edge.origin] for edge in graph.edges if edge.target == product.id]
        assert "Reshape" in [node.op for node in origins if node.phase == "backward"]


@pytest.mark.parametrize("engine", BOTH)
def test_norms_of_blocks_that_hardly_change_their_input_are_in_the_module_of_their_weights(
    mindspore: EngineRequests, engine: str
) -> None:
    # Their values tell them from one another by no more than kernels may differ.
    captured = mindspore.capture("ms_scaled_blocks", engine, GradCase("grad", 0, "all"))
    graph = captured.graphs[-1]
    weights = {node.id: node.name for node in graph.nodes if node.kind == "parameter"}
    modules = []
    for node in graph.nodes:
        if node.op.startswith("GroupNorm") and node.phase == "forward":
            read = [
                weights[edge.origin]
                for edge in graph.edges
                if edge.target == node.id and edge.origin in weights
            ]
            assert {name.rpartition(".")[0] for name in read} == {node.scope}
            modules.append(node.scope)
    inner = [f"blocks.{block}.norm{number}" for block in (0, 1) for number in (1, 2)]
    assert sorted(modules) == [*inner, "last"]


@pytest.mark.parametrize("line", ["net.py:9", "net.py:8"])
def test_operators_of_one_said_site_and_equal_values_are_where_they_ran_in_order(
    workers: Workers, line: str
) -> None:
    # The last one's site, or one that none ran at.
    target = "tests.support.worker_targets:placed_beside_equals"
    assert workers.call("mindspore", target, Word(line), Word) == Word("block.0 block.1 last")
