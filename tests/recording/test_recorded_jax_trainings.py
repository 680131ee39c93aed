"""Trainings of JAX that are recorded where they run: the same bits, and what is recorded and compared."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.environments.known import home_of
from explorer.exploration.trainings import compared
from explorer.model.arrays import AnyArray, unpack
from explorer.model.training import Training, TrainingStep
from explorer.model.training_comparison import Question, TrainingComparison
from explorer.recording.files import read_training
from explorer.workers.environments import program_environment
from tests.recording.conftest import SHAPES, Recordings, recorded_in_jax
from tests.support.command_line import environment
from tests.support.jax_packages import skip_without

pytestmark = pytest.mark.jax

PROGRAMS = (
    "eager",
    "compiled",
    "other_eps",
    "donated",
    "clipped",
    "two_passes",
    "two_nets",
    "injected",
    "given_rate",
    "closed_over",
    "module",
)

RULES = {
    "adamw": "torch.optim.AdamW(net.parameters(), 1e-2, weight_decay=0.1)",
    "momentum": "torch.optim.SGD(net.parameters(), 1e-2, momentum=0.9)",
    "clipped": "torch.optim.SGD(net.parameters(), 0.1)",
    "two_passes": "torch.optim.SGD(net.parameters(), 0.1)",
}

SAME = {
    "eager": "adamw",
    "compiled": "adamw",
    "donated": "momentum",
    "clipped": "clipped",
    "two_passes": "two_passes",
}
"""Programs of JAX, and PyTorch's with the same rule."""

IN_TORCH = f"""
import sys
from pathlib import Path
import numpy as np
import torch
from torch import nn
import explorer

out, given = Path(sys.argv[1]), np.load(sys.argv[2])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(nn.functional.gelu(self.first(x)))


def make(rule):
    net = Net()
    net.load_state_dict({{name: torch.from_numpy(given[name]) for name in net.state_dict()}})
    return net, eval(rule, {{"torch": torch, "net": net}})


for name, rule in {RULES!r}.items():
    net, optimizer = make(rule)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    steps = explorer.recorder(training=True, model=net, out=out / f"{{name}}.training")
    for step in range(4):
        x = torch.from_numpy(given["x"] * (1 + step))
        y = torch.from_numpy(np.roll(given["y"], step))
        halves = [slice(4), slice(4, 8)] if name == "two_passes" else [slice(8)]
        with steps.step():
            optimizer.zero_grad()
            for half in halves:
                nn.functional.cross_entropy(net(x[half]), y[half]).backward()
            if name == "clipped":
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
        if name == "clipped":
            schedule.step()
"""


