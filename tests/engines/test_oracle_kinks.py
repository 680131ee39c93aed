"""What central differences say of leaves with kinks, jumps and borders, and of higher orders.

The gradients are those of closed forms, and planted errors beside the kinks are noticed.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pytest

from explorer.compare.results.comparison import BesideOracle
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.results import Estimate, Leaf, OracleResult, Result
from explorer.workers.workers import Workers
from tests.support.engine_requests import FIRST, estimate, estimate_in_time, of_file
from tests.support.scenario_files import function_net, module_net

pytestmark = pytest.mark.torch

Estimated = Callable[..., OracleResult]


@pytest.fixture
def estimated(workers: Workers, tmp_path: Path) -> Estimated:
    """The estimates of a net that is given by the body of a function and its inputs."""

    def of_net(
        body: str, case: GradCase = FIRST, *, before: str = "", **inputs: str
    ) -> OracleResult:
        net = function_net(tmp_path, body, before=before, **inputs)
        result = estimate(workers, of_file(net, case=case))
        assert result.outcome == "ok", result.error
        return result

    return of_net


def agrees(oracle: OracleResult, **gradients: AnyArray) -> bool | None:
    """Whether the oracle confirms gradients in float32."""
    leaves = []
    for name, gradient in gradients.items():
        leaves.append(Leaf(name, pack(np.asarray(gradient, np.float32))))
    result = Result(outcome="ok", structure=leaves[0].name, leaves=tuple(leaves))
    return BesideOracle(result, oracle).agrees


def with_value(gradient: AnyArray, place: int, value: float) -> AnyArray:
    other = gradient.copy()
    other[place] = value
    return other


def obstacles(result: OracleResult) -> dict[str, tuple[int, tuple[int, ...]]]:
    (found,) = result.estimates
    return {obstacle.kind: (obstacle.count, obstacle.index) for obstacle in found.obstacles}


# One leaf: kinks, jumps, borders, points where all slopes are 0, and gradients of gradients


class Judged(NamedTuple):
    """A net of one input, its gradients by closed forms, wrong ones, and what is in the way.

    ``directions`` is along how many directions it is estimated, where not element by element. How many
    of hundreds of kinks are seen depends on the time that there is: nothing is said of these.
    """

    body: str
    x: str
    right: Sequence[Sequence[float] | AnyArray]
    wrong: Sequence[Sequence[float] | AnyArray]
    order: int = 1
    obstacles: dict[str, tuple[int, tuple[int, ...]]] | None = None
    has_kinks: bool = False
    directions: int = 0
    before: str = ""


def at_zero(body: str, order: int = 1) -> Judged:
    return Judged(body, "np.zeros(3, np.float32)", [[0, 0, 0]], [[0, 0.1, 0]], order)


SLOPES = np.array([1.0, 2.0, -1.0])

# Σ sᵢ·|xᵢ|·(1 + xᵢ), sᵢ = ±2: at 0 any slope in [-2, 2]; beyond, sᵢ·(1 + 2·xᵢ).
HUNDREDS = np.concatenate([np.zeros(400), np.linspace(0.5, 1.5, 300)]).astype(np.float32)
SIGNED = np.where(HUNDREDS > 0, np.where(np.arange(700) % 3, 2.0, -2.0), 0.0)
OF_HUNDREDS = SIGNED * (1 + 2 * HUNDREDS.astype(float))

SLOW = np.where(np.arange(700) < 400, 0.0, 3.0)

# Σ wᵢ·relu(xᵢ), of which 1500 xᵢ are nearer to 0 than the step.
NEAR = "np.concatenate([np.linspace(-9e-7, 1e-6, 1500), np.linspace(0.5, 1.5, 300)])"
NEARBY = np.concatenate([np.linspace(-9e-7, 1e-6, 1500), np.linspace(0.5, 1.5, 300)])
NEARBY = NEARBY.astype(np.float32).astype(float)
OF_NEARBY = np.where(NEARBY > 0, np.linspace(1, 2, 1800), 0.0) + 2 * NEARBY

MANY = np.linspace(-2, 2, 600)

CUBE = """
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
"""
"""A Function whose backward uses a saved square: PyTorch's second derivative misses some."""

TO_THE_FOURTH: dict[int, list[float]] = {
    1: [0.5, -4.0, 32.0],
    2: [3.0, 12.0, 48.0],
    3: [12.0, -24.0, 48.0],
    4: [24.0] * 3,
}
"""The derivatives of x⁴ at 0.5, -1 and 2, by their order."""

