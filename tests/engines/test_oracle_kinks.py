"""What central differences say of leaves with kinks, jumps and borders, and of higher orders.

The gradients are those of closed forms, and planted errors beside the kinks are noticed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pytest

from explorer.compare.results import agrees_with_oracle
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.workers.workers import Workers
from tests.support.engine_requests import reply
from tests.support.function_nets import function_net
from tests.support.scenario_files import written

pytestmark = pytest.mark.torch

FIRST = GradCase("grad", 0)

TARGET = "explorer.engines.oracle:estimate"


class Oracle:
    """The oracle's estimates of nets that are given as the body of a function."""

    def __init__(self, workers: Workers, folder: Path) -> None:
        self.workers, self.folder = workers, folder

    def of(
        self, body: str, case: GradCase = FIRST, target: str = TARGET, **inputs: str
    ) -> OracleResult:
        return self._of(function_net(self.folder, body, **inputs), case, target)

    def of_file(self, text: str, case: GradCase = FIRST) -> OracleResult:
        return self._of(written(self.folder, text), case, TARGET)

    def _of(self, path: Path, case: GradCase, target: str) -> OracleResult:
        net = NetRequest(scenario=str(path), engine="torch-tape")
        result = reply(self.workers.call("torch", target, CaseRequest(net, case), OracleResult))
        assert result.outcome == "ok", result.error
        return result


@pytest.fixture
def oracle(workers: Workers, tmp_path: Path) -> Oracle:
    return Oracle(workers, tmp_path)


def agrees(oracle: OracleResult, **gradients: AnyArray) -> bool | None:
    """Whether the oracle confirms gradients in float32."""
    leaves = []
    for name, gradient in gradients.items():
        leaves.append(Leaf(name, pack(np.asarray(gradient, np.float32))))
    result = Result(outcome="ok", structure=leaves[0].name, leaves=tuple(leaves))
    return agrees_with_oracle(result, oracle)


def with_error(gradient: AnyArray, place: int, share: float = 1.01) -> AnyArray:
    wrong = gradient.copy()
    wrong[place] *= share
    return wrong


def obstacles(result: OracleResult) -> dict[str, tuple[int, tuple[int, ...]]]:
    (estimate,) = result.estimates
    return {obstacle.kind: (obstacle.count, obstacle.index) for obstacle in estimate.obstacles}


# Kinks by the hundred


def test_beside_hundreds_of_kinks_of_either_sign_the_other_elements_are_judged(
    oracle: Oracle,
) -> None:
    # Σ sᵢ·|xᵢ|·(1 + xᵢ), sᵢ = ±2: at 0 any slope in [-2, 2]; beyond, sᵢ·(1 + 2·xᵢ).
    x = np.concatenate([np.zeros(400), np.linspace(0.5, 1.5, 300)]).astype(np.float32)
    signs = np.where(np.arange(700) % 3, 2.0, -2.0)
    result = oracle.of(
        "s = torch.where(torch.arange(700) % 3 > 0, 2.0, -2.0)\n"
        "return (s * x.abs() * (1 + x)).sum()",
        x="np.concatenate([np.zeros(400), np.linspace(0.5, 1.5, 300)]).astype(np.float32)",
    )
    right = signs * np.where(x > 0, 1 + 2 * x.astype(float), 0.0)
    assert agrees(result, dx=right) is True
    assert agrees(result, dx=with_error(right, 650)) is False
    # Each kink has its own bounds.
    for slope, word in ((1.9, True), (-2.0, True), (2.1, False), (np.nan, False)):
        beyond = right.copy()
        beyond[7] = slope
        assert agrees(result, dx=beyond) is word


def test_slow_first_evaluations_do_not_lessen_what_is_estimated(oracle: Oracle) -> None:
    # As if something else ran beside them: they took longer than any later one.
    result = oracle.of(
        "import time\n"
        "net.calls = getattr(net, 'calls', 0) + 1\n"
        "end = time.thread_time() + (0.05 if net.calls < 4 else 0.0)\n"
        "while time.thread_time() < end: pass\n"
        "return (x.abs() * (1 + x)).sum()",
        x="np.concatenate([np.zeros(400), np.ones(300)]).astype(np.float32)",
    )
    right = np.where(np.arange(700) < 400, 0.0, 3.0)
    assert agrees(result, dx=right) is True
    assert agrees(result, dx=with_error(right, 650)) is False
    beyond = right.copy()
    beyond[7] = 1.1
    assert agrees(result, dx=beyond) is False


