"""Nets that hold complex numbers: their gradients, and what central differences say of them."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase, Weights
from explorer.model.requests import CaseRequest, NetRequest
from explorer.text.failures import message
from explorer.workers.workers import Workers
from tests.support.engine_requests import TORCH_ENGINES, answer, estimate
from tests.support.scenario_files import module_net

pytestmark = pytest.mark.torch

NUMBERS = "numbers = torch.tensor([1 + 2j, 0.3 - 1j])"
HELD = {
    "parameter": "self.w = nn.Parameter(numbers)",
    "buffer": "self.register_buffer('w', numbers)",
}
W, X = np.array([1 + 2j, 0.3 - 1j]), np.array([1.0, 2.0])


def request(
    folder: Path, held: str, weights: Weights | None, engine: str = "torch-tape"
) -> CaseRequest:
    layers, body = f"{NUMBERS}\n{HELD[held]}", "return (self.w * x).abs().pow(2).sum()"
    x = "np.array([1, 2], np.float32)"
    net = module_net(folder, layers, body, file=f"complex_{held}.py", x=x)
    case = GradCase("grad", 0, weights)
    return CaseRequest(NetRequest(scenario=str(net), engine=engine, trainable=("w",)), case)


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_gradient_of_a_complex_parameter_has_both_parts(
    workers: Workers, tmp_path: Path, engine: str
) -> None:
    leaves = answer(workers, request(tmp_path, "parameter", "all", engine)).leaves
    dx, dw = (unpack(leaf.value) for leaf in leaves)
    np.testing.assert_allclose(dx, 2 * X * abs(W) ** 2, rtol=1e-6)
    # That with respect to the real part, and i times that with respect to the imaginary part.
    np.testing.assert_allclose(dw, 2 * X**2 * W, rtol=1e-6)


@pytest.mark.parametrize("held", HELD)
def test_central_differences_vary_real_leaves_beside_complex_ones(
    workers: Workers, tmp_path: Path, held: str
) -> None:
    (found,) = estimate(workers, request(tmp_path, held, None)).estimates
    np.testing.assert_allclose(unpack(found.value), 2 * X * abs(W) ** 2, rtol=1e-6)


def test_central_differences_say_that_they_vary_no_complex_leaf(
    workers: Workers, tmp_path: Path
) -> None:
    oracle = estimate(workers, request(tmp_path, "parameter", "all"))
    assert oracle.error
    assert message(oracle.error) == (
        "w has dtype complex128; only real floating-point numbers can be varied by a small step"
    )
