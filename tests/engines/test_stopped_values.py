"""The oracle takes for constants what a net cuts off from the tape."""

from pathlib import Path

import numpy as np
import pytest

from explorer.model.arrays import AnyArray, unpack
from explorer.workers.workers import Workers
from tests.support.engine_requests import estimate, of_file
from tests.support.scenario_files import function_net

pytestmark = pytest.mark.torch

X = np.array([1.0, -2.0, 0.5])
START = "np.array([1.0, -2.0, 0.5])"


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
    net = function_net(tmp_path, "\n".join(body), x=START)
    judged = estimate(workers, of_file(net))
    assert judged.stops == (body[-1] != "return (h * h).sum()")
    (found,) = judged.estimates
    np.testing.assert_allclose(unpack(found.value), np.broadcast_to(derivative, 3), 1e-6)


CUBE = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        return gradient


cube = Cube.apply
"""
"""A function whose backward is wrong."""

WHOLE, BESIDE = "return cube(x).sum()", "return (cube(x) * x.detach()).sum()"


@pytest.mark.parametrize(
    ("body", "derivative", "stops", "is_bound_before"),
    [
        (WHOLE, 3 * X**2, False, False),
        (WHOLE, 3 * X**2, False, True),
        (BESIDE, 3 * X**3, True, False),
        (BESIDE, 3 * X**3, True, True),
        ("with torch.no_grad():\n    h = cube(x)\nreturn (h * x).sum()", X**3, True, False),
    ],
)
def test_the_forward_of_a_function_with_its_own_backward_is_varied(
    body: str,
    derivative: AnyArray,
    stops: bool,
    is_bound_before: bool,
    tmp_path: Path,
    workers: Workers,
) -> None:
    if is_bound_before:
        net = function_net(tmp_path, body, before=CUBE, x=START)
    else:
        net = function_net(tmp_path, f"{CUBE}\n{body}", x=START)
    judged = estimate(workers, of_file(net))
    assert judged.stops == stops
    (found,) = judged.estimates
    np.testing.assert_allclose(unpack(found.value), derivative, 1e-6)


def test_a_checkpoint_of_the_older_kind_stops_nothing(tmp_path: Path, workers: Workers) -> None:
    call = "checkpoint(lambda t: t**3, x, use_reentrant=True)"
    body = f"from torch.utils.checkpoint import checkpoint\nreturn {call}.sum()"
    (found,) = estimate(workers, of_file(function_net(tmp_path, body, x=START))).estimates
    np.testing.assert_allclose(unpack(found.value), 3 * X**2, 1e-6)
