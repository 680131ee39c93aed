"""PyTorch's results move as far as rounding takes them, and no further."""

from pathlib import Path

import numpy as np
import pytest

from explorer.compare.results import movements
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.graph import Absence
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured, Result, ResultNoise
from explorer.workers.workers import Workers
from tests.support.scenario_files import written
from tests.support.torch_requests import TORCH_ENGINES, Torch
from tests.support.worker_targets import Word

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def torch(workers: Workers) -> Torch:
    return Torch(workers)


def relative(torch: Torch, name: str, case: GradCase, engine: str) -> dict[str, float]:
    """The root mean square of each leaf's movement, as a share of that of its values."""
    result: Result = torch.answer(name, engine, case)
    moved = movements(torch.noise(name, case, engine))
    shares = {}
    for leaf in result.leaves:
        size = np.sqrt(np.mean(unpack(leaf.value).astype(np.float64) ** 2))
        shares[leaf.name] = float(np.sqrt(np.mean(moved[leaf.name] ** 2)) / size)
    return shares


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_exact_sums_of_small_integers_do_not_move(torch: Torch, engine: str) -> None:
    shares = relative(torch, "dense_mse", GradCase("value_and_grad", (0, 1), "all"), engine)
    assert set(shares.values()) == {0.0}


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_float32_moves_in_its_last_places_and_bfloat16_in_its_own(
    torch: Torch, engine: str
) -> None:
    case = GradCase("grad", 0, "all")
    single = relative(torch, "torch_attention", GradCase("value_and_grad", 0), engine)
    assert all(1e-8 < share < 1e-5 for share in single.values()), single
    half = relative(torch, "torch_half", case, engine)
    assert all(1e-4 < share < 3e-2 for share in half.values()), half


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_gradient_that_cancels_is_nothing_but_noise(torch: Torch, engine: str) -> None:
    # A bias before a batch norm in training mode has the gradient 0.
    shares = relative(torch, "conv_bn_relu_pool", GradCase("grad", 0, "all", True), engine)
    assert shares["dconv.bias"] > 0.3
    assert shares["dconv.weight"] < 1e-5


def test_a_net_that_has_no_joint_graph_has_no_noise_and_says_why(torch: Torch) -> None:
    noise = torch.noise("branch_on_value", GradCase("grad", 0), "torch-graph")
    assert noise.leaves == ()
    assert noise.error
    assert "branching" in noise.error.message


def test_what_unwritten_memory_holds_changes_no_rounding(workers: Workers) -> None:
    target = "tests.support.worker_targets:rounded_beside_memory"
    rounded = [workers.call("torch", target, Word(text), Word) for text in ("0", "0.1")]
    assert isinstance(rounded[0], Word)
    assert rounded[0] == rounded[1]


NORM = """
import numpy as np

TRAIN = True


def inputs():
    return {"x": np.array([[1, 2], [2, -1], [4, 0], [0, 1]], np.float32)}


def torch_net():
    from torch import nn

    return nn.Sequential(nn.BatchNorm1d(2, affine=False))
"""


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_what_batch_norm_rounds_moves_although_it_writes_to_its_statistics(
    workers: Workers, tmp_path: Path, engine: str
) -> None:
    net = NetRequest(scenario=str(written(tmp_path, NORM, "norm.py")), engine=engine)
    request = CaseRequest(net, GradCase("grad", 0))
    captured = workers.call("torch", "explorer.engines.torch.noise:capture", request, Captured)
    assert isinstance(captured, Captured)
    (graph,) = captured.graphs
    norm = next(node for node in graph.nodes if "batch_norm" in node.op)
    # Four small integers are read exactly, and divided by sqrt(2.1875 + 1e-5).
    assert norm.outputs[0].noise is not None
    assert 1e-8 < norm.outputs[0].noise < 1e-6


IN_PLACE = """
import numpy as np


def inputs():
    return {"x": np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.7]], np.DTYPE)}


def torch_net():
    def net(x):
        y = x * 3
        y.mul_(x).add_(1)
        y[0] = y[0] / 3
        return y.exp().sum()

    return net
"""


@pytest.mark.parametrize("engine", TORCH_ENGINES)
@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_what_is_written_in_place_is_written_once_in_any_precision(
    workers: Workers, tmp_path: Path, engine: str, dtype: str, unit: float
) -> None:
    scenario = str(written(tmp_path, IN_PLACE.replace("DTYPE", dtype), "in_place.py"))
    request = CaseRequest(NetRequest(scenario=scenario, engine=engine), GradCase("grad", 0))
    target = "explorer.engines.torch.noise:results"
    noise = workers.call("torch", target, request, ResultNoise)
    assert isinstance(noise, ResultNoise)
    (moved,) = movements(noise).values()
    # Gradients between 1 and 100, after some ten ops: a second write would move them by their size.
    assert 0 < moved.max() < 10_000 * unit


COMPLEX = """
import numpy as np


def inputs():
    return {"x": np.array([1, 2, 5], np.float32)}


def torch_net():
    import torch

    def net(x):
        spectrum = torch.fft.fft(x)
        return spectrum.abs().sum(), spectrum

    return net
"""


def test_the_parts_of_complex_numbers_move(workers: Workers, tmp_path: Path) -> None:
    scenario = str(written(tmp_path, COMPLEX, "spectrum.py"))
    net = NetRequest(scenario=scenario, engine="torch-tape")
    request = CaseRequest(net, GradCase("value_and_grad", 0))
    target = "explorer.engines.torch.noise:results"
    noise = workers.call("torch", target, request, ResultNoise)
    assert isinstance(noise, ResultNoise)
    (movement,) = [unpack(leaf.movement) for leaf in noise.leaves if leaf.movement.shape == (3, 2)]
    # The sum 8 is exact, -2.5 +- 1.5 sqrt(3)j is rounded in its imaginary part alone.
    assert movement[0].tolist() == [0, 0]
    assert (movement[1:, 0] == 0).all()
    assert (movement[1:, 1] > 0).all()
    assert (movement[1:, 1] < 1e-6).all()


CIRCULAR = """
import numpy as np


def inputs():
    return {"x": np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)}


def torch_net():
    from torch import nn
    from torch.nn import functional

    def net(x):
        return functional.pad(x * 2, (1, 1, 1, 1), mode="circular").square().sum()

    return net
"""


def test_a_view_of_memory_that_nothing_was_written_to_has_no_values(
    workers: Workers, tmp_path: Path
) -> None:
    net = NetRequest(scenario=str(written(tmp_path, CIRCULAR, "circular.py")), engine="torch-tape")
    request = CaseRequest(net, GradCase("grad", 0))
    captured = workers.call("torch", "explorer.engines.torch.tape:capture", request, Captured)
    assert isinstance(captured, Captured)
    graph = captured.graphs[-1]
    (empty,) = [node for node in graph.nodes if "empty" in node.op]
    views = {empty.id}
    for node in graph.nodes:
        read = {edge.origin for edge in graph.edges if edge.target == node.id and edge.input == 0}
        is_of_empty = not views.isdisjoint(read)
        if "slice" in node.op and is_of_empty:
            views.add(node.id)
            assert node.missing.get("values") == Absence("unwritten")
            assert node.outputs[0].values is None
    assert len(views) > 4
    assert all(node.outputs[0].values for node in graph.nodes if "copy_" in node.op)
