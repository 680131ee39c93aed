"""What the engines of every framework and style capture, asked of them through their workers."""

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import Absence, GradGraph, Node, is_users
from explorer.model.passes import PASSES
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.engine_requests import (
    EACH_ENGINE,
    EVERYTHING,
    JAX_ENGINES,
    MINDSPORE_ENGINES,
    TORCH_ENGINES,
    EngineRequests,
    compared,
    each,
    requests_of,
    values,
)
from tests.support.narrowing import of_type, present
from tests.support.scenario_reports import value
from tests.support.worker_targets import Word

DENSE = GradCase("value_and_grad", (0, 1), "all", has_aux=True)

BY_ALL = GradCase("grad", 0, "all")

REPLAYED: dict[tuple[str, ...], dict[str, GradCase]] = {
    TORCH_ENGINES: {
        "dense_mse": EVERYTHING,
        "shared_weight": GradCase("value_and_grad", 0, "all"),
        "conv_bn_relu_pool": EVERYTHING,
        "mlp_cross_entropy": EVERYTHING,
        "torch_attention": EVERYTHING,
        "torch_lstm": EVERYTHING,
    },
    # It writes through views; an input is called seed, and its cotangent has two numbers.
    ("torch-tape",): {
        "torch_in_place": EVERYTHING,
        "torch_seed_input": GradCase("GradOperation", 0, sens_param=True),
    },
    # Outputs share memory, weights are tied, and the forward differentiates.
    ("torch-graph",): {
        "torch_shared_outputs": GradCase("value_and_grad", (0, 1), "all"),
        "torch_tied_head": GradCase("value_and_grad", 0, "all"),
        "torch_inner_gradient": GradCase("value_and_grad", 0, "all"),
    },
    JAX_ENGINES: {
        "dense_mse": DENSE,
        "jax_loops": GradCase("value_and_grad", (0, 1), "all"),
        "jax_steps": GradCase("grad", 0),
        "kinks": GradCase("grad", 0),
        "linear_bce": BY_ALL,
        "polynomial": GradCase("grad", 0, order=2),
        "shared_weight": BY_ALL,
        "view_and_slice": GradCase("grad", 0),
    },
}
"""Nets whose captures are computed again in another order, each with a case that asks much of it."""

EACH_REPLAYED = [
    parameter
    for engines, cases in REPLAYED.items()
    for name, case in cases.items()
    for parameter in each(engines, name, case)
]

NESTED: dict[tuple[str, ...], str] = {TORCH_ENGINES: "shared_weight", MINDSPORE_ENGINES: "ms_cubic"}

PRODUCTS = {"mindspore": "MatMul", "torch": "aten.mm.default", "jax": "dot_general"}
"""What a product of matrices is called."""


def captured(workers: Workers, name: str, engine: str, case: GradCase) -> GradGraph:
    return compared(requests_of(workers, engine).capture(name, engine, case))


def named(graph: GradGraph, kind: str) -> dict[str, Node]:
    return {node.name: node for node in graph.nodes if node.kind == kind}


def operators(graph: GradGraph) -> list[Node]:
    return [node for node in graph.nodes if node.kind in ("op", "accumulate")]


def products(graph: GradGraph, engine: str, phase: str) -> list[Node]:
    op = PRODUCTS[ENGINES[engine].framework]
    return [node for node in graph.nodes if (node.op, node.phase) == (op, phase)]


def is_near(one: Result, other: Result) -> bool:
    """Whether two answers are the same up to the rounding of single precision."""
    pairs = zip(one.leaves, other.leaves, strict=True)
    return all(
        unpack(left.value) == pytest.approx(unpack(right.value), nan_ok=True)
        for left, right in pairs
    )


# Capture changes nothing, and says enough to compute the same once more


