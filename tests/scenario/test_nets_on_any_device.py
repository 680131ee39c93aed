"""What a shipped PyTorch net makes by itself is made where its inputs are, on a GPU too."""

import runpy
from typing import Any

import numpy as np
import pytest

from explorer.scenario.find import REAL, SHIPPED, names
from tests.support.samples import some

pytestmark = pytest.mark.torch

DECIDE_BY_A_VALUE = ("branch_on_value", "while_loop")
"""Nets that read a value, which this device does not hold."""


@pytest.mark.parametrize(
    "name", some(sorted(names(SHIPPED)), *(names(SHIPPED).keys() - names((REAL,))))
)
def test_a_net_runs_where_its_inputs_are(name: str) -> None:
    """On the device of shapes without values a tensor of the CPU among the others is an error."""
    import torch

    scenario = runpy.run_path(str(names(SHIPPED)[name]))
    net = scenario["torch_net"]()
    if isinstance(net, torch.nn.Module):
        net.to("meta")
    inputs = [torch.as_tensor(value).to("meta") for value in scenario["inputs"]().values()]
    if name in DECIDE_BY_A_VALUE:
        with pytest.raises(RuntimeError, match=r"item\(\) cannot be called on meta tensors"):
            net(*inputs)
        return
    results = tensors(net(*inputs))
    assert results
    assert {result.device.type for result in results} == {"meta"}


def tensors(result: Any) -> list[Any]:
    """All tensors of a net's result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        return [tensor for part in result for tensor in tensors(part)]
    assert not isinstance(result, np.ndarray)
    return [result]
