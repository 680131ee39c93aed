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
        (["h = x * x", "h.detach_()", "return (h * x).sum()"], X**2),
        (["with torch.no_grad():", "    h = (x * x).max(0)", "return (h.values * x).sum()"], 4),
        # In place, after it was stopped: the copy is another tensor.
        (["h = x * x", "held = h.detach()", "h = h + 1", "return (h * held).sum()"], 2 * X**3),
    ],
)
def test_what_is_stopped_is_a_constant_to_central_differences(
    body: list[str], derivative: AnyArray | float, tmp_path: Path, workers: Workers
) -> None:
    reply = estimated(body, tmp_path, workers)
    assert reply.stops == (body[-1] != "return (h * h).sum()")
    (estimate,) = reply.estimates
    np.testing.assert_allclose(unpack(estimate.value), np.broadcast_to(derivative, 3), 1e-6)


CUBE = [
    "class Cube(torch.autograd.Function):",
    "    @staticmethod",
    "    def forward(ctx, x):",
    "        return x**3",
    "    @staticmethod",
    "    def backward(ctx, gradient):",
    "        return gradient",
]
"""A function whose backward is wrong."""


@pytest.mark.parametrize(
    ("body", "derivative", "stops"),
    [
        (["return Cube.apply(x).sum()"], 3 * X**2, False),
        (["with torch.no_grad():", "    h = Cube.apply(x)", "return (h * x).sum()"], X**3, True),
        (["return (Cube.apply(x) * x.detach()).sum()"], 3 * X**3, True),
    ],
)
def test_the_forward_of_a_function_with_its_own_backward_is_varied(
    body: list[str], derivative: AnyArray, stops: bool, tmp_path: Path, workers: Workers
) -> None:
    reply = estimated([*CUBE, *body], tmp_path, workers)
    assert reply.stops == stops
    (estimate,) = reply.estimates
    np.testing.assert_allclose(unpack(estimate.value), derivative, 1e-6)


BOUND = """
import numpy as np


def inputs():
    return {{"x": np.array([1.0, -2.0, 0.5])}}


def torch_net():
    import torch

{function}
    cube = Cube.apply

    def net(x):
        return {result}

    return net
"""


@pytest.mark.parametrize(
    ("result", "derivative", "stops"),
    [("cube(x).sum()", 3 * X**2, False), ("(cube(x) * x.detach()).sum()", 3 * X**3, True)],
)
def test_a_function_that_was_bound_before_the_net_is_varied_too(
    result: str, derivative: AnyArray, stops: bool, tmp_path: Path, workers: Workers
) -> None:
    function = "\n".join(f"    {line}" for line in CUBE)
    path = written(tmp_path, BOUND.format(function=function, result=result))
    reply = oracle_result(path, workers)
    assert reply.stops == stops
    (estimate,) = reply.estimates
    np.testing.assert_allclose(unpack(estimate.value), derivative, 1e-6)


def test_a_checkpoint_of_the_older_kind_stops_nothing(tmp_path: Path, workers: Workers) -> None:
    call = "checkpoint(lambda t: t**3, x, use_reentrant=True)"
    body = ["from torch.utils.checkpoint import checkpoint", f"return {call}.sum()"]
    (estimate,) = estimated(body, tmp_path, workers).estimates
    np.testing.assert_allclose(unpack(estimate.value), 3 * X**2, 1e-6)


def estimated(body: list[str], folder: Path, workers: Workers) -> OracleResult:
    """What the oracle says of a net with these lines, which it has not seen before."""
    lines = "\n".join(f"        {line}" for line in body)
    return oracle_result(written(folder, TEXT.format(body=lines)), workers)


def oracle_result(path: Path, workers: Workers) -> OracleResult:
    """What the oracle says of the net in a scenario file."""
    request = CaseRequest(NetRequest(scenario=str(path), engine="torch-tape"), GradCase("grad", 0))
    reply = workers.call("torch", "explorer.engines.oracle:estimate", request, OracleResult)
    assert not isinstance(reply, Lost)
    assert reply.error is None
    return reply
