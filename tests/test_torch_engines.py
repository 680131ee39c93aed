"""What the two PyTorch engines answer and capture, asked of them through their worker."""

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node
from explorer.model.requests import Nothing
from explorer.model.results import About, Captured, Result
from explorer.model.trees import render
from explorer.numeric.cotangents import cotangent
from explorer.scenario.matrix import matrix, structure
from explorer.workers.process import ROOT
from explorer.workers.workers import Workers
from tests.torch_requests import Torch, got

BOTH = ("torch-tape", "torch-graph")
EVERYTHING = GradCase("value_and_grad", 0, "all", has_aux=True)
BARE = GradCase("value_and_grad", 0, "all")
NETS = (
    "dense_mse",
    "shared_weight",
    "conv_bn_relu_pool",
    "mlp_cross_entropy",
    "torch_attention",
    "torch_lstm",
)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")


@pytest.fixture(scope="module")
def torch(workers: Workers) -> Torch:
    return Torch(workers)


def values(result: Result) -> dict[str, Any]:
    assert result.outcome == "ok", result.error
    return {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}


def only(captured: Captured) -> GradGraph:
    assert captured.result.outcome == "ok", captured.result.error
    (graph,) = captured.graphs
    return graph


def whole(name: str) -> GradCase:
    """The case that asks most of a net; one with a bare output has nothing to set aside."""
    return BARE if name == "shared_weight" else EVERYTHING


def named(graph: GradGraph, kind: str) -> dict[str, Node]:
    return {node.name: node for node in graph.nodes if node.kind == kind}


def test_about_tells_the_version_and_the_devices(workers: Workers) -> None:
    about = got(workers.call("torch", "explorer.engines.torch.about:about", Nothing(), About))
    assert about.versions["torch"].startswith("2.")
    assert about.devices[0] == "cpu"


# What is answered


@pytest.mark.parametrize("engine", BOTH)
def test_every_case_comes_back_in_mindspore_s_structure(torch: Torch, engine: str) -> None:
    for case in matrix(2, True):
        result = torch.answer("dense_mse", engine, case)
        if case.must_fail:
            assert (result.outcome, result.leaves) == ("raised", ())
        else:
            assert result.structure == render(
                structure(case, ("x", "y"), ("fc.weight",), ("loss", "logits"))
            )


@pytest.mark.parametrize("engine", BOTH)
def test_has_aux_false_differentiates_the_sum_of_the_outputs_and_true_the_first(
    torch: Torch, engine: str
) -> None:
    assert values(torch.answer("dense_mse", engine, GradCase("grad", 0))) == {"dx": [[6, 9, 12]]}
    both = values(torch.answer("dense_mse", engine, GradCase("grad", (0, 1), "all", has_aux=True)))
    assert both == {"dx": [[4, 6, 8]], "dy": -2, "dfc.weight": [[2, 4, 6]], "logits": 20}
    assert values(torch.answer("dense_mse", engine, EVERYTHING))["loss"] == 1


@pytest.mark.parametrize("engine", BOTH)
def test_sens_param_brings_cotangents_that_differ_from_output_to_output(
    torch: Torch, engine: str
) -> None:
    case = GradCase("GradOperation", 0, sens_param=True)
    loss, logits = (float(cotangent(index, (), "float32")) for index in (0, 1))
    assert values(torch.answer("dense_mse", engine, case)) == {
        "dx": [[loss * 2 * w + logits * w for w in (2, 3, 4)]]
    }


def test_a_tape_sums_over_both_uses_of_one_tensor_and_a_graph_keeps_positions_apart(
    torch: Torch,
) -> None:
    case = GradCase("grad", (0, 1))
    assert values(torch.answer("aliased_input", "torch-tape", case)) == {
        "da": [2, 4, 6],
        "db": [2, 4, 6],
    }
    assert values(torch.answer("aliased_input", "torch-graph", case)) == {
        "da": [1, 2, 3],
        "db": [1, 2, 3],
    }


@pytest.mark.parametrize("engine", BOTH)
def test_a_nested_gradient_is_that_of_the_sum_of_the_gradient_before(
    torch: Torch, engine: str
) -> None:
    x, z = 2.0, 0.5
    assert values(torch.answer("polynomial", engine, GradCase("grad", 0))) == {"dx": -2 * x - 2 * z}
    assert values(torch.answer("polynomial", engine, GradCase("grad", 2, order=2))) == {
        "dz": 6 * -1 * z
    }
    assert values(torch.answer("polynomial", engine, GradCase("grad", 2, order=3))) == {"dz": -6}


def test_beyond_the_last_dependence_a_graph_has_zeros_and_a_tape_raises(torch: Torch) -> None:
    case = GradCase("grad", 1, order=2)
    assert values(torch.answer("polynomial", "torch-graph", case)) == {"dy": 0}
    raised = torch.answer("polynomial", "torch-tape", case)
    assert raised.error
    assert "does not require grad" in raised.error.message