NEAR = "np.concatenate([np.linspace(-9e-7, 1e-6, 1500), np.linspace(0.5, 1.5, 300)])"


def test_kinks_that_lie_within_the_step_move_no_estimate(oracle: Oracle) -> None:
    # Σ wᵢ·relu(xᵢ), of which 1500 xᵢ are nearer to 0 than the step; along directions of all.
    result = oracle.of(
        "w = torch.linspace(1, 2, 1800, dtype=x.dtype)\n"
        "return (torch.relu(x) * w).sum() + (x * x).sum()",
        x=f"{NEAR}.astype(np.float32)",
    )
    x = np.concatenate([np.linspace(-9e-7, 1e-6, 1500), np.linspace(0.5, 1.5, 300)])
    x = x.astype(np.float32).astype(float)
    right = np.where(x > 0, np.linspace(1, 2, 1800), 0.0) + 2 * x
    assert agrees(result, dx=right) is True
    assert agrees(result, dx=right * 1.01) is False


def test_elements_that_feed_many_kinks_at_once_are_not_judged_and_all_others_are(
    oracle: Oracle,
) -> None:
    # The three b are 0, and each moves forty ReLUs with factors of either sign; y is smooth.
    result = oracle.of(
        "c = torch.linspace(-1, 2, 40).to(b.dtype)\n"
        "return (torch.relu(b[:, None] * c) * torch.sin(3 * c)).sum() + (y * y).sum()",
        GradCase("grad", (0, 1)),
        b="np.zeros(3, np.float32)",
        y="np.array([1.0, -2.0], np.float32)",
    )
    b, y = result.estimates
    assert [(found.kind, found.count) for found in b.obstacles] == [("kinks", 3)]
    assert y.obstacles == ()
    # relu'(0) = 0 is the engines' choice; 1 would be another, 1/2 a third.
    c = np.linspace(-1, 2, 40)
    for choice in (0.0, 0.5, 1.0):
        chosen = np.full(3, choice * (c * np.sin(3 * c)).sum())
        assert agrees(result, db=chosen, dy=np.array([2.0, -4.0])) is True
        assert agrees(result, db=chosen, dy=np.array([2.0, -4.1])) is False
    assert agrees(result, db=np.array([0, np.nan, 0]), dy=np.array([2.0, -4.0])) is False
    only_b = msgspec.structs.replace(result, estimates=(b,))
    assert agrees(only_b, db=np.zeros(3)) is None


@pytest.mark.whole
def test_of_a_large_leaf_the_directions_leave_out_what_is_at_kinks(oracle: Oracle) -> None:
    # A dead channel of 2000 zeros in 8000; the others have the slope cos x.
    result = oracle.of(
        "s = torch.where(torch.arange(8000) % 2 > 0, 1.0, -1.0)\n"
        "dead = torch.arange(8000) < 2000\n"
        "return torch.where(dead, s * torch.relu(x), torch.sin(x)).sum()",
        x="np.concatenate([np.zeros(2000), np.linspace(-2, 2, 6000)]).astype(np.float32)",
    )
    (estimate,) = result.estimates
    assert estimate.directions == 16
    assert estimate.smooth is not None
    smooth = unpack(estimate.smooth)
    assert not smooth[:2000].any()
    assert smooth[2000:].mean() > 0.95
    x = np.concatenate([np.zeros(2000), np.linspace(-2, 2, 6000)])
    right = np.where(np.arange(8000) < 2000, 0.0, np.cos(x))
    assert agrees(result, dx=right) is True
    assert agrees(result, dx=np.where(np.arange(8000) < 2000, 1.0, right)) is True
    assert agrees(result, dx=np.where(np.arange(8000) < 5000, right, 1.05 * right)) is False
    for place in (100, 7000):
        wrong = right.copy()
        wrong[place] = np.nan
        assert agrees(result, dx=wrong) is False


# Jumps, borders, points where all slopes are 0, and gradients of gradients


class Judged(NamedTuple):
    """A net of one input, its gradients by closed forms, wrong ones, and what is in the way."""

    body: str
    x: str
    right: Sequence[Sequence[float]]
    wrong: Sequence[Sequence[float]]
    order: int = 1
    obstacles: dict[str, tuple[int, tuple[int, ...]]] | None = None


def at_zero(body: str, order: int = 1) -> Judged:
    return Judged(body, "np.zeros(3, np.float32)", [[0, 0, 0]], [[0, 0.1, 0]], order)


