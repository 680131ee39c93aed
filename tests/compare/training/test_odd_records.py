"""Records of trainings that are whole, and say what none of ours does: they are compared, and told."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.arrays import pack
from explorer.model.training import Group, Training
from explorer.recording.checks import faults
from explorer.report.training import comparison_lines, comparison_page
from tests.compare.training.conftest import Pairs

pytestmark = [pytest.mark.torch, pytest.mark.mindspore]

NUMBERS = (None, 0.0, -1.0, 1e30, float("nan"), float("inf"))

SETTINGS = (*NUMBERS, "text", (1, 2, 3), (), True)

LEAVES = ("gradients", "given", "weights", "buffers", "state", "averages")

Change = Callable[[random.Random, Any], Any]
"""Another record in the place of one."""


def changed(record: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(record, **fields)


def tensor(draw: random.Random, leaf: Any) -> Any:
    """A leaf of another name, or of other values, in another dtype and perhaps another shape."""
    shape = draw.choice([leaf.value.shape, leaf.value.shape, (), (0, 3)])
    dtype = draw.choice(["float16", "float32", "float64", "int32"])
    values = np.full(shape, draw.choice([0.0, 1.0] if dtype == "int32" else [0, np.nan, np.inf, 2]))
    if draw.random() < 0.3:
        return changed(leaf, name=f"{leaf.name}x")
    return changed(leaf, value=pack(values.astype(dtype)))


def some(draw: random.Random, records: Sequence[Any], change: Change) -> tuple[Any, ...]:
    """Records of which one is gone, twice there, or another one; or in another order, or none."""
    found = list(records)
    place = draw.randrange(len(found)) if found else 0
    match draw.choice(["gone", "twice", "another", "order", "none"]):
        case "gone":
            del found[place : place + 1]
        case "twice":
            found += found[place : place + 1]
        case "another":
            found[place : place + 1] = [change(draw, one) for one in found[place : place + 1]]
        case "order":
            draw.shuffle(found)
        case _:
            found = []
    return tuple(found)


def batch(draw: random.Random, one: Any) -> Any:
    name = draw.choice(["data", "gradients", "loss"])
    if name == "loss":
        return changed(one, loss=draw.choice(NUMBERS))
    return changed(one, **{name: some(draw, getattr(one, name), tensor)})


def group(draw: random.Random, one: Group) -> Group:
    names = draw.choice([one.names, (), (*one.names, "nowhere")])
    key = draw.choice(list(one.settings) or ["lr"])
    return Group(names, {**one.settings, key: draw.choice(SETTINGS)})


def step(draw: random.Random, one: Any) -> Any:
    name = draw.choice([*LEAVES, "batches", "groups", "scale", "norm", "skipped"])
    if name in ("batches", "groups"):
        return changed(
            one, **{name: some(draw, getattr(one, name), batch if name == "batches" else group)}
        )
    if name in LEAVES:
        return changed(one, **{name: some(draw, getattr(one, name), tensor)})
    return changed(one, **{name: not one.skipped if name == "skipped" else draw.choice(NUMBERS)})


def odd(draw: random.Random, training: Training) -> Training:
    """A training with up to three oddities."""
    for _ in range(draw.randint(1, 3)):
        match draw.choice(["steps"] * 5 + ["start", "optimizer"]):
            case "steps":
                steps = [step(draw, one) if draw.random() < 0.5 else one for one in training.steps]
                training = changed(training, steps=tuple(steps))
            case "start":
                training = changed(training, start=some(draw, training.start, tensor))
            case _:
                training = changed(training, optimizer="")
    return training


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 290), marks=pytest.mark.whole)], ids=str
)
def test_odd_records_are_compared_with_any_others(seeds: range, pairs: Pairs) -> None:
    names = sorted(pairs)
    compared = 0
    for seed in seeds:
        draw = random.Random(seed)
        training, other = pairs[draw.choice(names)]
        short = changed(training, steps=training.steps[:3], jittered=())
        sides = [odd(draw, short), draw.choice([short, other])]
        if any(next(faults(side), None) for side in sides):
            continue  # such a file is refused
        draw.shuffle(sides)
        comparison = compare(*sides)
        assert list(comparison_lines(comparison))
        assert comparison_page(comparison)
        compared += 1
    assert compared >= len(seeds) // 4