@pytest.mark.parametrize("api", ["grad", "value_and_grad"])
@pytest.mark.parametrize("engine", BOTH)
def test_what_no_output_depends_on_gets_zeros_and_a_note_where_they_are_made_up(
    torch: Torch, engine: str, api: Any
) -> None:
    result = torch.answer("torch_odd", engine, GradCase(api, 2, "all"))
    assert values(result)["dspare"] == [0, 0]
    assert ("spare" in result.note) == (engine == "torch-graph" or api == "value_and_grad")


@pytest.mark.parametrize("engine", BOTH)
def test_asking_for_nothing_and_for_an_integer_are_pytorch_s_own_errors(
    torch: Torch, engine: str
) -> None:
    nothing = torch.answer("dense_mse", engine, GradCase("grad")).error
    assert nothing
    assert nothing.type == "RuntimeError"
    assert "empty" in nothing.message
    integer = torch.answer("torch_odd", engine, GradCase("grad", 1)).error
    assert integer
    assert integer.message == "only Tensors of floating point dtype can require gradients"


@pytest.mark.parametrize("engine", BOTH)
def test_has_aux_on_a_net_with_one_bare_output_is_refused(torch: Torch, engine: str) -> None:
    error = torch.answer("polynomial", engine, GradCase("grad", 0, has_aux=True)).error
    assert error
    assert "should be a tuple: (output, aux) if has_aux is True" in error.message


def test_a_branch_on_a_value_is_unsupported_in_the_graph_with_the_user_s_line(torch: Torch) -> None:
    result = torch.answer("branch_on_value", "torch-graph", GradCase("grad", 0))
    assert result.outcome == "unsupported"
    assert result.error
    assert result.error.message.startswith("Data-dependent branching")
    assert re.fullmatch(r"branch_on_value\.py:\d+", result.error.source)
    assert len(result.error.message) <= 600
    assert torch.answer("branch_on_value", "torch-tape", GradCase("grad", 0)).outcome == "ok"


def test_a_forward_that_raises_is_described_with_the_user_s_line(torch: Torch) -> None:
    described = torch.describe("torch_raises")
    assert described.error
    assert described.error.source == "torch_raises.py:19"
    assert "mat1 and mat2 shapes cannot be multiplied" in described.error.message
    assert [spec.name for spec in described.parameters] == ["fc.weight", "fc.bias"]


def test_a_description_names_parameters_buffers_and_outputs(torch: Torch) -> None:
    described = torch.describe("conv_bn_relu_pool")
    trainable = {spec.name: spec.trainable for spec in described.parameters}
    assert trainable["bn.weight"]
    assert not trainable["bn.running_mean"]
    assert described.outputs[0].shape == ()
    assert not described.bare


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        ("torch-tape", GradCase("grad", 0, "all", has_aux=True)),
        ("torch-tape", GradCase("value_and_grad", (0, 1), "one")),
        ("torch-tape", GradCase("grad", 0, order=2)),
        ("torch-graph", GradCase("grad", 0, "all", has_aux=True)),
        ("torch-graph", GradCase("GradOperation", 0, sens_param=True)),
        ("torch-graph", GradCase("grad", 0, order=2)),
    ],
)
def test_the_code_beside_a_result_prints_the_same_numbers(
    torch: Torch, engine: str, case: GradCase
) -> None:
    result = torch.answer("dense_mse", engine, case)
    exact = "import torch\ntorch.set_printoptions(precision=9, sci_mode=False)\n"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", exact + result.code]
    printed = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout
    plain = re.sub(r"<\w+>|dtype=\S+", "", printed)
    wanted = [number for leaf in result.leaves for number in unpack(leaf.value).ravel().tolist()]
    found = [float(number) for number in NUMBER.findall(plain)]
    assert [number for number in wanted if not np.isclose(found, number).any()] == []


# What is captured


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("engine", BOTH)
def test_capture_changes_no_bit_and_its_record_replays_in_another_order_to_the_same(
    torch: Torch, engine: str, name: str
) -> None:
    answer = torch.answer(name, engine, whole(name))
    captured = torch.capture(name, engine, whole(name))
    assert answer.outcome == "ok"
    assert captured.result == answer
    assert torch.replay(name, engine, whole(name)).leaves == answer.leaves
    assert lint(only(captured)) == []


def test_writes_through_views_replay_in_another_order_to_the_same_bits(torch: Torch) -> None:
    answer = torch.answer("torch_in_place", "torch-tape", EVERYTHING)
    assert answer.outcome == "ok"
    assert torch.replay("torch_in_place", "torch-tape", EVERYTHING).leaves == answer.leaves


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("engine", BOTH)
def test_every_node_has_values_a_line_of_the_user_and_in_backward_a_forward_node(
    torch: Torch, engine: str, name: str
) -> None:
    graph = only(torch.capture(name, engine, whole(name)))
    assert [
        node.id for node in graph.nodes if any(output.values is None for output in node.outputs)
    ] == []
    work = [node for node in graph.nodes if node.kind in {"op", "accumulate"}]
    assert [
        node.op
        for node in work
        if node.phase == "forward" and not node.source[0].startswith(f"{name}.py:")
    ] == []
    assert [node.op for node in work if node.phase == "backward" and node.forward is None] == []
    assert [node.order for node in graph.nodes] == list(range(len(graph.nodes)))


