"""Files of trainings are data, as traces are: read as written, or refused in one line."""

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.model.arrays import Array, pack
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Start
from explorer.model.training import Batch, Drift, Group, Training, TrainingStep
from explorer.recording.files import (
    TRACE,
    TRAINING,
    TraceError,
    append_step,
    decoded,
    encoded,
    form_of,
    read_training,
    write_training,
)
from tests.recording.test_trace_files import MUTANTS, f32, mutated, outcome, sample, signed
from tests.support.recorded_files import loaded_training


def step(number: int, *, shape: tuple[int, ...] = (2,)) -> TrainingStep:
    value = pack(f32(*range(shape[0])))
    weight = (Leaf("fc.weight", value),)
    return TrainingStep(
        number=number,
        batches=(Batch((Leaf("x", value),), 0.5),),
        scale=256.0,
        gradients=weight,
        norm=1.0,
        given=weight,
        groups=(Group(("fc.weight",), {"lr": 0.1, "betas": (0.9, 0.999)}),),
        weights=weight,
        state=(Leaf("fc.weight.exp_avg", value),),
        random={"torch": "ab"},
        graph=sample().graph if number == 1 else None,
    )


def training(*steps: TrainingStep, **changes: Any) -> Training:
    """A small training with each kind of field filled."""
    plain = Training(
        name="run",
        framework="torch",
        engine="torch-tape",
        optimizer="torch.optim.adam.Adam",
        versions={"torch": "2.13.0"},
        start=(Start("fc.weight", "parameter", pack(f32(1, 2))),),
        steps=steps or (step(1), step(2)),
        jittered=(Drift((0.0, 1e-7), {"fc.weight": (0.0, 1e-7)}),),
        missing=(Missing("memory", "1"),),
    )
    return msgspec.structs.replace(plain, **changes)


@pytest.mark.slow
def test_a_training_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "run.training"
    write_training(path, training())
    assert read_training(path) == training()
    assert form_of(path) is TRAINING
    loaded = loaded_training(path)
    assert loaded.losses == {1: 0.5, 2: 0.5}
    assert "torch.optim.adam.Adam" in str(loaded)
    difference = loaded.diff(loaded)
    assert difference.is_same
    assert "no difference" in str(difference)
    assert difference.html().startswith("<!DOCTYPE html>")


def test_what_a_file_is_is_read_from_its_first_bytes_and_else_from_its_name(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    write_training(path, training())
    assert form_of(path) is TRAINING
    assert form_of(tmp_path / "missing.trace") is TRACE
    assert form_of(tmp_path / "net.py") is None


def test_a_trace_is_not_read_as_a_training() -> None:
    with pytest.raises(TraceError, match="it is not a training record"):
        decoded(encoded(sample()), TRAINING)


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        (training(step(2), step(1)), "numbered upwards"),
        (training(step(0), step(1)), "numbered upwards"),
        (training(step(1)), "a drift that has not 1 steps"),
        (training(step(1), step(2, shape=(3,))), "'fc.weight' of two shapes"),
        (training(engine="../x"), "engine"),
        (training(name="a" * 20_000), "20000 characters"),
        (training(schema=2), "schema 2"),
        (training(start=(Start("b", "buffer", Array((1 << 40,), "int8", b"")),)), "0 bytes"),
    ],
)
def test_what_does_not_fit_together_is_refused(recorded: Training, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        decoded(signed(msgspec.msgpack.encode(recorded), TRAINING), TRAINING)


def test_steps_that_were_added_are_read_as_far_as_they_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.training"
    steps = [step(number) for number in (1, 2, 3)]
    write_training(path, training(steps[0], jittered=()))
    sizes = []
    for more in steps[1:]:
        append_step(path, msgspec.msgpack.encode(more))
        sizes.append(path.stat().st_size)
    content = path.read_bytes()
    assert read_training(path) == training(*steps, jittered=())
    for cut in (content[:-1], content[: sizes[0] + 5]):
        assert decoded(cut, TRAINING).steps == tuple(steps[:2])
    with pytest.raises(TraceError, match="its digest differs"):
        decoded(content[:-1] + b"?", TRAINING)
    append_step(path, msgspec.msgpack.encode(steps[2]))
    with pytest.raises(TraceError, match="numbered upwards"):
        read_training(path)


def test_a_number_of_bytes_that_is_no_number_is_that_of_no_step() -> None:
    content, endless = encoded(training()), b"9" * 5000
    assert decoded(content + b"digest " + endless + b"\nx", TRAINING) == training()
    head, _newline, body = content.partition(b"\n")
    with pytest.raises(TraceError, match="it is not a training record"):
        decoded(head + endless + b"\n" + body, TRAINING)


def test_2000_mutated_files_are_refused_in_a_line_or_read() -> None:
    chance = random.Random(38)
    body = msgspec.msgpack.encode(training())
    files = [signed(mutated(body, chance), TRAINING) for _ in range(MUTANTS)]
    refusals = [outcome(file, TRAINING)[1] for file in files]
    assert "\n" not in "".join(refusals)
    assert 20 < refusals.count("") < MUTANTS / 2
