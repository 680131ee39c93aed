"""Results move as far as rounding takes them, and by what kernels approximate, in every framework."""

from collections import Counter
from math import prod, sqrt
from pathlib import Path

import msgspec
import numpy as np
import pytest

from explorer.compare.results.comparison import compare, movements
from explorer.exploration.jobs import measuring_case
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.graph import Absence, GradGraph
from explorer.model.results import Captured, Leaf, Result, ResultNoise
from explorer.workers.workers import Workers
from tests.support.engine_requests import (
    JAX_ENGINES,
    TORCH_ENGINES,
    EngineRequests,
    answer,
    capture,
    compared,
    each,
    of_file,
    requests_of,
)
from tests.support.scenario_files import function_net, module_net, written
from tests.support.worker_targets import Word

BY_ALL = GradCase("grad", 0, "all")
SENSITIVE = GradCase("GradOperation", get_by_list=True, sens_param=True)

MEASURED = (*TORCH_ENGINES, "mindspore-tape", *JAX_ENGINES)
"""The engines whose noise is measured; of MindSpore the tape's stands for both."""


def relative(workers: Workers, name: str, case: GradCase, engine: str) -> dict[str, float]:
    """The root mean square of each leaf's movement, as a share of that of its values."""
    requests = requests_of(workers, engine)
    moved = movements(requests.noise(name, case, engine))
    shares = {}
    for leaf in requests.answer(name, engine, case).leaves:
        size = np.sqrt(np.mean(unpack(leaf.value).astype(np.float64) ** 2))
        shares[leaf.name] = float(np.sqrt(np.mean(moved[leaf.name] ** 2)) / size)
    return shares


# In every framework


@pytest.mark.parametrize("engine", each(MEASURED))
def test_exact_sums_of_small_integers_do_not_move(workers: Workers, engine: str) -> None:
    case = GradCase("value_and_grad", (0, 1), "all")
    assert requests_of(workers, engine).noise("dense_mse", case, engine).runs
    assert set(relative(workers, "dense_mse", case, engine).values()) == {0.0}


@pytest.mark.parametrize("engine", each((*TORCH_ENGINES, "mindspore-tape")))
def test_a_gradient_that_cancels_is_nothing_but_noise(workers: Workers, engine: str) -> None:
    # A bias before a batch norm in training mode has the gradient 0.
    shares = relative(workers, "conv_bn_relu_pool", GradCase("grad", 0, "all", True), engine)
    assert shares["dconv.bias"] > 0.3
    assert shares["dconv.weight"] < 1e-5


@pytest.mark.parametrize(
    ("engine", "name", "case", "least", "most"),
    [
        *each(TORCH_ENGINES, "torch_attention", GradCase("value_and_grad", 0), 1e-8, 1e-5),
        *each(TORCH_ENGINES, "torch_half", BY_ALL, 1e-4, 3e-2),  # bfloat16
        *each(["mindspore-tape"], "half_inside", BY_ALL, 1e-4, 5e-3),  # float16
    ],
)
def test_what_rounds_moves_in_the_last_places_of_its_own_precision(
    workers: Workers, engine: str, name: str, case: GradCase, least: float, most: float
) -> None:
    shares = relative(workers, name, case, engine)
    assert all(least < share < most for share in shares.values()), shares


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_nodes_that_round_have_noise(workers: Workers, engine: str) -> None:
    assert any(relative(workers, "linear_bce", BY_ALL, engine).values())
    nodes = requests_of(workers, engine).measured_graph("linear_bce", BY_ALL, engine).nodes
    assert any(output.noise for node in nodes for output in node.outputs)


# MindSpore alone