@pytest.fixture(scope="module")
def in_jax(jax_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """What tests/nets/recorded_jax_trainings.py has computed, and its trainings."""
    folder = tmp_path_factory.mktemp("jax_trainings")
    return recorded_in_jax("recorded_jax_trainings.py", folder, jax_weights)


@pytest.fixture(scope="module")
def in_torch(jax_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("torch_trainings")
    command = [sys.executable, "-c", IN_TORCH, str(folder), str(jax_weights)]
    subprocess.run(command, env=environment(), check=True, timeout=600)
    return folder


def training_of(in_jax: Recordings, name: str) -> Training:
    if name in PROGRAMS and name not in in_jax.computed["programs"]:
        pytest.skip("flax is not installed where JAX is")
    return read_training(in_jax.folder / f"{name}.training")


def beside_torch(in_jax: Recordings, in_torch: Path, name: str, other: str) -> TrainingComparison:
    return compared(read_training(in_torch / f"{other}.training"), training_of(in_jax, name))


def arrays(step: TrainingStep, what: str) -> dict[str, AnyArray]:
    return {leaf.name: unpack(leaf.value) for leaf in getattr(step, what)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_weights_and_state_are_the_same_bits_with_and_without(
    in_jax: Recordings, name: str
) -> None:
    training = training_of(in_jax, name)
    without, recorded = in_jax.computed["programs"][name]
    assert recorded == without
    assert training.missing == ()
    assert [step.number for step in training.steps] == [1, 2, 3, 4]


def test_nothing_is_left_in_jax(in_jax: Recordings) -> None:
    before, after = in_jax.computed["again"]
    assert after == before


@pytest.mark.torch
@pytest.mark.parametrize("name", SAME)
def test_the_same_training_in_pytorch_differs_in_nothing(
    in_jax: Recordings, in_torch: Path, name: str
) -> None:
    comparison = beside_torch(in_jax, in_torch, name, SAME[name])
    assert comparison.difference is None
    answers = {answer.question: answer.status for answer in comparison.answers}
    judged: list[Question] = ["data", "start", "trained", "given", "update"]
    judged += ["state"] if SAME[name] in ("adamw", "momentum") else []
    assert {question: answers[question] for question in judged} == dict.fromkeys(judged, "same")


@pytest.mark.torch
def test_another_eps_is_named(in_jax: Recordings, in_torch: Path) -> None:
    difference = beside_torch(in_jax, in_torch, "other_eps", "adamw").difference
    assert difference is not None
    assert (difference.step, difference.question) == (1, "update")


def test_gradients_lie_as_in_pytorch_and_give_the_weights(in_jax: Recordings) -> None:
    training = training_of(in_jax, "two_passes")
    before = {start.name: unpack(start.value) for start in training.start}
    for step in training.steps:
        gradients = arrays(step, "gradients")
        assert {name: gradient.shape for name, gradient in gradients.items()} == SHAPES
        weights = arrays(step, "weights")
        for name, weight in weights.items():
            np.testing.assert_allclose(weight, before[name] - 0.1 * gradients[name], atol=1e-6)
        before = weights


def test_each_pass_of_a_step_has_its_data_loss_and_gradients(in_jax: Recordings) -> None:
    step = training_of(in_jax, "two_passes").steps[1]
    whole = training_of(in_jax, "compiled").steps[1]
    assert len(step.batches) == 2
    x = np.concatenate([unpack(batch.data[0].value) for batch in step.batches])
    np.testing.assert_array_equal(x, unpack(whole.batches[0].data[0].value))
    added = [{it.name: unpack(it.value) for it in batch.gradients} for batch in step.batches]
    for name, gradient in arrays(step, "gradients").items():
        np.testing.assert_array_equal(gradient, added[0][name] + added[1][name])
    assert step.loss == sum(batch.loss or 0 for batch in step.batches)


def test_what_is_updated_is_no_data_of_the_other_pass(in_jax: Recordings) -> None:
    for step in training_of(in_jax, "two_nets").steps:
        assert [[leaf.name for leaf in batch.data] for batch in step.batches] == [["x"], ["x"]]


def test_the_chain_of_optax_is_told_with_its_rate_and_clipping(in_jax: Recordings) -> None:
    training = training_of(in_jax, "clipped")
    assert training.optimizer == "optax.sgd"
    rates = [step.groups[0].settings["lr"] for step in training.steps]
    assert rates == pytest.approx([0.1, 0.05, 0.025, 0.0125], rel=1e-6)
    for step in training.steps:
        gradients, given = arrays(step, "gradients"), arrays(step, "given")
        norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))
        assert step.norm == pytest.approx(norm, rel=1e-5)
        for name, gradient in given.items():
            scale = min(1.0, 0.5 / norm)
            np.testing.assert_allclose(gradient, gradients[name] * scale, rtol=1e-5, atol=1e-7)


def test_settings_that_are_traced_are_those_of_the_state_or_are_left_out(
    in_jax: Recordings,
) -> None:
    injected, given = (training_of(in_jax, name) for name in ("injected", "given_rate"))
    assert {injected.optimizer, given.optimizer} == {"optax.adam"}
    settings = injected.steps[1].groups[0].settings
    assert settings["lr"] == pytest.approx(1e-2)
    assert settings["betas"] == pytest.approx((0.9, 0.999))
    settings = given.steps[1].groups[0].settings
    assert settings["betas"] == (0.9, 0.999)
    assert "lr" not in settings


def test_a_loss_that_has_its_data_from_around_it_and_bfloat16_are_recorded_whole(
    in_jax: Recordings,
) -> None:
    training = training_of(in_jax, "closed_over")
    step = training.steps[1]
    (batch,) = step.batches
    assert [leaf.name for leaf in batch.data] == ["x", "y"]
    assert {leaf.name: leaf.value.dtype for leaf in step.weights} == dict.fromkeys(
        SHAPES, "bfloat16"
    )
    assert {start.name for start in training.start} == SHAPES.keys()
    # Of what a chain holds nothing for, another rule makes the updates.
    (group,) = step.groups
    assert set(group.names) == {"first.weight", "first.bias"}


def test_a_module_has_buffers_and_a_state_by_pytorchs_names(in_jax: Recordings) -> None:
    training = training_of(in_jax, "module")
    first, second = training.steps[:2]
    assert set(arrays(first, "buffers")) == {"norm.running_mean", "norm.running_var"}
    assert "norm.weight" in arrays(first, "weights")
    assert arrays(second, "state")["last.weight.step"] == 2
    assert arrays(second, "state")["last.weight.exp_avg"].shape == (3, 16)
    moved = arrays(first, "buffers")["norm.running_mean"]
    assert (arrays(second, "buffers")["norm.running_mean"] != moved).any()
    roles = {start.name: start.role for start in training.start}
    assert roles["norm.running_var"] == "buffer"
    assert roles["norm.bias"] == "parameter"


def test_the_first_step_has_its_graph_where_it_is_asked_for(in_jax: Recordings) -> None:
    first, second = training_of(in_jax, "compiled").steps[:2]
    assert second.graph is None
    assert first.graph is not None
    assert lint(first.graph) == []
    assert {"dot_general", "erfc"} <= {node.op for node in first.graph.nodes}


def test_what_a_step_raises_and_what_fails_in_the_recorder_is_said(in_jax: Recordings) -> None:
    assert in_jax.computed["raising"] == "TypeError"
    raising = training_of(in_jax, "raising")
    assert [step.number for step in raising.steps] == [1, 2]
    assert "raised" in {missing.kind for missing in raising.missing}
    computed, warned = in_jax.computed["failing"]
    assert computed == in_jax.computed["programs"]["eager"][0]
    assert warned == ["RecordingWarning"]
    assert "fault" in {missing.kind for missing in training_of(in_jax, "failing").missing}


ONLY_ONE = """
import optax
import optax.contrib
from explorer.engines.jax.optimizers import kind, only_one

optimizer = optax.chain(optax.clip(1.0), optax.sgd(0.1))
print(kind(only_one()))
other = optax.adam(1e-3)
print(only_one())
"""


def test_one_optimizer_is_found_among_arguments_of_optax_s_own(tmp_path: Path) -> None:
    """Where a program holds two, neither is taken for that of its updates."""
    skip_without("optax")
    home = home_of("jax")
    done = subprocess.run(
        [home.python, "-c", ONLY_ONE],
        env=program_environment(home, tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["optax.clip", "[]"]
