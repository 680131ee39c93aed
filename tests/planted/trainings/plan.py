"""What a small training does, and its record; a mistake is a plan that says something else."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.results import Leaf
from explorer.model.training import Drift, Training, TrainingStep
from explorer.recording.files import read_training
from explorer.recording.trainings import Due, TrainingSteps

Arrays = dict[str, AnyArray]

INPUTS, HIDDEN, CLASSES, ROWS = 6, 8, 3, 12
TRAINED = ("fc1.weight", "fc1.bias", "norm.weight", "norm.bias", "fc2.weight", "fc2.bias")


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training of a net of two layers with batch normalisation between them.

    ``optimizer`` is the class's name in its module ("SGD", in MindSpore "nn.SGD"), ``settings`` are its
    arguments but for the rate. ``rates`` has the rate of each step, of which the last is kept. In PyTorch
    ``undecayed`` parameters get no weight decay. What takes more than one optimizer and one pass is in the
    programs of ``programs/``.
    """

    framework: Literal["torch", "mindspore"] = "torch"
    optimizer: str = "SGD"
    settings: dict[str, Any] = {}
    rates: tuple[float, ...] = (0.05,)
    steps: int = 6
    undecayed: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    order: Literal["", "rows", "batches"] = ""
    jitter: int = 2

    def rate(self, step: int) -> float:
        return self.rates[min(step, len(self.rates)) - 1]


_DRAWS = np.random.default_rng(100)

START: Arrays = {
    "fc1.weight": _DRAWS.normal(0, 0.5, (HIDDEN, INPUTS)).astype(np.float32),
    "fc1.bias": _DRAWS.normal(0, 0.3, HIDDEN).astype(np.float32),
    "norm.weight": _DRAWS.uniform(0.5, 1.5, HIDDEN).astype(np.float32),
    "norm.bias": _DRAWS.normal(0, 0.3, HIDDEN).astype(np.float32),
    "fc2.weight": _DRAWS.normal(0, 0.5, (CLASSES, HIDDEN)).astype(np.float32),
    "fc2.bias": _DRAWS.normal(0, 0.3, CLASSES).astype(np.float32),
    "norm.running_mean": np.zeros(HIDDEN, np.float32),
    "norm.running_var": np.ones(HIDDEN, np.float32),
}


def jittered(start: Arrays, seed: int) -> Arrays:
    """A start whose weights are moved by rounding alone."""
    draws = np.random.default_rng(seed)
    moved = dict(start)
    for name in TRAINED:
        signs = draws.choice((-1.0, 1.0), start[name].shape)
        moved[name] = (start[name] * (1 + signs * 2.0**-24)).astype(np.float32)
    return moved


def batches_of(plan: Plan) -> list[tuple[AnyArray, AnyArray]]:
    """The inputs and targets of every step."""
    draws = np.random.default_rng(0)
    batches = []
    for _step in range(plan.steps):
        x = draws.normal(0.3, 1, (ROWS, INPUTS)).astype(np.float32)
        y = draws.normal(0, 1, (ROWS, CLASSES)).astype(np.float32)
        batches.append((x, y))
    shuffle = np.random.default_rng(7)
    if plan.order == "batches":
        return [batches[place] for place in (0, 1, 4, 3, 2, *range(5, plan.steps))]
    if plan.order == "rows":
        return [
            (x[places], y[places]) for x, y in batches for places in [shuffle.permutation(ROWS)]
        ]
    return batches


def values(items: tuple[Leaf, ...]) -> Arrays:
    return {
        item.name: np.frombuffer(item.value.data, item.value.dtype).astype(np.float64)
        for item in items
    }


Prepared = Callable[[Plan, Arrays], tuple[Any, Callable[[int, AnyArray, AnyArray], None]]]
"""Gives the net of a plan with a start, and what makes a step of its training."""


def trained(plan: Plan, prepared: Prepared) -> Training:
    """The record of a training, with how far those lie from it whose start is moved by rounding."""
    training = _recorded(plan, prepared, START)
    drifts = [
        _drift(training, _recorded(plan, prepared, jittered(START, 1 + n)))
        for n in range(plan.jitter)
    ]
    return msgspec.structs.replace(training, jittered=tuple(drifts))


def _recorded(plan: Plan, prepared: Prepared, start: Arrays) -> Training:
    net, step = prepared(plan, start)
    with TemporaryDirectory() as folder:
        recorder = TrainingSteps(Path(folder), {"model": net}, Due(every=0, first=0))
        for number, (x, y) in enumerate(batches_of(plan), 1):
            with recorder.step():
                step(number, x, y)
        recorder.write()
        training = read_training(recorder.path)
    assert not training.missing, (plan, training.missing)
    return msgspec.structs.replace(training, name=plan.framework)


def _drift(plain: Training, moved: Training) -> Drift:
    """How far one run lies from another, step by step."""
    losses = tuple(
        abs(_loss(one) - _loss(other)) for one, other in zip(plain.steps, moved.steps, strict=True)
    )
    fields = ("weights", "gradients", "buffers")
    return Drift(losses, **{field: _apart(plain, moved, field) for field in fields})


def _loss(step: TrainingStep) -> float:
    return sum(batch.loss or 0.0 for batch in step.batches)


def _apart(plain: Training, moved: Training, field: str) -> dict[str, tuple[float, ...]]:
    apart: dict[str, list[float]] = {}
    for one, other in zip(plain.steps, moved.steps, strict=True):
        there = values(getattr(other, field))
        for name, array in values(getattr(one, field)).items():
            with np.errstate(invalid="ignore"):
                apart.setdefault(name, []).append(float(np.linalg.norm(array - there[name])))
    return {name: tuple(norms) for name, norms in apart.items()}
