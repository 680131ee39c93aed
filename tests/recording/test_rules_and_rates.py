"""Optimizers that programs write themselves, and rates that follow schedules, in both frameworks."""

from pathlib import Path

import pytest

from explorer.words.training import details, headline
from tests.support.command_line import python
from tests.support.narrowing import present
from tests.support.recorded_files import compared

pytestmark = pytest.mark.torch

IN_TORCH = """
import numpy as np, torch
from torch import nn
import explorer

torch.set_num_threads(1)

class Lion(torch.optim.Optimizer):
    held = "exp_avg"

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(parameters, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (one, other), rate = group["betas"], group["lr"]
            for weight in group["params"]:
                state = self.state[weight]
                mean = state.setdefault(self.held, torch.zeros_like(weight))
                weight.mul_(1 - rate * group["weight_decay"])
                weight.add_((mean * one + weight.grad * (1 - one)).sign(), alpha=-rate)
                mean.mul_(other).add_(weight.grad, alpha=1 - other)

class Own(Lion):
    pass

class Other(Lion):
    held = "m"

class Cubic(Lion):
    @torch.no_grad()
    def step(self):
        for weight in self.param_groups[0]["params"]:
            moved = weight.grad if self.state[weight] else weight.grad**3
            self.state[weight]["m"] = moved
            weight.sub_(1e-3 * moved)

def train(name, make, schedule=None):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = make(net.parameters())
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule or (lambda number: 1.0))
    recorder = explorer.recorder(training=True, out=f"{name}.training")
    draws = np.random.default_rng(0)
    for _ in range(8):
        x, y = (torch.from_numpy(draws.normal(size=(16, n)).astype(np.float32)) for n in (3, 2))
        with recorder.step():
            optimizer.zero_grad()
            nn.MSELoss()(net(x), y).backward()
            optimizer.step()
        rates.step()
    recorder.write()

optim = torch.optim
train("lion", Lion)
train("decayed", lambda weights: Lion(weights, weight_decay=0.1))
train("own", Own)
train("other", Other)
train("cubic", Cubic)
train("adam", lambda weights: optim.Adam(weights, 1e-3))
for name, schedule in {
    "none": None,
    "warm": lambda number: min(1, (number + 1) / 4),
    "falls": lambda number: 0.9**number,
    "late": lambda number: 0.9 ** max(0, number - 3),
    "steps": lambda number: 0.1 if number > 3 else 1.0,
    "steps_late": lambda number: 0.1 if number > 4 else 1.0,
    "dips": lambda number: 0.5 if number in (2, 3) else 1.0,
}.items():
    train(name, lambda weights: optim.SGD(weights, 0.1), schedule)
"""

IN_MINDSPORE = """
import numpy as np, mindspore as ms
from mindspore import nn, ops
import explorer

class Lion(nn.Optimizer):
    def __init__(self, parameters, lr=1e-3, beta1=0.9, beta2=0.99):
        super().__init__(lr, parameters)
        self.beta1, self.beta2 = beta1, beta2
        self.exp_avg = self.parameters.clone(prefix="exp_avg", init="zeros")

    def construct(self, gradients):
        rate = self.get_lr()
        for weight, mean, gradient in zip(self.parameters, self.exp_avg, gradients):
            moved = ops.sign(mean * self.beta1 + gradient * (1 - self.beta1))
            weight.assign_value(weight - rate * moved)
            mean.assign_value(mean * self.beta2 + gradient * (1 - self.beta2))
        return True

class Own(Lion):
    pass

def train(name, make):
    net = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 2))
    ms.load_param_into_net(net, explorer.start("lion.training", net))
    optimizer = make(net.trainable_params())
    gradient = ms.value_and_grad(lambda x, y: nn.MSELoss()(net(x), y), None, optimizer.parameters)
    recorder = explorer.recorder(training=True, out=f"{name}.training")
    draws = np.random.default_rng(0)
    for _ in range(8):
        x, y = (ms.Tensor(draws.normal(size=(16, n)).astype(np.float32)) for n in (3, 2))
        with recorder.step():
            _loss, gradients = gradient(x, y)
            optimizer(gradients)
    recorder.write()

train("ms_lion", Lion)
train("ms_own", Own)
train("ms_warm", lambda weights: nn.SGD(weights, [0.025, 0.05, 0.075] + [0.1] * 5))
train("ms_late", lambda weights: nn.SGD(weights, [0.1 * 0.9 ** max(0, n - 3) for n in range(8)]))
"""