@pytest.mark.parametrize(("engine", "name", "case"), EACH_REPLAYED)
def test_capture_changes_no_bit_and_its_record_replays_in_another_order_to_the_same(
    workers: Workers, engine: str, name: str, case: GradCase
) -> None:
    requests = requests_of(workers, engine)
    answer = requests.answer(name, engine, case)
    assert answer.outcome == "ok", answer.error
    record = requests.capture(name, engine, case)
    assert record.result == answer
    graph = compared(record)
    assert lint(graph) == []
    assert {leaf.name for leaf in answer.leaves} <= named(graph, "output").keys()
    replayed = requests.replay(name, engine, case)
    if ENGINES[engine].framework == "torch":
        assert replayed.leaves == answer.leaves
    else:
        # Compiled functions round otherwise than their operations one by one.
        assert is_near(replayed, answer)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize(
    ("engine", "name"), [one for engines, name in NESTED.items() for one in each(engines, name)]
)
def test_a_nested_gradient_is_captured_too(
    workers: Workers, engine: str, name: str, order: int
) -> None:
    requests, case = requests_of(workers, engine), GradCase("grad", 0, order=order)
    answer, record = requests.answer(name, engine, case), requests.capture(name, engine, case)
    assert lint(compared(record)) == []
    assert record.result.leaves == answer.leaves
    if name == "ms_cubic":
        assert values(answer) == {"dx": [6.0, 12.0, 18.0] if order == 2 else [6.0, 6.0, 6.0]}
    else:
        assert requests.replay(name, engine, case).leaves == answer.leaves


@pytest.mark.parametrize("engine", each((*TORCH_ENGINES, *MINDSPORE_ENGINES)))
def test_without_values_the_answer_and_the_graph_are_the_same_but_for_them(
    workers: Workers, engine: str
) -> None:
    requests = requests_of(workers, engine)
    answer = requests.answer("dense_mse", engine, EVERYTHING)
    bare = requests.capture("dense_mse", engine, EVERYTHING, values=False)
    assert bare.result.leaves == answer.leaves
    plain, valued = compared(bare), captured(workers, "dense_mse", engine, EVERYTHING)
    assert plain.edges == valued.edges
    assert [node.op for node in plain.nodes] == [node.op for node in valued.nodes]
    if ENGINES[engine].framework == "torch":
        outputs = [output for node in plain.nodes for output in node.outputs]
        assert [output.values for output in outputs] == [None] * len(outputs)


@pytest.mark.parametrize("engine", each((*TORCH_ENGINES, "mindspore-tape")))
def test_a_second_capture_gives_the_same_record(workers: Workers, engine: str) -> None:
    requests = requests_of(workers, engine)
    # These graphs have nothing to do with the whole forward: one is requested twice, and not kept.
    first, second = (
        requests.capture("conv_bn_relu_pool", engine, EVERYTHING, whole_forward=is_whole)
        for is_whole in (True, False)
    )
    assert first == second


# What nodes say


@pytest.mark.parametrize(("engine", "name", "case"), EACH_REPLAYED)
def test_every_node_has_values_a_line_of_the_user_and_in_backward_a_forward_node(
    workers: Workers, engine: str, name: str, case: GradCase
) -> None:
    requests = requests_of(workers, engine)
    is_proven = ENGINES[engine].framework == "jax"
    graph = compared(requests.capture(name, engine, case, prove="all" if is_proven else "none"))
    for order, node in enumerate(graph.nodes):
        assert node.order == order
        # An LSTM's operator has a workspace, and its backward allocates memory for gradients.
        is_unwritten = node.missing.get("values") == Absence("unwritten")
        assert is_unwritten or all(output.values for output in node.outputs), node.op
    for node in operators(graph):
        assert node.proof == ("proven" if is_proven else ""), node
        assert node.phase == "forward" or node.forward is not None, node.op
        if is_proven or node.phase == "forward":
            assert is_users(node.source[0]), node.op
    files = {line.rpartition(":")[0] for node in graph.nodes for line in node.source}
    if engine == "torch-tape":
        # None is on a line of the program that asks for the gradient.
        assert {file for file in files if not file.startswith("torch/")} == {f"{name}.py"}


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_a_graph_names_inputs_parameters_outputs_and_gradients_and_holds_their_values(
    workers: Workers, engine: str
) -> None:
    graph = captured(workers, "dense_mse", engine, DENSE)
    assert lint(graph) == []
    given = {name: array.tolist() for name, array in load(find("dense_mse")).inputs().items()}
    assert {name: value(it).tolist() for name, it in named(graph, "input").items()} == given
    assert set(named(graph, "parameter")) == {"fc.weight"}
    results = named(graph, "output")
    assert {name: node.phase for name, node in results.items()} == {
        "loss": "forward",
        "logits": "forward",
        "dx": "backward",
        "dy": "backward",
        "dfc.weight": "backward",
    }
    assert value(results["dx"]).tolist() == [[4, 6, 8]]
    if engine != "mindspore-graph":  # the compiler knows the seed, and the memory that it saves
        seed = named(graph, "constant")["seed"]
        assert (seed.phase, seed.outputs[0].shape) == ("backward", ())
        # x and the weight have three float32 elements each, the error and the target one.
        saved = sum(node.saved_bytes for node in graph.nodes)
        assert 0 < saved <= 4 * (3 + 3 + 1 + 1)


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_a_backward_multiplication_derives_from_the_forward_one_in_its_module(
    workers: Workers, engine: str
) -> None:
    graph = captured(workers, "dense_mse", engine, DENSE)
    (forward,) = products(graph, engine, "forward")
    assert forward.source[0].startswith("dense_mse.py:")
    links = [node.forward for node in products(graph, engine, "backward")]
    assert links == [forward.id] * 2
    if ENGINES[engine].framework != "jax":  # its nets are functions
        assert forward.scope == "fc"
        # The net itself is not one of its modules.
        assert {node.scope for node in graph.nodes} == {"", "fc", "loss"}


