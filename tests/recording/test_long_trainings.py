"""Records of long trainings: each step to the end, in little room, and compared for what is left of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.model.arrays import Array, pack
from explorer.model.results import Leaf
from explorer.model.training import Batch, Training, TrainingStep
from explorer.model.training_comparison import TrainingComparison
from explorer.numeric.summaries import FEW, few, spread
from explorer.recording.files import read_training
from explorer.recording.kept_steps import DENSEST, KeptSteps, is_whole
from explorer.words.training import details, ranges
from tests.support.command_line import python
from tests.support.narrowing import present
from tests.support.recorded_files import compared

STEPS = 50

OTHER = 23
"""The step from which some of the trainings are others."""

ROOM = 3_200_000
"""In so many bytes about thirty of the steps are whole."""

IN_TORCH = """
import os, signal, numpy as np, torch
from torch import nn
import explorer

torch.set_num_threads(1)

def train(name, change="", at=0, **options):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 1024), nn.Tanh(), nn.Linear(1024, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    recorder = explorer.recorder(training=True, out=f"{name}.training", **options)
    draws = np.random.default_rng(0)
    for number in range(1, STEPS + 1):
        x = draws.normal(size=(8, 3)).astype(np.float32)
        y = draws.normal(size=(8, 2)).astype(np.float32)
        if number == at and change == "momentum":
            optimizer.param_groups[0]["momentum"] = 0.8
        if number == at and change == "row":
            x[5, 0] += 1  # which is not among the few elements
        with recorder.step():
            optimizer.zero_grad()
            loss = nn.MSELoss()(net(torch.from_numpy(x)), torch.from_numpy(y))
            loss.backward()
            if number == at and change == "clipped":
                for weight in net.parameters():
                    weight.grad *= min(1, 0.01 / weight.grad.norm())
            optimizer.step()
            if number == at and change == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
    recorder.write()

if not os.fork():
    train("killed", "killed", 45, memory=ROOM)
os.wait()
train("whole")
train("long", memory=ROOM)
train("no_room", memory=300_000)
train("momentum", "momentum", OTHER, memory=ROOM)
train("row", "row", OTHER, memory=ROOM)
train("clipped", "clipped", OTHER, memory=ROOM)
"""

IN_MINDSPORE = """
import numpy as np, mindspore as ms
from mindspore import nn
import explorer

net = nn.SequentialCell(nn.Dense(3, 1024), nn.Tanh(), nn.Dense(1024, 2))
ms.load_param_into_net(net, explorer.start("long.training", net))
optimizer = nn.Momentum(net.trainable_params(), 1e-3, 0.9)
gradient = ms.value_and_grad(lambda x, y: nn.MSELoss()(net(x), y), None, optimizer.parameters)
recorder = explorer.recorder(training=True, out="mindspore.training", memory=ROOM)
draws = np.random.default_rng(0)
for _ in range(STEPS):
    x, y = (ms.Tensor(draws.normal(size=(8, n)).astype(np.float32)) for n in (3, 2))
    with recorder.step():
        loss, gradients = gradient(x, y)
        optimizer(gradients)
"""


def run(program: str, folder: Path) -> None:
    head = f"STEPS, OTHER, ROOM = {STEPS}, {OTHER}, {ROOM}\n"
    python("-c", head + program, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("long")
    run(IN_TORCH, made)
    return made


def kept(training: Training) -> str:
    """What is kept of each step, by the first letter."""
    return "".join(step.kept[0] for step in training.steps)


def said(comparison: TrainingComparison) -> str:
    return " ".join(details(comparison))


@pytest.mark.torch
def test_a_long_training_is_recorded_to_its_end_in_the_room_that_there_is(folder: Path) -> None:
    path = folder / "long.training"
    assert path.stat().st_size < 1.1 * ROOM < (folder / "whole.training").stat().st_size / 1.4
    whole, long = (read_training(folder / f"{name}.training") for name in ("whole", "long"))
    assert long.missing == ()
    assert [step.number for step in long.steps] == [*range(1, STEPS + 1)]
    assert [step.loss for step in long.steps] == [step.loss for step in whole.steps]
    letters = kept(long)
    first = letters.index("f")
    assert first >= 3
    assert letters.endswith("aa")
    # Sparser from there on, in pairs.
    assert letters[first : STEPS - 2].count("f") > letters[first : STEPS - 2].count("a") > 0
    for one, other in zip(long.steps, whole.steps, strict=True):
        assert one == other or one.kept == "few"
        for leaf, entire in zip(one.state, other.state, strict=True):
            assert (leaf.name, leaf.value.shape) == (entire.name, entire.value.shape)


@pytest.mark.torch
def test_a_record_without_room_for_figures_has_the_losses_of_later_steps(folder: Path) -> None:
    training = read_training(folder / "no_room.training")
    assert [missing.kind for missing in training.missing] == ["full"]
    assert set(kept(training)) == {"a", "f", "l"}
    assert kept(training).endswith("lll")
    assert None not in [step.loss for step in training.steps]
    assert len(training.steps) == STEPS
    comparison = compared(folder, "whole", "no_room")
    assert comparison.difference is None
    answers = {answer.question: answer.status for answer in comparison.answers}
    assert {answers[name] for name in ("data", "update", "state")} == {"same"}
    assert comparison.losses_alone[-1] == STEPS
    assert set(comparison.few).isdisjoint(comparison.losses_alone)
    assert f"–{STEPS} the losses alone were compared" in said(comparison)


@pytest.mark.torch
@pytest.mark.parametrize("other", ["whole", "long"])
def test_steps_of_which_little_is_kept_are_compared_for_it_and_that_is_said(
    other: str, folder: Path
) -> None:
    comparison = compared(folder, "long", other)
    assert comparison.difference is None
    answers = {answer.question: answer.status for answer in comparison.answers}
    assert {answers[name] for name in ("data", "given", "update", "state")} == {"same"}
    letters = kept(read_training(folder / "long.training"))
    fewer = {number for number, letter in enumerate(letters, 1) if letter == "f"}
    behind = {number + 1 for number in fewer}
    assert set(comparison.few) == fewer | behind
    assert f"compared by {FEW} elements of each tensor" in said(comparison)
    assert comparison.losses_alone == ()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "question", "reason"),
    [("momentum", "update", "rule"), ("row", "data", "values"), ("clipped", "given", "clipping")],
)
def test_the_step_from_which_two_long_trainings_differ_is_named(
    name: str, question: str, reason: str, folder: Path
) -> None:
    for sides in (("long", name), ("whole", name), (name, "long")):
        comparison = compared(folder, *sides)
        found = present(comparison.difference)
        assert (found.step, found.question, found.reason) == (OTHER, question, reason)
        assert OTHER in comparison.few
        assert max(comparison.few) == OTHER


@pytest.mark.torch
def test_a_long_training_that_is_killed_leaves_the_steps_before(folder: Path) -> None:
    training = read_training(folder / "killed.training")
    assert [step.number for step in training.steps] == [*range(1, 45)]
    assert "f" in kept(training)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
def test_a_long_training_of_mindspore_is_compared_with_that_of_pytorch(folder: Path) -> None:
    run(IN_MINDSPORE, folder)
    training = read_training(folder / "mindspore.training")
    assert len(training.steps) == STEPS
    assert "f" in kept(training)
    assert compared(folder, "long", "mindspore").difference is None
    found = present(compared(folder, "mindspore", "momentum").difference)
    assert (found.step, found.question) == (OTHER, "update")


def test_what_is_whole_at_a_low_density_is_so_at_a_higher_one() -> None:
    for density in range(DENSEST):
        numbers = {number for number in range(1, 5000) if is_whole(number, 9999, density)}
        denser = {number for number in range(1, 5000) if is_whole(number, 9999, density + 1)}
        assert numbers < denser
        assert set(range(1, 1 << (density + 1))) <= numbers
        # Half as many of twice as many steps, and never one alone.
        assert len([number for number in numbers if number >= 2048]) <= 2 ** max(density + 1, 1)
    assert is_whole(5000, 5001, 1)
    assert not is_whole(5000, 5002, 1)
    assert not is_whole(5000, 5001, 0)


def test_few_elements_are_those_at_the_same_places_of_all_that_is_recorded() -> None:
    values = np.arange(100, dtype=np.float32).reshape(10, 10)
    short = few(pack(values))
    assert short.shape == (10, 10)
    assert short.excerpt is not None
    assert short.excerpt.places == tuple(spread(np.arange(100)))
    assert short.excerpt.summary.norm == pytest.approx(np.linalg.norm(values))
    assert np.frombuffer(short.data, np.float32).tolist() == spread(values.ravel()).tolist()
    assert few(short) == short
    small = pack(values[0, :FEW])
    assert few(small) == small
    assert isinstance(few(pack(np.ones(20, bool))), Array)


def test_of_a_step_that_is_kept_in_few_no_tensor_stays_whole() -> None:
    whole = (Leaf("fc.weight", pack(np.ones(1000))),)
    batch = Batch(data=whole, gradients=whole, carried=whole, read=whole)
    names = ("gradients", "given", "weights", "buffers", "state", "averages")
    tensors: dict[str, Any] = dict.fromkeys(names, whole)
    steps = KeptSteps(1)
    steps.add(TrainingStep(number=9, batches=(batch,), **tensors))
    (step,) = steps
    assert len(bytes(step)) < len(whole[0].value.data)


def test_ranges_are_said_in_short() -> None:
    assert ranges([1, 3, 4, 5, 9]) == ["1", "3–5", "9"]
    assert ranges([]) == []
