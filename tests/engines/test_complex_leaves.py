"""Nets that hold complex numbers: their gradients, and what central differences say of them."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import OracleResult, Result
from explorer.text.failures import message
from explorer.workers.workers import Workers
from tests.support.engine_requests import TORCH_ENGINES
from tests.support.scenario_files import written

pytestmark = pytest.mark.torch

PLAIN = """
import numpy as np


def inputs():
    return {{"x": np.array([1, 2], np.float32)}}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            numbers = torch.tensor([1 + 2j, 0.3 - 1j])
            {held}

        def forward(self, x):
            return (self.w * x).abs().pow(2).sum()

    return Net()
"""
HELD = {
    "parameter": "self.w = nn.Parameter(numbers)",
    "buffer": "self.register_buffer('w', numbers)",
}
W, X = np.array([1 + 2j, 0.3 - 1j]), np.array([1.0, 2.0])


def request(folder: Path, held: str, case: GradCase, engine: str = "torch-tape") -> CaseRequest:
    scenario = str(written(folder, PLAIN.format(held=HELD[held]), f"complex_{held}.py"))
    return CaseRequest(NetRequest(scenario=scenario, engine=engine, trainable=("w",)), case)


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_gradient_of_a_complex_parameter_has_both_parts(
    workers: Workers, tmp_path: Path, engine: str
) -> None:
    asked = request(tmp_path, "parameter", GradCase("grad", 0, "all"), engine)
    module = engine.replace("torch-", "explorer.engines.torch.")
    answer = workers.call("torch", f"{module}:answer", asked, Result)
    assert isinstance(answer, Result)
    dx, dw = (unpack(leaf.value) for leaf in answer.leaves)
    np.testing.assert_allclose(dx, 2 * X * abs(W) ** 2, rtol=1e-6)
    # That with respect to the real part, and i times that with respect to the imaginary part.
    np.testing.assert_allclose(dw, 2 * X**2 * W, rtol=1e-6)


@pytest.mark.parametrize("held", HELD)
def test_central_differences_vary_real_leaves_beside_complex_ones(
    workers: Workers, tmp_path: Path, held: str
) -> None:
    asked = request(tmp_path, held, GradCase("grad", 0))
    oracle = workers.call("torch", "explorer.engines.oracle:estimate", asked, OracleResult)
    assert isinstance(oracle, OracleResult)
    (estimate,) = oracle.estimates
    np.testing.assert_allclose(unpack(estimate.value), 2 * X * abs(W) ** 2, rtol=1e-6)


def test_central_differences_say_that_they_vary_no_complex_leaf(
    workers: Workers, tmp_path: Path
) -> None:
    asked = request(tmp_path, "parameter", GradCase("grad", 0, "all"))
    oracle = workers.call("torch", "explorer.engines.oracle:estimate", asked, OracleResult)
    assert isinstance(oracle, OracleResult)
    assert oracle.error
    assert message(oracle.error) == (
        "w has dtype complex128; only real floating-point numbers can be varied by a small step"
    )