@pytest.mark.parametrize("engine", BOTH)
def test_a_graph_names_inputs_parameters_outputs_seed_and_gradients(
    torch: Torch, engine: str
) -> None:
    graph = only(torch.capture("dense_mse", engine, EVERYTHING))
    assert set(named(graph, "input")) == {"x", "y"}
    assert set(named(graph, "parameter")) == {"fc.weight"}
    results = named(graph, "output")
    assert {name: node.phase for name, node in results.items()} == {
        "loss": "forward",
        "logits": "forward",
        "dx": "backward",
        "dfc.weight": "backward",
    }
    summary = results["dx"].outputs[0].values
    assert summary
    assert summary.whole
    assert unpack(summary.whole).tolist() == [[4, 6, 8]]
    seed = named(graph, "constant")["seed"]
    assert (seed.phase, seed.outputs[0].shape) == ("backward", ())


@pytest.mark.parametrize("engine", BOTH)
def test_a_backward_multiplication_derives_from_the_forward_one_in_its_module(
    torch: Torch, engine: str
) -> None:
    graph = only(torch.capture("dense_mse", engine, EVERYTHING))
    nodes = graph.by_id()
    products = [node for node in graph.nodes if node.op == "aten.mm.default"]
    forward = [node for node in products if node.phase == "forward"]
    assert len(forward) == 1
    assert forward[0].scope == "fc"
    linked = [
        nodes[node.forward].id for node in products if node.phase == "backward" and node.forward
    ]
    assert linked == [forward[0].id] * 2


@pytest.mark.parametrize("engine", BOTH)
def test_a_weight_used_twice_has_its_gradients_accumulated(torch: Torch, engine: str) -> None:
    graph = only(torch.capture("shared_weight", engine, GradCase("grad", None, "all")))
    sums = [node for node in graph.nodes if node.kind == "accumulate"]
    assert sums
    assert {node.phase for node in sums} == {"backward"}


@pytest.mark.parametrize("engine", BOTH)
def test_what_backward_reads_of_forward_is_saved_and_counted_once(
    torch: Torch, engine: str
) -> None:
    graph = only(torch.capture("dense_mse", engine, EVERYTHING))
    nodes = graph.by_id()
    assert any(edge.kind == "saved" for edge in graph.edges)
    assert all(
        nodes[edge.origin].phase == "forward" for edge in graph.edges if edge.kind == "saved"
    )
    assert 0 < sum(node.saved_bytes for node in graph.nodes) <= 4 * (3 + 3 + 1 + 1)


def test_a_value_is_what_it_was_before_it_was_overwritten(torch: Torch) -> None:
    graph = only(torch.capture("torch_writes_input", "torch-tape", GradCase("grad", 0)))
    before, after = (
        named(graph, "input")["b"],
        next(node for node in graph.nodes if node.op == "aten.mul_.Tensor"),
    )
    whole = [node.outputs[0].values.whole for node in (before, after) if node.outputs[0].values]
    assert [unpack(array).tolist() for array in whole if array] == [[4, 5, 6], [8, 10, 12]]


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("engine", BOTH)
def test_a_nested_gradient_is_captured_too(torch: Torch, engine: str, order: int) -> None:
    case = GradCase("grad", 0, order=order)
    graph = only(torch.capture("shared_weight", engine, case))
    assert lint(graph) == []
    assert torch.capture("shared_weight", engine, case).result == torch.answer(
        "shared_weight", engine, case
    )
    assert (
        torch.replay("shared_weight", engine, case).leaves
        == torch.answer("shared_weight", engine, case).leaves
    )


@pytest.mark.parametrize("engine", BOTH)
def test_a_second_capture_gives_the_same_record(torch: Torch, engine: str) -> None:
    assert torch.capture("conv_bn_relu_pool", engine, EVERYTHING) == torch.capture(
        "conv_bn_relu_pool", engine, EVERYTHING
    )


@pytest.mark.parametrize("engine", BOTH)
def test_without_values_the_graph_is_the_same_but_for_them(torch: Torch, engine: str) -> None:
    valued, bare = (
        only(torch.capture("dense_mse", engine, EVERYTHING, values=asked))
        for asked in (True, False)
    )
    assert bare.edges == valued.edges
    assert [output.values for node in bare.nodes for output in node.outputs] == [None] * len(
        bare.nodes
    )
    assert [node.op for node in bare.nodes] == [node.op for node in valued.nodes]


def test_a_gradient_reaches_its_leaf_without_a_copy_that_only_capture_would_cause(
    torch: Torch,
) -> None:
    graph = only(torch.capture("conv_bn_relu_pool", "torch-tape", EVERYTHING))
    assert [node.op for node in graph.nodes if node.tape == "AccumulateGrad"] == []
    named_gradients = {
        node.name for node in graph.nodes if node.kind == "output" and node.phase == "backward"
    }
    assert "dconv.weight" in named_gradients