@pytest.mark.parametrize("engine", EACH_ENGINE)
def test_each_call_of_a_shared_layer_has_its_own_backward_and_its_gradients_are_summed(
    workers: Workers, engine: str
) -> None:
    graph = captured(workers, "shared_weight", engine, BY_ALL)
    sums = [node for node in graph.nodes if node.kind == "accumulate"]
    assert sums
    assert {node.phase for node in sums} == {"backward"}
    if ENGINES[engine].framework == "torch":
        # The gradients that are added come from two lines of the net.
        assert any(len(node.source) == 2 for node in sums)
        return
    linked = {node.forward for node in products(graph, engine, "backward")}
    assert len(linked) == 2
    assert linked == {node.id for node in products(graph, engine, "forward")}


@pytest.mark.parametrize("name", ["shared_weight", "ms_conv"])
@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_a_gradient_node_holds_the_gradient_and_so_does_what_feeds_it(
    workers: Workers, name: str, engine: str
) -> None:
    requests = requests_of(workers, engine)
    record = requests.capture(name, engine, requests.widest(name))
    graph = compared(record)
    nodes = graph.by_id()
    norms = {}
    for leaf in record.result.leaves:
        if leaf.name.startswith("d"):
            norms[leaf.name] = float(np.linalg.norm(unpack(leaf.value).astype(np.float64)))
    results = named(graph, "output").items()
    gradients = {name: node for name, node in results if node.phase == "backward"}
    assert gradients.keys() == norms.keys()
    for gradient, node in gradients.items():
        (edge,) = (edge for edge in graph.edges if edge.target == node.id)
        for output in (node.outputs[0], nodes[edge.origin].outputs[edge.output]):
            assert present(output.values).norm == pytest.approx(norms[gradient], rel=1e-12)


# PyTorch alone


@pytest.mark.torch
def test_a_shape_that_autograd_works_out_without_numbers_is_no_node(torch: EngineRequests) -> None:
    # The gradient of sgn is known to be zero: the shape of a sum with it needs no numbers.
    case = GradCase("grad", 0, order=2)
    graph = compared(torch.capture("kinks", "torch-tape", case))
    assert lint(graph) == []
    assert "aten.sgn.default" in [node.op for node in graph.nodes]
    assert not [node.op for node in graph.nodes if node.op.startswith("prims.")]
    answer = torch.answer("kinks", "torch-tape", case)
    assert torch.replay("kinks", "torch-tape", case).leaves == answer.leaves


@pytest.mark.parametrize("engine", each(TORCH_ENGINES))
def test_nothing_that_was_captured_waits_for_a_search_for_garbage(
    torch: EngineRequests, engine: str
) -> None:
    request = CaseRequest(torch.net("conv_bn_relu_pool", engine), EVERYTHING)
    left = torch.call("tests.support.worker_targets:tensors_left", request, Word)
    assert left == Word("0")


