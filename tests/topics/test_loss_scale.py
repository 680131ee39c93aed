"""Lives of scalers: how they are read, what is told of them, and the weight that they end at."""

from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.topics.loss_scale import inputs
from explorer.topics.loss_scale.figures import (
    FRAMEWORK_NAMES,
    SCALER_NAMES,
    Turn,
    counts,
    same_scales,
)
from explorer.topics.loss_scale.findings import is_finite
from explorer.topics.loss_scale.inputs import BATCHES, FACTOR, turn
from explorer.topics.loss_scale.questions import FINITENESS, LIFE, SCALING, TOPIC
from explorer.topics.question import MINDSPORE_STYLES, Target
from explorer.words.messages import text
from explorer.workers.workers import Workers
from tests.support.tellings import Answers, rows_by_first, table_of, told
from tests.support.topics import measured_once

# Dynamic scalers


def as_turns(figures: list[dict[str, Any]]) -> tuple[Turn, ...]:
    """The figures of a life as findings and claims read them."""
    return msgspec.convert(figures, tuple[Turn, ...])


def test_a_missed_skip_and_an_early_growth_are_counted() -> None:
    missed = turn(8.0, 4.0, finite=False, stepped=True)
    early = turn(4.0, 8.0, finite=True, stepped=True)
    happened = counts(as_turns([missed, early]))
    assert (happened.overflows, happened.skipped) == (1, 0)
    assert (happened.grown, happened.on_time) == (1, 0)


def test_scales_are_the_same_where_every_scaler_has_the_same() -> None:
    steady = [turn(8.0, 8.0, finite=True, stepped=True)] * 3
    grown = [*steady[:2], turn(16.0, 16.0, finite=True, stepped=True)]
    assert same_scales([as_turns(steady), as_turns(steady)]) == 3
    assert same_scales([as_turns(steady), as_turns(grown)]) == 2


# Before a step


def test_cases_are_finite_by_what_is_in_them() -> None:
    for name, gradients in inputs.FINITE_CASES.items():
        values = np.concatenate(gradients)
        assert is_finite(f"{name}, float16") == np.isfinite(values).all()


# The findings


@pytest.mark.parametrize(
    ("parties", "framework", "scaler"),
    [
        (SCALING, "both frameworks", "DynamicLossScaler and GradScaler"),
        (MINDSPORE_STYLES, "MindSpore", "DynamicLossScaler"),
        (("torch",), "PyTorch", "GradScaler"),
        (
            ("mindspore-tape", "torch"),
            "MindSpore, tape and PyTorch",
            "DynamicLossScaler, tape and GradScaler",
        ),
    ],
)
def test_those_who_agree_have_one_name(
    parties: tuple[str, ...], framework: str, scaler: str
) -> None:
    assert text(FRAMEWORK_NAMES.of(parties)) == framework
    assert text(SCALER_NAMES.of(parties)) == scaler


def test_a_scale_that_grows_before_a_new_window_is_over_grows_early() -> None:
    waiting = [turn(8.0, 8.0, finite=True, stepped=True)] * (inputs.WINDOW - 1)
    growing = []
    for power in range(3):
        scale = 8.0 * 2**power
        growing.append(turn(scale, 2 * scale, finite=True, stepped=True))
    happened = counts(as_turns([*waiting, *growing]))
    assert (happened.grown, happened.on_time) == (3, 1)


REFUSED = {"raised": "ValueError", "message": "no such thing."}
GRAPH, TAPE = "mindspore-graph", "mindspore-tape"


def life(first_scale: float) -> Figures:
    """One overflow that halves the scale, then steps at one scale."""
    turns = [turn(first_scale, first_scale / FACTOR, False, False)]
    scale = first_scale / FACTOR
    turns += [turn(scale, scale, True, True) for _ in BATCHES[1:]]
    return {"turns": turns}


def test_lives_that_differ_have_their_own_columns() -> None:
    telling = told(
        TOPIC, {(LIFE, GRAPH): life(8.0), (LIFE, TAPE): life(16.0), (LIFE, "torch"): life(8.0)}
    )
    assert len(table_of(telling, "gradient").columns) == 2 + 3 * 3
    assert f"at 0 of {len(BATCHES)} steps" in telling.findings[-1]
    (alone,) = told(TOPIC, {(LIFE, "torch"): life(8.0)}).findings
    assert "same scale" not in alone


def test_a_check_that_is_wrong_or_refuses_is_told() -> None:
    right: dict[str, Any] = {"zeros": True, "inf": False, "nan": False}
    wrong = {**right, "nan": True}
    refusing = {**right, "inf": REFUSED, "nan": REFUSED}
    answers: Answers = {
        (FINITENESS, GRAPH): right,
        (FINITENESS, TAPE): wrong,
        (FINITENESS, "torch"): refusing,
    }
    telling = told(TOPIC, answers)
    of_tape, of_torch = telling.findings
    assert "is wrong about nan (" in of_tape
    assert "refuses 2 of 3 pairs" in of_torch
    assert of_torch.endswith("ValueError: no such thing.")
    rows = rows_by_first(table_of(telling, "gradients"))
    assert list(rows) == ["inf", "nan", "zeros"]
    assert rows["nan"] == (False, True, "ValueError: no such thing.")
    assert rows["zeros"] == (True, True, True)
    alone = told(TOPIC, {(FINITENESS, TAPE): wrong})
    assert rows_by_first(table_of(alone, "gradients"))["zeros"] == ("-", True, "-")


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