STEPS = """
import numpy as np


def inputs():
    return {"x": np.linspace(0.5, 1.5, 12, dtype=np.float32)}


def torch_net():
    import torch

    def net(x):
        power = torch.log(torch.arange(1, 13).float()) / np.float32(np.log(2))
        return (x * torch.floor(power) * (power * 3).int() * torch.ceil(power) / 99).exp().sum()

    return net


def mindspore_net():
    import mindspore as ms
    from mindspore import ops

    def net(x):
        power = ops.log(ops.arange(1, 13).astype(ms.float32)) / float(np.log(2))
        return ops.exp(x * ops.floor(power) * (power * 3).astype(ms.int32) * ops.ceil(power) / 99).sum()

    return net


def jax_net():
    import jax.numpy as jnp

    def net(parameters, x):
        power = jnp.log(x * 0 + np.arange(1, 13, dtype=np.float32)) / np.float32(np.log(2))
        return jnp.exp(x * jnp.floor(power) * (power * 3).astype(int) * jnp.ceil(power) / 99).sum()

    return net
"""
"""Nets in which logarithms of powers of 2 are cut to integers."""


@pytest.mark.parametrize("engine", each(MEASURED))
def test_at_a_step_noise_keeps_to_one_side(workers: Workers, tmp_path: Path, engine: str) -> None:
    requests = requests_of(workers, engine)
    asked = of_file(written(tmp_path, STEPS), engine, GradCase("grad", 0))
    target = f"explorer.engines.{requests.framework}.noise:results"
    (moved,) = movements(requests.call(target, asked, ResultNoise)).values()
    (leaf,) = answer(workers, asked).leaves
    assert 0 < np.abs(moved).max() < 1e-5 * np.abs(unpack(leaf.value)).max()


@pytest.mark.mindspore
def test_beside_the_noise_of_float16_a_mistake_stands_clear(mindspore: EngineRequests) -> None:
    answer = mindspore.answer("half_inside", "mindspore-tape", BY_ALL)
    moved = movements(mindspore.noise("half_inside", BY_ALL))
    verdicts = []
    for factor in (1.0005, 1.1):
        leaves = []
        for leaf in answer.leaves:
            values = unpack(leaf.value)
            leaves.append(Leaf(leaf.name, pack(values * np.asarray(factor, values.dtype))))
        off = Result(outcome="ok", structure=answer.structure, leaves=tuple(leaves))
        verdicts.append(compare(answer, off, noise=(moved, moved)).verdict)
    assert verdicts == ["match", "differs"]


@pytest.mark.mindspore
@pytest.mark.parametrize(
    "name", ["real/graph_convolution", pytest.param("real/lstm_tagger", marks=pytest.mark.whole)]
)
def test_cotangents_beside_inputs_of_integers_have_the_noise_of_their_own_leaves(
    mindspore: EngineRequests, name: str
) -> None:
    # GradOperation(get_all=True) yields gradients of integers too, in front of the weights (2.10.0).
    widest = mindspore.widest(name)
    case = measuring_case(msgspec.structs.replace(SENSITIVE, weights="all"), widest)
    moved = movements(mindspore.noise(name, case))
    plain = mindspore.answer(name, "mindspore-tape", widest)
    gradients = {leaf.name: leaf.value.shape for leaf in plain.leaves if leaf.name[0] == "d"}
    assert gradients == {leaf: moved[leaf].shape for leaf in gradients}


@pytest.mark.mindspore
def test_what_a_kernel_approximates_counts_as_noise_of_its_node(mindspore: EngineRequests) -> None:
    # That of softmax is off by more than a rounding, alike at every run (2.10.0).
    graph = mindspore.measured_graph("off_by_little", BY_ALL)
    assert level(graph, "Softmax") > 2 * level(graph, "Muls")


def level(graph: GradGraph, op: str) -> float:
    """The noise of the first node of an op, relative to its values."""
    node = next(node for node in graph.nodes if node.op == op)
    output = node.outputs[0]
    assert output.values is not None
    assert output.noise is not None
    return output.noise / (output.values.norm / sqrt(prod(output.shape)))


# PyTorch alone


def measured(workers: Workers, scenario: Path, engine: str, case: GradCase) -> ResultNoise:
    target = "explorer.engines.torch.noise:results"
    return requests_of(workers, engine).call(target, of_file(scenario, engine, case), ResultNoise)


@pytest.mark.torch
def test_a_net_that_has_no_joint_graph_has_no_noise_and_says_why(torch: EngineRequests) -> None:
    noise = torch.noise("branch_on_value", GradCase("grad", 0), "torch-graph")
    assert noise.leaves == ()
    assert noise.error
    assert "branching" in noise.error.message