JUDGED = {
    "beside hundreds of kinks of either sign the other elements are judged": Judged(
        "s = torch.where(torch.arange(700) % 3 > 0, 2.0, -2.0)\n"
        "return (s * x.abs() * (1 + x)).sum()",
        "np.concatenate([np.zeros(400), np.linspace(0.5, 1.5, 300)]).astype(np.float32)",
        # Each kink has its own bounds.
        [OF_HUNDREDS, *[with_value(OF_HUNDREDS, 7, slope) for slope in (1.9, -2.0)]],
        [
            *[with_value(OF_HUNDREDS, 7, slope) for slope in (2.1, np.nan)],
            with_value(OF_HUNDREDS, 650, 1.01 * OF_HUNDREDS[650]),
        ],
        has_kinks=True,
    ),
    "slow first evaluations do not lessen what is estimated": Judged(
        # As if something else ran beside them: they took longer than any later one.
        "import time\n"
        "net.calls = getattr(net, 'calls', 0) + 1\n"
        "end = time.thread_time() + (0.05 if net.calls < 4 else 0.0)\n"
        "while time.thread_time() < end: pass\n"
        "return (x.abs() * (1 + x)).sum()",
        "np.concatenate([np.zeros(400), np.ones(300)]).astype(np.float32)",
        [SLOW],
        [with_value(SLOW, 650, 3.03), with_value(SLOW, 7, 1.1)],
        has_kinks=True,
    ),
    "kinks that lie within the step move no estimate": Judged(
        "w = torch.linspace(1, 2, 1800, dtype=x.dtype)\n"
        "return (torch.relu(x) * w).sum() + (x * x).sum()",
        f"{NEAR}.astype(np.float32)",
        [OF_NEARBY],
        [1.01 * OF_NEARBY],
        has_kinks=True,
    ),
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
    "a large leaf has directions at order 2 too": Judged(
        "return torch.sin(x).sum()",
        "np.linspace(-2, 2, 600).astype(np.float32)",
        [-np.sin(MANY)],
        [-1.02 * np.sin(MANY)],
        order=2,
        directions=16,
    ),
}

for order, derivative in TO_THE_FOURTH.items():
    JUDGED[f"a function with a backward of its own at order {order}"] = Judged(
        "return (Cube.apply(x) * x).sum()",
        "np.array([0.5, -1.0, 2.0], np.float32)",
        [derivative],
        [with_value(np.array(derivative), 2, derivative[2] / 2)],
        order,
        before=CUBE,
    )


@pytest.mark.parametrize("net", JUDGED)
def test_a_gradient_of_a_closed_form_is_confirmed_and_a_wrong_one_is_not(
    estimated: Estimated, net: str
) -> None:
    judged = JUDGED[net]
    case = GradCase("grad", 0, order=judged.order)
    result = estimated(judged.body, case, before=judged.before, x=judged.x)
    if not judged.has_kinks:
        assert obstacles(result) == (judged.obstacles or {})
        (found,) = result.estimates
        assert (found.kinks, found.directions) == (None, judged.directions)
    assert not result.stops
    for gradient in judged.right:
        assert agrees(result, dx=np.array(gradient)) is True
    for gradient in judged.wrong:
        assert agrees(result, dx=np.array(gradient)) is False


def test_outputs_that_are_not_finite_say_so(estimated: Estimated) -> None:
    result = estimated("return torch.log(x).mean()", x="np.array([-1.0, 2.0], np.float32)")
    assert obstacles(result) == {"not_finite": (2, (0,))}
    assert agrees(result, dx=np.array([-0.5, 0.25])) is None


@pytest.mark.parametrize("order", [1, 2])
def test_what_there_was_no_time_for_has_no_estimate(
    workers: Workers, tmp_path: Path, order: int
) -> None:
    net = function_net(tmp_path, "return (x * x).sum()", x="np.ones(3, np.float32)")
    request = of_file(net, case=GradCase("grad", 0, order=order))
    assert obstacles(estimate_in_time(workers, request, 0)) == {"time": (3, ())}


def test_estimates_survive_the_way_to_the_store() -> None:
    known = Estimate("dx", pack(np.zeros(2)), smooth=pack(np.array([True, False])))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=Estimate) == known


