"""What the two PyTorch engines capture, asked of them through their worker."""

import pytest

from explorer.engines.capture.lint import lint
from explorer.model.cases import GradCase
from explorer.model.graph import Absence, GradGraph, Node
from explorer.workers.workers import Workers
from tests.support.scenario_reports import value
from tests.support.torch_requests import BARE, EVERYTHING, TORCH_ENGINES, Torch, only_graph
from tests.support.worker_targets import Word

pytestmark = pytest.mark.torch

NETS = (
    "dense_mse",
    "shared_weight",
    "conv_bn_relu_pool",
    "mlp_cross_entropy",
    "torch_attention",
    "torch_lstm",
)


@pytest.fixture(scope="module")
def torch(workers: Workers) -> Torch:
    return Torch(workers)


def widest(name: str) -> GradCase:
    """The case that asks most of a net."""
    return BARE if name == "shared_weight" else EVERYTHING


def named(graph: GradGraph, kind: str) -> dict[str, Node]:
    return {node.name: node for node in graph.nodes if node.kind == kind}


# Capture changes nothing, and says enough to compute the same once more


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_capture_changes_no_bit_and_its_record_replays_in_another_order_to_the_same(
    torch: Torch, engine: str, name: str
) -> None:
    answer = torch.answer(name, engine, widest(name))
    captured = torch.capture(name, engine, widest(name))
    assert answer.outcome == "ok"
    assert captured.result == answer
    assert torch.replay(name, engine, widest(name)).leaves == answer.leaves
    assert lint(only_graph(captured)) == []


def test_writes_through_views_replay_in_another_order_to_the_same_bits(torch: Torch) -> None:
    answer = torch.answer("torch_in_place", "torch-tape", EVERYTHING)
    assert answer.outcome == "ok"
    assert torch.replay("torch_in_place", "torch-tape", EVERYTHING).leaves == answer.leaves


def test_an_input_called_seed_is_not_taken_for_the_cotangent(torch: Torch) -> None:
    # With a cotangent of two numbers, which are not those of the input.
    case = GradCase("GradOperation", 0, sens_param=True)
    answer = torch.answer("torch_seed_input", "torch-tape", case)
    assert torch.replay("torch_seed_input", "torch-tape", case).leaves == answer.leaves


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_nested_gradient_is_captured_too(torch: Torch, engine: str, order: int) -> None:
    case = GradCase("grad", 0, order=order)
    answer = torch.answer("shared_weight", engine, case)
    captured = torch.capture("shared_weight", engine, case)
    assert lint(only_graph(captured)) == []
    assert captured.result == answer
    assert torch.replay("shared_weight", engine, case).leaves == answer.leaves


def test_a_shape_that_autograd_works_out_without_numbers_is_no_node(torch: Torch) -> None:
    # The gradient of sgn is known to be zero: the shape of a sum with it needs no numbers.
    case = GradCase("grad", 0, order=2)
    graph = only_graph(torch.capture("kinks", "torch-tape", case))
    assert lint(graph) == []
    assert "aten.sgn.default" in [node.op for node in graph.nodes]
    assert not [node.op for node in graph.nodes if node.op.startswith("prims.")]
    answer = torch.answer("kinks", "torch-tape", case)
    assert torch.replay("kinks", "torch-tape", case).leaves == answer.leaves


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_second_capture_gives_the_same_record(torch: Torch, engine: str) -> None:
    first = torch.capture("conv_bn_relu_pool", engine, EVERYTHING)
    assert torch.capture("conv_bn_relu_pool", engine, EVERYTHING) == first


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_nothing_that_was_captured_waits_for_a_search_for_garbage(
    torch: Torch, engine: str
) -> None:
    assert torch.tensors_left("conv_bn_relu_pool", engine, EVERYTHING) == 0


def test_a_tensor_that_may_not_be_held_is_forgotten_when_it_goes(workers: Workers) -> None:
    # Python gives its id to another one.
    target = "tests.support.worker_targets:known_when_gone"
    assert workers.call("torch", target, Word("aten.mul.Tensor"), Word) == Word("True False")


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_without_values_the_graph_is_the_same_but_for_them(torch: Torch, engine: str) -> None:
    valued = only_graph(torch.capture("dense_mse", engine, EVERYTHING, values=True))
    plain = only_graph(torch.capture("dense_mse", engine, EVERYTHING, values=False))
    assert plain.edges == valued.edges
    assert [node.op for node in plain.nodes] == [node.op for node in valued.nodes]
    outputs = [output for node in plain.nodes for output in node.outputs]
    assert [output.values for output in outputs] == [None] * len(outputs)