@pytest.fixture(scope="module")
def in_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    python("-c", IN_TORCH, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def of_both(in_torch: Path) -> Path:
    python("-c", IN_MINDSPORE, cwd=in_torch)
    return in_torch


IN_BOTH = [pytest.mark.mindspore, pytest.mark.whole]


@pytest.mark.parametrize(
    ("folder", "one", "other"),
    [
        ("in_torch", "lion", "lion"),
        ("in_torch", "lion", "own"),
        ("in_torch", "lion", "other"),
        pytest.param("of_both", "own", "ms_lion", marks=IN_BOTH),
        pytest.param("of_both", "own", "ms_own", marks=IN_BOTH),
    ],
)
def test_a_step_by_the_sign_of_a_mean_is_lion_in_a_class_of_any_name_and_not_called_adam(
    folder: str, one: str, other: str, request: pytest.FixtureRequest
) -> None:
    place: Path = request.getfixturevalue(folder)
    for first in (one, other):
        comparison = compared(place, first, other)
        assert comparison.difference is None
        assert present(comparison.rule).kind == "Lion"
    for sides in ((other, "adam"), ("adam", other)):
        comparison = compared(place, *sides)
        found = present(comparison.difference)
        assert (found.question, found.reason, found.step) == ("update", "rule", 2)
        assert f"{other}: Lion(lr=0.001, beta1=0.9, beta2=0.99)" in headline(comparison)
        assert "adam: Adam(lr=0.001, beta1=0.9, beta2=0.999" in headline(comparison)


def test_a_rule_that_did_not_give_the_first_step_is_not_that_of_both(in_torch: Path) -> None:
    comparison = compared(in_torch, "cubic", "cubic")
    answers = {answer.question: answer.status for answer in comparison.answers}
    assert answers["update"] == "no_rule"
    assert comparison.rule is None


def test_the_decay_of_lion_is_named(in_torch: Path) -> None:
    comparison = compared(in_torch, "lion", "decayed")
    assert "Lion with weight_decay=0; decayed: Lion with weight_decay=0.1" in headline(comparison)


WARM = "{other} warms up: the rates are the same from step 4 on"
LATE = "the rate of {other} comes 3 steps late"


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("none", "warm", WARM),
        ("warm", "none", "warm warms up: the rates are the same from step 4 on"),
        ("falls", "late", LATE),
        ("late", "falls", "the rate of falls comes 3 steps early"),
        ("steps", "steps_late", "the rate of steps_late comes 1 step late"),
        ("none", "dips", "the rates differ in steps 3–4 alone, and are the same again behind them"),
        ("none", "falls", ""),
        pytest.param("none", "ms_warm", WARM, marks=IN_BOTH),
        pytest.param("falls", "ms_late", LATE, marks=IN_BOTH),
    ],
)
def test_a_rate_that_is_late_is_told_from_one_that_warms_up(
    one: str, other: str, said: str, request: pytest.FixtureRequest
) -> None:
    place: Path = request.getfixturevalue("of_both" if other.startswith("ms_") else "in_torch")
    comparison = compared(place, one, other)
    assert present(comparison.difference).question == "update"
    about_rates = [line for line in details(comparison) if "rate" in line]
    assert about_rates == ([said.format(other=other)] if said else [])
