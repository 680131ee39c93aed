"""MindSpore's results move as far as rounding takes them, and by what its kernels approximate."""

from math import prod, sqrt

import msgspec
import numpy as np
import pytest

from explorer.compare.results import compare, movements
from explorer.exploration.jobs import measuring_case, question
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from explorer.model.results import Leaf, Result
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests

pytestmark = pytest.mark.mindspore

TAPE = "mindspore-tape"
EVERYTHING = GradCase("grad", 0, "all")
SENSITIVE = GradCase("GradOperation", get_by_list=True, sens_param=True)


@pytest.fixture(scope="module")
def mindspore(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "mindspore")


def relative(mindspore: EngineRequests, name: str, case: GradCase) -> dict[str, float]:
    """The root mean square of each leaf's movement, as a share of that of its values."""
    moved = movements(mindspore.noise(name, case))
    shares = {}
    for leaf in mindspore.answer(name, TAPE, case).leaves:
        size = np.sqrt(np.mean(unpack(leaf.value).astype(np.float64) ** 2))
        shares[leaf.name] = float(np.sqrt(np.mean(moved[leaf.name] ** 2)) / size)
    return shares


def test_exact_sums_of_small_integers_do_not_move(mindspore: EngineRequests) -> None:
    shares = relative(mindspore, "dense_mse", GradCase("value_and_grad", (0, 1), "all"))
    assert set(shares.values()) == {0.0}


def test_a_gradient_that_cancels_is_nothing_but_noise(mindspore: EngineRequests) -> None:
    # A bias before a batch norm in training mode has the gradient 0.
    shares = relative(mindspore, "conv_bn_relu_pool", GradCase("grad", 0, "all", True))
    assert shares["dconv.bias"] > 0.3
    assert shares["dconv.weight"] < 1e-5


def test_float16_inside_moves_in_its_own_last_places_and_a_mistake_stands_clear(
    mindspore: EngineRequests,
) -> None:
    shares = relative(mindspore, "half_inside", EVERYTHING)
    assert all(1e-4 < share < 5e-3 for share in shares.values()), shares

    answer = mindspore.answer("half_inside", TAPE, EVERYTHING)
    moved = movements(mindspore.noise("half_inside", EVERYTHING))
    verdicts = [
        compare(answer, times(answer, factor), noise=(moved, moved)).verdict
        for factor in (1.0005, 1.1)
    ]
    assert verdicts == ["match", "differs"]


@pytest.mark.parametrize("name", ["real/graph_convolution", "real/lstm_tagger"])
def test_cotangents_beside_inputs_of_integers_have_the_noise_of_their_own_leaves(
    mindspore: EngineRequests, name: str
) -> None:
    # GradOperation(get_all=True) yields gradients of integers too, in front of the weights (2.10.0).
    widest = mindspore.widest(name)
    case = measuring_case(question(msgspec.structs.replace(SENSITIVE, weights="all")), widest)
    moved = movements(mindspore.noise(name, case))
    plain = mindspore.answer(name, TAPE, widest)
    gradients = {leaf.name: leaf.value.shape for leaf in plain.leaves if leaf.name[0] == "d"}
    assert gradients == {leaf: moved[leaf].shape for leaf in gradients}


def times(answer: Result, factor: float) -> Result:
    """An answer with every leaf multiplied."""
    leaves = []
    for leaf in answer.leaves:
        values = unpack(leaf.value)
        leaves.append(Leaf(leaf.name, pack(values * np.asarray(factor, values.dtype))))
    return Result(outcome="ok", structure=answer.structure, leaves=tuple(leaves))


def test_what_a_kernel_approximates_counts_as_noise_of_its_node(mindspore: EngineRequests) -> None:
    # That of softmax is off by more than a rounding, alike at every run (2.10.0).
    graph = mindspore.measured_graph("off_by_little", EVERYTHING)
    assert level(graph, "Softmax") > 2 * level(graph, "Muls")


def level(graph: GradGraph, op: str) -> float:
    """The noise of the first node of an op, relative to its values."""
    node = next(node for node in graph.nodes if node.op == op)
    output = node.outputs[0]
    assert output.values is not None
    assert output.noise is not None
    return output.noise / (output.values.norm / sqrt(prod(output.shape)))
