"""Schedules as they are recorded, against closed forms and each other."""

import math

import pytest

from explorer.numeric.differences import greatest_difference
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.comparison import FamilyComparison, compare_all, exports, uncompared
from explorer.topics.schedules.counterparts import STEPS
from tests.support.topics import recorded_study

CLOSED_FORMS = {
    "exponential": [0.1 * 0.9**step for step in range(STEPS)],
    "exponential in stairs": [0.1 * 0.5 ** (step // 5) for step in range(STEPS)],
    "natural exponential": [0.1 * math.exp(-0.5 * step) for step in range(STEPS)],
    "inverse": [0.1 / (1 + 0.5 * step) for step in range(STEPS)],
    "polynomial": [0.1 * max(1 - step / 10, 0) ** 2 for step in range(STEPS)],
    "warm-up": [0.02 * min(step, 5) for step in range(STEPS)],
    "piecewise constant": [0.1] * 5 + [0.05] * 5 + [0.025] * 10,
    "linear": [0.1 / 3 + (0.1 - 0.1 / 3) * min(step, 5) / 5 for step in range(STEPS)],
}


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """What is recorded of the study."""
    return Evidence(recorded_study("schedules"))


@pytest.fixture(scope="module")
def comparisons(evidence: Evidence) -> dict[str, FamilyComparison]:
    """The comparison of every family, by its name."""
    return {comparison.family.name: comparison for comparison in compare_all(evidence)}


@pytest.mark.parametrize("family", sorted(CLOSED_FORMS))
def test_each_form_of_a_schedule_follows_its_closed_form(
    comparisons: dict[str, FamilyComparison], family: str
) -> None:
    by_form = comparisons[family].rates
    assert {"torch", "hand"} <= set(by_form)
    for form, rates in by_form.items():
        assert greatest_difference(rates, CLOSED_FORMS[family]) < 1e-7, form


def test_every_exported_schedule_is_compared(evidence: Evidence) -> None:
    assert uncompared(exports(evidence)) == []
