"""Schedules without a framework: planted differences, and studies without evidence."""

import math

import pytest

from explorer.topics.schedules.comparison import (
    MEASURED_BY,
    SAME,
    compare,
    used_rates,
)
from explorer.topics.schedules.counterparts import (
    FAMILIES,
    LR_LAMBDAS,
    Family,
    call,
    names_in,
    parameters,
    ready,
    schedules_of,
    watched,
)

PLANTED = Family("planted", "", {"list": ("a", {}), "torch": ("B", {})})


def test_a_planted_difference_is_found_with_its_step() -> None:
    figures = {"list": {"planted": [0.1, 0.1, 0.1001]}, "torch": {"planted": [0.1] * 3}}
    comparison = compare(PLANTED, figures)
    assert comparison.first_different_step == 2
    assert comparison.difference == pytest.approx(1e-3)
    assert not comparison.same


@pytest.mark.parametrize(("share", "same"), [(0.9 * SAME, True), (1.1 * SAME, False)])
def test_rates_are_the_same_up_to_a_share_of_the_greatest(share: float, same: bool) -> None:
    figures = {"list": {"planted": [8.0, 4.0 + 8 * share]}, "torch": {"planted": [8.0, 4.0]}}
    assert compare(PLANTED, figures).same == same


def test_a_refusal_or_a_missing_form_leaves_nothing_to_compare() -> None:
    refusal = {"raised": "ValueError", "message": "no"}
    comparison = compare(PLANTED, {"list": {"planted": refusal}, "torch": {"planted": [0.1]}})
    assert comparison.refused == {"list": "ValueError: no"}
    assert comparison.difference is None
    assert compare(PLANTED, {"list": {}, "torch": {}}).rates == {}


def test_every_form_has_schedules_and_each_function_of_the_table_is_there() -> None:
    for form in MEASURED_BY:
        assert schedules_of(form)
    named = set()
    for family in FAMILIES:
        for _, settings in family.schedules.values():
            named.add(settings.get("lr_lambda"))
    assert named - {None} == set(LR_LAMBDAS)


def test_a_schedule_is_written_as_it_is_typed_with_the_schedules_inside_it() -> None:
    inner = [("ConstantLR", {"factor": 0.5}), ("ExponentialLR", {"gamma": math.exp(-0.5)})]
    schedule = ("SequentialLR", {"schedulers": inner, "milestones": [5]})
    assert call(schedule) == (
        "SequentialLR(schedulers=[ConstantLR(factor=0.5), ExponentialLR(gamma=0.606531)],"
        " milestones=[5])"
    )
    assert names_in(schedule) == {"SequentialLR", "ConstantLR", "ExponentialLR"}


def test_settings_are_made_ready_with_functions_and_inner_schedules() -> None:
    built = ready({"schedulers": [["A", {"gamma": 1}]]}, lambda name, settings: (name, settings))
    assert built == {"schedulers": [("A", {"gamma": 1})]}
    (factor,) = ready({"lr_lambda": "nine_tenths"}, lambda name, settings: None).values()
    assert factor(7) == 0.9
    assert watched("ReduceLROnPlateau") == (1.0,)
    assert watched("StepLR") == ()


def test_parameters_are_told_apart_by_their_defaults() -> None:
    def schedule(optimizer: object, gamma: float, last_epoch: int = -1) -> None: ...

    assert parameters(schedule) == {"defaults": {"last_epoch": -1}, "needs": ["gamma"]}


def test_rates_used_are_a_list_or_beside_the_rates_that_were_told() -> None:
    assert used_rates([0.1, 0.09]) == [0.1, 0.09]
    assert used_rates({"used": [0.1], "said": [0.09]}) == [0.1]
    assert used_rates({"raised": "RuntimeError", "message": "too short"}) is None