@pytest.mark.torch
def test_what_unwritten_memory_holds_changes_no_rounding(torch: EngineRequests) -> None:
    target = "tests.support.worker_targets:rounded_beside_memory"
    rounded = [torch.call(target, Word(text), Word) for text in ("0", "0.1")]
    assert rounded[0] == rounded[1]


@pytest.mark.parametrize("engine", each(TORCH_ENGINES))
def test_what_batch_norm_rounds_moves_although_it_writes_to_its_statistics(
    workers: Workers, tmp_path: Path, engine: str
) -> None:
    net = module_net(
        tmp_path,
        "self.norm = nn.BatchNorm1d(2, affine=False)",
        "return self.norm(x)",
        declared="TRAIN = True",
        x="np.array([[1, 2], [2, -1], [4, 0], [0, 1]], np.float32)",
    )
    target = "explorer.engines.torch.noise:capture"
    graph = compared(requests_of(workers, engine).call(target, of_file(net, engine), Captured))
    norm = next(node for node in graph.nodes if "batch_norm" in node.op)
    # Four small integers are read exactly, and divided by sqrt(2.1875 + 1e-5).
    assert norm.outputs[0].noise is not None
    assert 1e-8 < norm.outputs[0].noise < 1e-6


IN_PLACE = """
y = x * 3
y.mul_(x).add_(1)
y[0] = y[0] / 3
return y.exp().sum()
"""


@pytest.mark.parametrize("engine", each(TORCH_ENGINES))
@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_what_is_written_in_place_is_written_once_in_any_precision(
    workers: Workers, tmp_path: Path, engine: str, dtype: str, unit: float
) -> None:
    x = f"np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.7]], np.{dtype})"
    noise = measured(workers, function_net(tmp_path, IN_PLACE, x=x), engine, GradCase("grad", 0))
    (moved,) = movements(noise).values()
    # Gradients between 1 and 100, after some ten ops: a second write would move them by their size.
    assert 0 < moved.max() < 10_000 * unit


@pytest.mark.torch
def test_the_parts_of_complex_numbers_move(workers: Workers, tmp_path: Path) -> None:
    body = "spectrum = torch.fft.fft(x)\nreturn spectrum.abs().sum(), spectrum"
    scenario = function_net(tmp_path, body, x="np.array([1, 2, 5], np.float32)")
    noise = measured(workers, scenario, "torch-tape", GradCase("value_and_grad", 0))
    moved = [unpack(leaf.movement) for leaf in noise.leaves]
    (movement,) = [parts for parts in moved if parts.shape == (3, 2)]
    # The sum 8 is exact, -2.5 +- 1.5 sqrt(3)j is rounded in its imaginary part alone.
    assert movement[0].tolist() == [0, 0]
    assert (movement[1:, 0] == 0).all()
    assert (movement[1:, 1] > 0).all()
    assert (movement[1:, 1] < 1e-6).all()


CIRCULAR = """
padded = torch.nn.functional.pad(x * 2, (1, 1, 1, 1), mode="circular")
return padded.square().sum()
"""


@pytest.mark.torch
def test_memory_has_values_once_all_of_it_was_written_to(workers: Workers, tmp_path: Path) -> None:
    x = "np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)"
    graph = compared(capture(workers, of_file(function_net(tmp_path, CIRCULAR, x=x))))
    without = [node for node in graph.nodes if node.kind == "op" and not node.outputs[0].values]
    assert all(node.missing.get("values") == Absence("unwritten") for node in without)
    # The middle and two of its four sides are written first, and the middle rows of these read.
    names = [node.op.removeprefix("aten.").partition(".")[0] for node in without]
    assert Counter(names) == {"new_empty": 1, "slice": 8, "CopySlices": 4}
    bases = [node for node in graph.nodes if node.op == "CopySlices" and node.phase == "forward"]
    assert [node.outputs[0].values is None for node in bases] == [True] * 4 + [False]
    written = [node for node in graph.nodes if "copy_" in node.op]
    assert all(node.outputs[0].values for node in written)
