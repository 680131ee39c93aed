"""The oracle takes for constants what a net cuts off from the tape."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import OracleResult
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.scenario_files import written

pytestmark = pytest.mark.torch

X = np.array([1.0, -2.0, 0.5])

TEXT = """
import numpy as np


def inputs():
    return {{"x": np.array([1.0, -2.0, 0.5])}}


def torch_net():
    import torch

    def net(x):
{body}

    return net
"""


@pytest.mark.parametrize(
    ("body", "derivative"),
    [
        (["h = x * x", "return (h * h).sum()"], 4 * X**3),
        (["h = x * x", "return (h * h.detach()).sum()"], 2 * X**3),
        (["h = x * x", "return (h * torch.detach(h)).sum()"], 2 * X**3),
        (["h = x * x", "return (h * h.data).sum()"], 2 * X**3),
        (["with torch.no_grad():", "    h = x * x", "return (h * x).sum()"], X**2),
        (["return (x * x.sum().item()).sum()"], np.full(3, X.sum())),
        (["return (x * float(x.sum())).sum()"], np.full(3, X.sum())),
        (["return (x * torch.tensor(x.tolist()) * x.detach()).sum()"], X**2),
        # In place, after it was stopped: the copy is another tensor.
        (["h = x * x", "held = h.detach()", "h = h + 1", "return (h * held).sum()"], 2 * X**3),
    ],
)
def test_what_is_stopped_is_a_constant_to_central_differences(
    body: list[str], derivative: AnyArray, tmp_path: Path, workers: Workers
) -> None:
    lines = "\n".join(f"        {line}" for line in body)
    path = written(tmp_path, TEXT.format(body=lines))
    request = CaseRequest(NetRequest(scenario=str(path), engine="torch-tape"), GradCase("grad", 0))
    target = "explorer.engines.oracle:estimate"
    reply = workers.call("torch", target, request, OracleResult)
    assert not isinstance(reply, Lost)
    assert reply.error is None
    (estimate,) = reply.estimates
    np.testing.assert_allclose(unpack(estimate.value), derivative, 1e-6)
