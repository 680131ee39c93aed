"""Random generators are a reason for another loss where a training draws from them."""

import numpy as np
import pytest

from explorer.compare.training.comparison import compare
from explorer.model.arrays import pack
from explorer.model.results import Leaf
from explorer.model.trace import Start
from explorer.model.training import Batch, Drift, Training, TrainingStep

WEIGHT = pack(np.ones(3, np.float32))


def training(losses: tuple[float, ...], generator: str, states: tuple[str, ...]) -> Training:
    steps = []
    for number, (loss, state) in enumerate(zip(losses, states, strict=True), 1):
        leaves = (Leaf("w", WEIGHT),)
        batch = Batch((Leaf("x", WEIGHT),), loss)
        random = {generator: state, "other": "same"}
        steps.append(TrainingStep(number=number, batches=(batch,), weights=leaves, random=random))
    return Training(
        name=generator,
        framework="torch",
        engine="torch-tape",
        start=(Start("w", "parameter", WEIGHT, trained=True),),
        steps=tuple(steps),
        jittered=(Drift((0.0, 1e-6), {"w": (0.0, 0.0)}),),
    )


@pytest.mark.parametrize(
    ("states", "others", "reason"),
    [
        (("a", "b"), ("a", "c"), "random"),  # drawn from, and in another state at the second step
        (("a", "b"), ("c", "d"), "random"),
        (("a", "a"), ("c", "c"), "values"),  # seeded otherwise, and drawn from by neither
        (("a", "b"), ("a", "b"), "values"),
    ],
)
def test_a_generator_that_nothing_is_drawn_from_explains_nothing(
    states: tuple[str, ...], others: tuple[str, ...], reason: str
) -> None:
    left = training((1.0, 0.5), "torch", states)
    right = training((1.0, 0.6), "torch", others)
    difference = compare(left, right).difference
    assert difference is not None
    assert (difference.question, difference.step, difference.reason) == ("loss", 2, reason)
