"""How lives of scalers are read, and what is said of those who agree."""

from typing import Any

import msgspec
import numpy as np
import pytest

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
    SCALING,
)
from explorer.topics.question import MINDSPORE_STYLES
from explorer.words.messages import text

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