# What nodes say


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_every_node_has_values_a_line_of_the_user_and_in_backward_a_forward_node(
    torch: Torch, engine: str, name: str
) -> None:
    graph = only_graph(torch.capture(name, engine, widest(name)))
    for order, node in enumerate(graph.nodes):
        assert node.order == order
        # An LSTM's operator has a workspace, and its backward allocates memory for gradients.
        is_unwritten = node.missing.get("values") == Absence("unwritten")
        assert is_unwritten or all(output.values for output in node.outputs), node.op
        if node.kind not in ("op", "accumulate"):
            continue
        if node.phase == "forward":
            assert node.source[0].startswith(f"{name}.py:"), node.op
        else:
            assert node.forward is not None, node.op


@pytest.mark.parametrize("name", NETS)
def test_no_node_is_on_a_line_of_the_program_that_asks_for_the_gradient(
    torch: Torch, name: str
) -> None:
    graph = only_graph(torch.capture(name, "torch-tape", widest(name)))
    files = {line.rpartition(":")[0] for node in graph.nodes for line in node.source}
    own = {file for file in files if not file.startswith("torch/")}
    assert own == {f"{name}.py"}


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_graph_names_inputs_parameters_outputs_seed_and_gradients(
    torch: Torch, engine: str
) -> None:
    graph = only_graph(torch.capture("dense_mse", engine, EVERYTHING))
    assert set(named(graph, "input")) == {"x", "y"}
    assert set(named(graph, "parameter")) == {"fc.weight"}
    results = named(graph, "output")
    assert {name: node.phase for name, node in results.items()} == {
        "loss": "forward",
        "logits": "forward",
        "dx": "backward",
        "dfc.weight": "backward",
    }
    assert value(results["dx"]).tolist() == [[4, 6, 8]]
    seed = named(graph, "constant")["seed"]
    assert (seed.phase, seed.outputs[0].shape) == ("backward", ())


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_backward_multiplication_derives_from_the_forward_one_in_its_module(
    torch: Torch, engine: str
) -> None:
    graph = only_graph(torch.capture("dense_mse", engine, EVERYTHING))
    products = [node for node in graph.nodes if node.op == "aten.mm.default"]
    (forward,) = (node for node in products if node.phase == "forward")
    assert forward.scope == "fc"
    links = [node.forward for node in products if node.phase == "backward"]
    assert links == [forward.id] * 2


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_the_net_itself_is_not_one_of_its_modules(torch: Torch, engine: str) -> None:
    graph = only_graph(torch.capture("dense_mse", engine, EVERYTHING))
    assert {node.scope for node in graph.nodes} == {"", "fc", "loss"}


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_weight_used_twice_has_its_gradients_accumulated(torch: Torch, engine: str) -> None:
    graph = only_graph(torch.capture("shared_weight", engine, GradCase("grad", None, "all")))
    sums = [node for node in graph.nodes if node.kind == "accumulate"]
    assert sums
    assert {node.phase for node in sums} == {"backward"}
    # The gradients that are added come from two lines of the net.
    assert any(len(node.source) == 2 for node in sums)


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_what_backward_reads_of_forward_is_saved_and_counted_once(
    torch: Torch, engine: str
) -> None:
    graph = only_graph(torch.capture("dense_mse", engine, EVERYTHING))
    nodes = graph.by_id()
    saved = [edge for edge in graph.edges if edge.kind == "saved"]
    assert saved
    assert {nodes[edge.origin].phase for edge in saved} == {"forward"}
    # x and the weight have three float32 elements each, the error and the target one.
    assert 0 < sum(node.saved_bytes for node in graph.nodes) <= 4 * (3 + 3 + 1 + 1)


def test_a_view_that_is_saved_keeps_the_whole_of_its_storage(torch: Torch) -> None:
    graph = only_graph(torch.capture("torch_column", "torch-tape", GradCase("grad", 1)))
    saved = {node.op: node.saved_bytes for node in graph.nodes if node.saved_bytes}
    assert saved == {"aten.mul.Tensor": 4 * 64 * 4}


def test_a_value_is_what_it_was_before_it_was_overwritten(torch: Torch) -> None:
    captured = torch.capture("torch_writes_input", "torch-tape", GradCase("grad", 0))
    graph = only_graph(captured)
    (product,) = (node for node in graph.nodes if node.op == "aten.mul_.Tensor")
    assert value(named(graph, "input")["b"]).tolist() == [4, 5, 6]
    assert value(product).tolist() == [8, 10, 12]


def test_a_gradient_reaches_its_leaf_without_a_copy_that_only_capture_would_cause(
    torch: Torch,
) -> None:
    graph = only_graph(torch.capture("conv_bn_relu_pool", "torch-tape", EVERYTHING))
    assert [node.op for node in graph.nodes if node.tape == "AccumulateGrad"] == []
    assert "dconv.weight" in named(graph, "output")


def test_a_tensor_under_two_names_goes_by_the_first(torch: Torch) -> None:
    graph = only_graph(torch.capture("aliased_input", "torch-tape", GradCase("grad", 0)))
    (added,) = (node for node in graph.nodes if node.kind == "accumulate")
    assert added.forward == named(graph, "input")["a"].id
