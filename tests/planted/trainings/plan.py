"""What a small training does, for both frameworks; a mistake is a plan that says something else."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Leaf
from explorer.model.trace import Start
from explorer.model.training import Drift, Group, Training, TrainingStep

Arrays = dict[str, AnyArray]

INPUTS, HIDDEN, CLASSES, ROWS = 6, 8, 3, 12
TRAINED = ("fc1.weight", "fc1.bias", "norm.weight", "norm.bias", "fc2.weight", "fc2.bias")
BUFFERS = ("norm.running_mean", "norm.running_var")


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training of a net of two layers with batch normalisation between them.

    ``optimizer`` is the class's name in its module ("SGD", in MindSpore "nn.SGD"), ``settings`` are its
    arguments but for the rate. ``rates`` has the rate of each step, of which the last is kept.
    ``undecayed`` parameters get no weight decay. ``passes`` are the numbers of rows of the passes that a
    step is made of, whose gradients are averaged by "rows" or "plain".
    """

    framework: Literal["torch", "mindspore"] = "torch"
    optimizer: str = "SGD"
    settings: dict[str, Any] = {}
    rates: tuple[float, ...] = (0.05,)
    steps: int = 6
    seed: int = 0
    undecayed: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    passes: tuple[int, ...] = (ROWS,)
    averaged: Literal["rows", "plain", "sum"] = "rows"
    reduction: Literal["mean", "sum"] = "mean"
    order: Literal["", "rows", "batches"] = ""
    stretch: float = 1.0
    norm_momentum: float = 0.1
    norm_eps: float = 1e-5
    keeps_gradients: bool = False
    scale: float | None = None
    unscales: bool = True
    overflows_at: int = 0
    skips: bool = True
    clip: Literal["", "norm", "norm_before_unscale", "value", "norm_each"] = ""
    limit: float = 0.5
    average: float = 0.0
    jitter: int = 2

    def rate(self, step: int) -> float:
        return self.rates[min(step, len(self.rates)) - 1]


def start_of(plan: Plan) -> Arrays:
    draws = np.random.default_rng(plan.seed + 100)
    return {
        "fc1.weight": draws.normal(0, 0.5, (HIDDEN, INPUTS)).astype(np.float32),
        "fc1.bias": draws.normal(0, 0.3, HIDDEN).astype(np.float32),
        "norm.weight": draws.uniform(0.5, 1.5, HIDDEN).astype(np.float32),
        "norm.bias": draws.normal(0, 0.3, HIDDEN).astype(np.float32),
        "fc2.weight": draws.normal(0, 0.5, (CLASSES, HIDDEN)).astype(np.float32),
        "fc2.bias": draws.normal(0, 0.3, CLASSES).astype(np.float32),
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
    draws = np.random.default_rng(plan.seed)
    batches = []
    for _step in range(plan.steps):
        x = (draws.normal(0.3, 1, (ROWS, INPUTS)) * plan.stretch).astype(np.float32)
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


def parts_of(plan: Plan, x: AnyArray, y: AnyArray) -> list[tuple[AnyArray, AnyArray, float]]:
    """The passes of a step: inputs, targets, and the weight of its gradient."""
    parts, first = [], 0
    for rows in plan.passes:
        part = slice(first, first + rows)
        weights = {"rows": rows / ROWS, "plain": 1 / len(plan.passes), "sum": 1.0}
        parts.append((x[part], y[part], weights[plan.averaged]))
        first += rows
    return parts


def leaves(arrays: Arrays) -> tuple[Leaf, ...]:
    return tuple(Leaf(name, pack(array)) for name, array in arrays.items())


def starts(plan: Plan, start: Arrays) -> tuple[Start, ...]:
    return tuple(
        Start(
            name,
            "buffer" if name in BUFFERS else "parameter",
            pack(array),
            trained=name in TRAINED and name not in plan.frozen,
        )
        for name, array in start.items()
    )


def groups_of(plan: Plan, rate: float, settings: dict[str, Any]) -> tuple[Group, ...]:
    trained = [name for name in TRAINED if name not in plan.frozen]
    plain = tuple(name for name in trained if name in plan.undecayed)
    decayed = tuple(name for name in trained if name not in plan.undecayed)
    groups = [Group(decayed, {**settings, "lr": rate})]
    if plain:
        groups.append(Group(plain, {**settings, "lr": rate, "weight_decay": 0.0}))
    return tuple(groups)


def values(items: tuple[Leaf, ...]) -> Arrays:
    return {
        item.name: np.frombuffer(item.value.data, item.value.dtype).astype(np.float64)
        for item in items
    }


def with_drift(plan: Plan, run: Callable[[Plan, Arrays], Training]) -> Training:
    """The record of a training, with how far those lie from it whose start is moved by rounding."""
    start = start_of(plan)
    training = run(plan, start)
    drifts = [_drift(training, run(plan, jittered(start, 1 + n))) for n in range(plan.jitter)]
    return msgspec.structs.replace(training, jittered=tuple(drifts))


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