@pytest.mark.torch
def test_a_tensor_that_may_not_be_held_is_forgotten_when_it_goes(torch: EngineRequests) -> None:
    # Python gives its id to another one.
    target = "tests.support.worker_targets:known_when_gone"
    assert torch.call(target, Word("aten.mul.Tensor"), Word) == Word("True False")


@pytest.mark.torch
def test_a_view_that_is_saved_keeps_the_whole_of_its_storage(torch: EngineRequests) -> None:
    graph = compared(torch.capture("torch_column", "torch-tape", GradCase("grad", 1)))
    saved = {node.op: node.saved_bytes for node in graph.nodes if node.saved_bytes}
    assert saved == {"aten.mul.Tensor": 4 * 64 * 4}


@pytest.mark.torch
def test_a_value_is_what_it_was_before_it_was_overwritten(torch: EngineRequests) -> None:
    graph = compared(torch.capture("torch_writes_input", "torch-tape", GradCase("grad", 0)))
    (product,) = (node for node in graph.nodes if node.op == "aten.mul_.Tensor")
    assert value(named(graph, "input")["b"]).tolist() == [4, 5, 6]
    assert value(product).tolist() == [8, 10, 12]


@pytest.mark.torch
def test_a_gradient_reaches_its_leaf_without_a_copy_that_only_capture_would_cause(
    torch: EngineRequests,
) -> None:
    graph = compared(torch.capture("conv_bn_relu_pool", "torch-tape", EVERYTHING))
    assert [node.op for node in graph.nodes if node.tape == "AccumulateGrad"] == []
    assert "dconv.weight" in named(graph, "output")


@pytest.mark.torch
def test_a_tensor_under_two_names_goes_by_the_first(torch: EngineRequests) -> None:
    graph = compared(torch.capture("aliased_input", "torch-tape", GradCase("grad", 0)))
    (added,) = (node for node in graph.nodes if node.kind == "accumulate")
    assert added.forward == named(graph, "input")["a"].id


# JAX alone


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_the_nodes_of_a_dense_layer_are_those_of_jax(workers: Workers, engine: str) -> None:
    graph = captured(workers, "dense_mse", engine, DENSE)
    by_op = {(node.op, node.phase): node for node in graph.nodes}
    assert (
        by_op["dot_general", "forward"].arguments["dimension_numbers"] == "(((1,), (0,)), ((), ()))"
    )
    assert by_op["integer_pow", "forward"].arguments["y"] in (1, 2)
    saved = {node.name or node.op: node.saved_bytes for node in graph.nodes if node.saved_bytes}
    assert saved["x"] == 12
    assert graph.notes == (("op_by_op",) if engine == "jax-graph" else ())


@pytest.mark.jax
def test_sums_of_gradients_are_accumulations_and_a_loop_runs_on_the_tape(workers: Workers) -> None:
    graph = captured(workers, "shared_weight", "jax-tape", BY_ALL)
    sums = [node for node in graph.nodes if node.op == "add_any"]
    assert sums
    assert {node.kind for node in sums} == {"accumulate"}
    assert lint(captured(workers, "while_loop", "jax-tape", GradCase("grad", 0))) == []


@pytest.mark.jax
def test_a_function_with_a_rule_of_its_own_has_the_line_that_calls_it(workers: Workers) -> None:
    graph = captured(workers, "kinks", "jax-tape", GradCase("grad", 0))
    lines = find("kinks").read_text(encoding="utf-8").splitlines()
    called = [
        lines[int(node.source[0].rpartition(":")[2]) - 1]
        for node in graph.nodes
        if node.op == "max" and any("nn/functions.py" in line for line in node.source)
    ]
    assert called
    assert all("relu" in line for line in called)


# MindSpore alone

GRAPH, TAPE = MINDSPORE_ENGINES


@pytest.mark.mindspore
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


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
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


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_nodes_stand_in_their_modules_under_pytorchs_paths(
    engine: str, mindspore: EngineRequests
) -> None:
    graph = mindspore.capture("ms_conv", engine).graphs[-1]
    scopes = {node.scope for node in graph.nodes if node.kind == "op"}
    assert {"conv", "bn", "relu", "pool", "flatten", "fc", "loss"} <= scopes
    parameters = {node.name for node in graph.nodes if node.kind == "parameter"}
    assert {"bn.weight", "bn.bias", "fc.weight"} <= parameters


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
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