SLOPES = np.array([1.0, 2.0, -1.0])

JUDGED = {
    "a jump is no kink and bounds nothing": Judged(
        "return (torch.floor(x) * 3 + torch.heaviside(x, torch.ones_like(x)) + x * x).sum()",
        "np.array([0.0, 0.5, 2.0, -1.5], np.float32)",
        [[0, 1, 4, -3]],
        [[0, 1.2, 4, -3]],
        obstacles={"jump": (2, (0,))},
    ),
    "the border of a domain: asin at 1, and x·log x at 0": Judged(
        "return torch.asin(x[:2]).sum() + torch.xlogy(x[2:], x[2:]).sum()",
        "np.array([1.0, 0.6, 0.0, 2.0], np.float32)",
        [[np.inf, 1.25, -np.inf, 1 + np.log(2)]],
        [[np.inf, 1.01 * 1.25, -np.inf, 1 + np.log(2)]],
        obstacles={"border": (2, (0,))},
    ),
    "no slope of a cosine": at_zero("return torch.cos(3 * x).sum()"),
    "no slope of a square of a kink": at_zero("return (torch.relu(x) ** 2).sum()"),
    "no slope of a bell": at_zero("return torch.exp(-torch.linalg.vector_norm(x) ** 2)"),
    "no slope of two steep ones": at_zero("return 1e3 * (x ** 4).sum() - 1e3 * (x * x).sum()"),
    "a net that detaches what requires no gradient": Judged(
        # The squared slope of Σx³, so that the loss is Σ9x⁴.
        "if not x.requires_grad:\n"
        "    x = x.detach().requires_grad_()\n"
        "(g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n"
        "return (g * g).sum()",
        "np.array([1.0, -0.5], np.float32)",
        [[36, -4.5]],
        [[36, -4.6]],
    ),
    "the gradient of the gradient is that of its sum": Judged(
        # exp(a·x): the second is a·Σa·exp(a·x), with every mixed derivative.
        "return torch.exp(x[0] + 2 * x[1] - x[2])",
        "np.array([0.1, 0.2, 0.3], np.float32)",
        [SLOPES * SLOPES.sum() * np.exp(0.2)],
        [SLOPES**2 * np.exp(0.2)],
        order=2,
    ),
    "where the first gradient has a kink the second is not judged": Judged(
        "return (torch.relu(x) ** 2).sum()",
        "np.array([0.0, 1.0, -2.0], np.float32)",
        [[choice, 2, 0] for choice in (0, 1, 2)],
        [[0, 1, 0]],
        order=2,
        obstacles={"rough": (1, (0,))},
    ),
}


@pytest.mark.parametrize("net", JUDGED)
def test_a_gradient_of_a_closed_form_is_confirmed_and_a_wrong_one_is_not(
    oracle: Oracle, net: str
) -> None:
    judged = JUDGED[net]
    result = oracle.of(judged.body, GradCase("grad", 0, order=judged.order), x=judged.x)
    assert obstacles(result) == (judged.obstacles or {})
    (estimate,) = result.estimates
    assert estimate.kinks is None
    assert not result.stops
    for gradient in judged.right:
        assert agrees(result, dx=np.array(gradient)) is True
    for gradient in judged.wrong:
        assert agrees(result, dx=np.array(gradient)) is False


def test_outputs_that_are_not_finite_say_so(oracle: Oracle) -> None:
    result = oracle.of("return torch.log(x).mean()", x="np.array([-1.0, 2.0], np.float32)")
    assert obstacles(result) == {"not_finite": (2, (0,))}
    assert agrees(result, dx=np.array([-0.5, 0.25])) is None


def test_what_there_was_no_time_for_has_no_estimate(oracle: Oracle) -> None:
    target = "tests.support.worker_targets:estimate_without_time"
    result = oracle.of("return (x * x).sum()", target=target, x="np.ones(3, np.float32)")
    assert obstacles(result) == {"time": (3, (0,))}
    nested = GradCase("grad", 0, order=2)
    result = oracle.of("return (x * x).sum()", nested, target, x="np.ones(3, np.float32)")
    assert obstacles(result) == {"time": (3, (0,))}


# The net runs as in the engines


