"""Loss scaling as it is recorded: what float16 loses and scaling saves; and how lives of scalers are read."""

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
from explorer.topics.loss_scale.inputs import turn
from explorer.topics.loss_scale.questions import (
    LIMITS,
    SCALING,
    SWEEP,
    UNSCALING,
)
from explorer.topics.question import MINDSPORE_STYLES, Question
from explorer.words.messages import text
from tests.support.topics import recorded_study


def figures_of(question: Question, party: str) -> Figures:
    """What a party answered to a question."""
    return recorded_study("loss-scale")[question.measurement_name(party)].figures


# Gradients over many magnitudes


@pytest.mark.parametrize("party", SCALING)
def test_small_scales_underflow_and_large_ones_overflow_with_room_between(party: str) -> None:
    losses = figures_of(SWEEP, party)["float16"]
    underflow, overflow = losses["underflow"], losses["overflow"]
    assert underflow[0] > 0.1
    assert overflow[0] == 0
    assert underflow[-1] == 0
    assert overflow[-1] > 0.1
    assert (0, 0) in zip(underflow, overflow, strict=True)


@pytest.mark.parametrize("party", SCALING)
@pytest.mark.parametrize(("dtype", "error"), [("bfloat16", 2**-9), ("float32", 2**-24)])
def test_wide_exponents_lose_nothing_at_any_scale(party: str, dtype: str, error: float) -> None:
    losses = figures_of(SWEEP, party)[dtype]
    assert set(losses["underflow"]) | set(losses["overflow"]) == {0.0}
    assert 0 < max(losses["error"]) <= error


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


def test_mindspores_scale_stops_at_one_and_pytorchs_does_not() -> None:
    for style in MINDSPORE_STYLES:
        assert figures_of(LIMITS, style)["down"] == [8, 4, 2, 1, 1, 1, 1, 1]
    assert figures_of(LIMITS, "torch")["down"] == [8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625]


# Before a step


@pytest.mark.parametrize("party", SCALING)
def test_a_power_of_two_is_unscaled_without_error(party: str) -> None:
    errors = figures_of(UNSCALING, party)["error"]
    assert errors["1024.0"] == 0
    assert 0 < errors["1000.0"] < 2**-22


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