@pytest.mark.mindspore
def test_the_tape_counts_what_is_saved(mindspore: EngineRequests) -> None:
    graph = mindspore.capture("ms_dense", TAPE).graphs[-1]
    assert [node.saved_bytes for node in products(graph, TAPE, "forward")] == [24]


@pytest.mark.mindspore
def test_what_indexing_takes_comes_on_the_tape_from_what_is_indexed(
    mindspore: EngineRequests,
) -> None:
    (graph,) = mindspore.capture("ms_indexed", TAPE).graphs
    (tanh,) = (node for node in graph.nodes if node.op == "Tanh")
    copies = {node.id for node in graph.nodes if node.op == "Contiguous"}
    assert len(copies) >= 3
    indexed = {edge.target: edge.origin for edge in graph.edges if edge.target in copies}
    assert indexed == dict.fromkeys(copies, tanh.id)


@pytest.mark.mindspore
def test_what_is_taken_of_data_comes_from_what_is_indexed(mindspore: EngineRequests) -> None:
    (graph,) = mindspore.capture("ms_data_indexed", TAPE).graphs
    (tanh,) = (node for node in graph.nodes if node.op == "Tanh")
    parts = {node.id: node for node in graph.nodes if node.op == "Slice"}
    sources = [node.source[0].partition(":")[2] for node in parts.values()]
    assert sources == ["16", "17"]
    read = {edge.target: edge.origin for edge in graph.edges if edge.target in parts}
    assert read == dict.fromkeys(parts, tanh.id)
    used = {edge.origin for edge in graph.edges if edge.origin in parts}
    assert used == set(parts)


@pytest.mark.mindspore
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


@pytest.mark.mindspore
def test_the_passes_come_in_order_with_the_forward_program_first(mindspore: EngineRequests) -> None:
    graphs = mindspore.capture("ms_dense", GRAPH).graphs
    assert [graph.stage for graph in graphs] == [passing.stage for passing in PASSES]
    assert [lint(graph) for graph in graphs] == [[], [], []]
    assert not [node for node in graphs[0].nodes if node.phase == "backward"]


def told(workers: Workers, target: str, request: CaseRequest | Word) -> list[str]:
    """The words that a target of the tests answers in a worker that captures."""
    name = f"tests.support.worker_targets:{target}"
    answer = of_type(Word, workers.call("mindspore-capture", name, request, Word))
    return answer.text.split()


@pytest.mark.mindspore
@pytest.mark.whole
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


@pytest.mark.mindspore
@pytest.mark.whole
def test_the_forward_node_is_the_one_that_weighing_every_copy_would_yield(
    mindspore: EngineRequests,
) -> None:
    linked, others = map(int, told(mindspore.workers, "links_among_all", Word("3000")))
    assert linked > 10_000
    assert others == 0


@pytest.mark.mindspore
def test_a_copy_of_a_transposed_gradient_on_the_tape_is_that_gradient_and_no_constant(
    mindspore: EngineRequests,
) -> None:
    (graph,) = mindspore.capture("ms_mixed_tokens", TAPE).graphs
    constants = [node for node in graph.nodes if node.kind == "constant"]
    assert [node.name for node in constants if node.phase == "backward"] == ["seed"]
    nodes = graph.by_id()
    dense = products(graph, TAPE, "backward")
    assert len(dense) == 2
    for product in dense:
        origins = [nodes[edge.origin] for edge in graph.edges if edge.target == product.id]
        assert "Reshape" in [node.op for node in origins if node.phase == "backward"]


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
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


@pytest.mark.mindspore
@pytest.mark.parametrize("line", ["net.py:9", "net.py:8"])
def test_operators_of_one_said_site_and_equal_values_are_where_they_ran_in_order(
    workers: Workers, line: str
) -> None:
    # The last one's site, or one that none ran at.
    target = "tests.support.worker_targets:placed_beside_equals"
    assert workers.call("mindspore", target, Word(line), Word) == Word("block.0 block.1 last")
