"""The weight at the end of a scaler's life: what steps along unscaled gradients leave of it."""

import numpy as np
import pytest

from explorer.topics.loss_scale import inputs
from explorer.topics.loss_scale.questions import LIFE
from explorer.topics.question import Target
from explorer.workers.workers import Workers
from tests.support.topics import measured_once

RATE = 0.125
"""The learning rate of the one weight, which starts from 1."""


def weight_by_the_rules() -> float:
    """The start less the rate times each batch's slope whose step was not skipped.

    All of it is exact: slopes, scales and the rate are powers of two.
    """
    weight, scale, finite_in_a_row = 1.0, inputs.INITIAL, 0
    for slope in inputs.BATCHES:
        if scale * slope > np.finfo(np.float16).max:
            scale, finite_in_a_row = scale / inputs.FACTOR, 0
            continue
        weight -= RATE * slope
        finite_in_a_row += 1
        if finite_in_a_row == inputs.WINDOW:
            scale, finite_in_a_row = scale * inputs.FACTOR, 0
    return weight


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize(
    "party", [pytest.param("mindspore-graph", marks=pytest.mark.whole), "mindspore-tape", "torch"]
)
def test_a_scaled_life_ends_at_the_weight_of_plain_steps(workers: Workers, party: str) -> None:
    measured = measured_once(workers, LIFE.by(party).measurements(Target()))
    figures = measured[LIFE.measurement_name(party)].figures
    assert figures["weight"] == weight_by_the_rules()


def test_the_rules_skip_some_steps_and_take_others() -> None:
    everything = 1.0 - RATE * sum(inputs.BATCHES)
    assert everything < weight_by_the_rules() < 1.0