INNER_STEP = """
import numpy as np


def inputs():
    return {"x": np.array([1.0, 2.0], np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([0.5, -1.0]))

        def forward(self, x):
            inner = (self.w * self.w * x).sum()
            (slope,) = torch.autograd.grad(inner, self.w, create_graph=True)
            moved = self.w - 0.1 * slope
            return (moved * moved).sum()

    return Net()
"""
"""A step of gradient descent within the forward: with m = w·(1 - 0.2·x) the loss is Σm²."""


def test_a_net_that_differentiates_by_its_weights_in_the_forward_is_estimated(
    oracle: Oracle,
) -> None:
    result = oracle.of_file(INNER_STEP, GradCase("grad", 0, "all"))
    x, w = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    factor = 1 - 0.2 * x
    assert agrees(result, dx=-0.4 * w * w * factor, dw=2 * w * factor**2) is True
    assert agrees(result, dx=np.zeros(2), dw=2 * w * factor**2) is False


# Gradients of gradients


SWISH = """
import numpy as np


def inputs():
    return {"x": np.array([0.5, -1.0, 2.0], np.float32)}


def torch_net():
    import torch

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            square = x * x
            ctx.save_for_backward(x, square)
            return x * square

        @staticmethod
        def backward(ctx, cotangent):
            x, square = ctx.saved_tensors
            return 3 * square * cotangent

    def net(x):
        return (Cube.apply(x) * x).sum()

    return net
"""
"""x⁴ by a Function whose backward uses a saved square: PyTorch's second derivative misses some."""


@pytest.mark.parametrize(
    ("order", "right"),
    [(1, [0.5, -4.0, 32.0]), (2, [3.0, 12.0, 48.0]), (3, [12.0, -24.0, 48.0]), (4, [24.0] * 3)],
)
def test_a_function_with_a_backward_of_its_own_is_estimated_at_every_order(
    oracle: Oracle, order: int, right: list[float]
) -> None:
    result = oracle.of_file(SWISH, GradCase("grad", 0, order=order))
    exact = np.array(right)
    assert agrees(result, dx=exact) is True
    assert agrees(result, dx=with_error(exact, 2, 0.5)) is False


def test_a_large_leaf_has_directions_at_order_2_too(oracle: Oracle) -> None:
    result = oracle.of(
        "return torch.sin(x).sum()",
        GradCase("grad", 0, order=2),
        x="np.linspace(-2, 2, 600).astype(np.float32)",
    )
    (estimate,) = result.estimates
    assert estimate.directions == 16
    right = -np.sin(np.linspace(-2, 2, 600))
    assert agrees(result, dx=right) is True
    assert agrees(result, dx=1.02 * right) is False


def test_estimates_survive_the_way_to_the_store() -> None:
    estimate = Estimate("dx", pack(np.zeros(2)), smooth=pack(np.array([True, False])))
    decoded = msgspec.msgpack.decode(msgspec.msgpack.encode(estimate), type=Estimate)
    assert decoded.smooth is not None
    assert unpack(decoded.smooth).tolist() == [True, False]


MANY_BIASES = """
import numpy as np


def inputs():
    return {"x": np.linspace(-1, 1, 500).astype(np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.biases = nn.ParameterList(nn.Parameter(torch.zeros(4)) for _ in range(200))

        def forward(self, x):
            total = torch.sin(x).sum()
            for number, bias in enumerate(self.biases):
                part = torch.relu(bias) if number == 90 else torch.sin(bias)
                total = total + ((-1) ** number * part).sum()
            return total

    return Net()
"""
"""Two hundred biases of slopes ±1, the ninety-first of which are at kinks: more than go one by one."""


@pytest.mark.whole
def test_of_leaves_that_are_varied_together_those_with_kinks_are_found(oracle: Oracle) -> None:
    result = oracle.of_file(MANY_BIASES, GradCase("grad", 0, "all"))
    kinked = [estimate for estimate in result.estimates if estimate.at_kinks]
    assert [estimate.leaves for estimate in kinked] == [("dbiases.90",)]
    assert any(estimate.together for estimate in result.estimates)

    gradients = {"dx": np.cos(np.linspace(-1, 1, 500))}
    for number in range(200):
        gradients[f"dbiases.{number}"] = np.full(4, float((-1) ** number))
    gradients["dbiases.90"] = np.zeros(4)
    assert agrees(result, **gradients) is True
    for beside, slope in (("dbiases.91", -1.05), ("dbiases.90", 1.1), ("dbiases.10", 0.9)):
        wrong = {**gradients, beside: np.full(4, slope)}
        assert agrees(result, **wrong) is False