# Several leaves


def test_elements_that_feed_many_kinks_at_once_are_not_judged_and_all_others_are(
    estimated: Estimated,
) -> None:
    # The three b are 0, and each moves forty ReLUs with factors of either sign; y is smooth.
    result = estimated(
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


@pytest.mark.parametrize(
    ("dead", "size"), [(4, 4200), pytest.param(2000, 8000, marks=pytest.mark.whole)]
)
def test_of_a_large_leaf_the_directions_leave_out_what_is_at_kinks(
    estimated: Estimated, dead: int, size: int
) -> None:
    # A dead channel of zeros; the others have the slope cos x.
    result = estimated(
        f"s = torch.where(torch.arange({size}) % 2 > 0, 1.0, -1.0)\n"
        f"dead = torch.arange({size}) < {dead}\n"
        "return torch.where(dead, s * torch.relu(x), torch.sin(x)).sum()",
        x=f"np.concatenate([np.zeros({dead}), np.linspace(-2, 2, {size - dead})]).astype(np.float32)",
    )
    (estimate,) = result.estimates
    assert estimate.directions == 16
    assert estimate.smooth is not None
    smooth = unpack(estimate.smooth)
    assert not smooth[:dead].any()
    assert smooth[dead:].mean() > 0.95
    x = np.concatenate([np.zeros(dead), np.linspace(-2, 2, size - dead)])
    place = np.arange(size)
    right = np.where(place < dead, 0.0, np.cos(x))
    assert agrees(result, dx=right) is True
    assert agrees(result, dx=np.where(place < dead, 1.0, right)) is True
    assert agrees(result, dx=np.where(place < size / 2, right, 1.05 * right)) is False
    for wrong_place in (dead // 2, size - 1000):
        assert agrees(result, dx=with_value(right, wrong_place, np.nan)) is False


def test_a_net_that_differentiates_by_its_weights_in_the_forward_is_estimated(
    workers: Workers, tmp_path: Path
) -> None:
    # A step of gradient descent within the forward: with m = w·(1 - 0.2·x) the loss is Σm².
    net = module_net(
        tmp_path,
        "self.w = nn.Parameter(torch.tensor([0.5, -1.0]))",
        "inner = (self.w * self.w * x).sum()\n"
        "(slope,) = torch.autograd.grad(inner, self.w, create_graph=True)\n"
        "moved = self.w - 0.1 * slope\n"
        "return (moved * moved).sum()",
        x="np.array([1.0, 2.0], np.float32)",
    )
    result = estimate(workers, of_file(net, case=GradCase("grad", 0, "all")))
    x, w = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    factor = 1 - 0.2 * x
    assert agrees(result, dx=-0.4 * w * w * factor, dw=2 * w * factor**2) is True
    assert agrees(result, dx=np.zeros(2), dw=2 * w * factor**2) is False


@pytest.mark.whole
def test_of_leaves_that_are_varied_together_those_with_kinks_are_found(
    workers: Workers, tmp_path: Path
) -> None:
    # Two hundred biases of slopes ±1, the ninety-first of which are at kinks: more than go one by one.
    layers = "self.biases = nn.ParameterList(nn.Parameter(torch.zeros(4)) for _ in range(200))"
    body = """
total = torch.sin(x).sum()
for number, bias in enumerate(self.biases):
    part = torch.relu(bias) if number == 90 else torch.sin(bias)
    total = total + ((-1) ** number * part).sum()
return total
"""
    net = module_net(tmp_path, layers, body, x="np.linspace(-1, 1, 500).astype(np.float32)")
    result = estimate(workers, of_file(net, case=GradCase("grad", 0, "all")))
    kinked = [it for it in result.estimates if it.at_kinks]
    assert [it.leaves for it in kinked] == [("dbiases.90",)]
    assert any(it.together for it in result.estimates)

    gradients = {"dx": np.cos(np.linspace(-1, 1, 500))}
    for number in range(200):
        gradients[f"dbiases.{number}"] = np.full(4, float((-1) ** number))
    gradients["dbiases.90"] = np.zeros(4)
    assert agrees(result, **gradients) is True
    for beside, slope in (("dbiases.91", -1.05), ("dbiases.90", 1.1), ("dbiases.10", 0.9)):
        wrong = {**gradients, beside: np.full(4, slope)}
        assert agrees(result, **wrong) is False
