"""Schedules: as recorded against closed forms, planted differences, how they are written, what is told."""

import math

import pytest

from explorer.numeric.differences import greatest_difference
from explorer.topics.evidence import Evidence
from explorer.topics.schedules.comparison import (
    MEASURED_BY,
    SAME,
    compare,
    compare_all,
    exports,
    uncompared,
    used_rates,
)
from explorer.topics.schedules.counterparts import (
    FAMILIES,
    FORMS,
    LR_LAMBDAS,
    STEPS,
    Family,
    call,
    form_label,
    names_in,
    parameters,
    ready,
    schedules_of,
    watched,
)
from explorer.topics.schedules.questions import BY_HAND, CELLS, EXPORTED, LISTS, PIECEWISE, TOPIC
from explorer.words.messages import text
from tests.support.tellings import column, rows_by_first, table_of, told, told_after
from tests.support.topics import World, edited, put, recorded_study, together

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


def test_each_form_of_a_schedule_follows_its_closed_form(evidence: Evidence) -> None:
    comparisons = {comparison.family.name: comparison for comparison in compare_all(evidence)}
    for family, closed_form in CLOSED_FORMS.items():
        by_form = comparisons[family].rates
        assert {"torch", "hand"} <= set(by_form)
        for form, rates in by_form.items():
            assert greatest_difference(rates, closed_form) < 1e-7, (family, form)


def test_every_exported_schedule_is_compared(evidence: Evidence) -> None:
    assert uncompared(exports(evidence)) == []


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


REFUSED = {"raised": "ValueError", "message": "no such thing"}
RATES = [1.0, 0.5, 0.25]

FORM_LABELS = {form: text(form_label(form)) for form in FORMS}

not_measured = together(
    *(
        edited(it, it.asks, lambda rates: rates.pop("polynomial", None))
        for it in (LISTS, CELLS, BY_HAND)
    )
)


def test_a_family_that_one_form_refuses_or_is_not_measured_in_has_a_verdict_too() -> None:
    refused = put(BY_HAND, ["mindspore"], "linear", value=REFUSED)
    telling = told_after("schedules", refused, not_measured)
    rows = rows_by_first(table_of(telling, "verdict"))
    assert list(rows) == [family.name for family in FAMILIES]
    assert rows["linear"][-1] == f"refused: {FORM_LABELS['hand']}"
    assert rows["polynomial"][-1] == "not compared"


def test_sequences_of_other_lengths_part_and_are_infinitely_far_apart_which_is_no_number() -> None:
    longer = {"inverse": [*RATES, 0.0]}
    telling = told(TOPIC, {(CELLS, "mindspore"): longer, (BY_HAND, "torch"): {"inverse": RATES}})
    row = rows_by_first(telling.tables[0])["inverse"]
    assert (row[-3], row[-1]) == (None, "parts")


def test_a_sequence_of_the_guide_that_is_refused_is_told() -> None:
    figures = {"rates": REFUSED, "type": "list", "deprecated": ""}
    (finding,) = told(TOPIC, {(PIECEWISE, "mindspore"): figures}).findings
    assert finding.endswith("ValueError: no such thing.")


# What is exported


def test_schedules_that_are_new_or_in_one_framework_alone_are_named() -> None:
    new = {"deprecated": "", "defaults": {}, "needs": []}
    changes = (
        put(EXPORTED, ["torch"], "torch", "NewLR", value=new),
        put(EXPORTED, ["mindspore"], "hand", "MindAloneLR", value=new),
        put(EXPORTED, ["torch"], "torch", "StepLR", "defaults", value={"last_epoch": -1, "eta": 0}),
    )
    telling = told_after("schedules", *changes)
    findings = " ".join(telling.findings)
    assert "only PyTorch has: ChainedScheduler, NewLR, OneCycleLR, SWALR." in findings
    assert "only MindSpore has: MindAloneLR." in findings
    assert f"{FORM_LABELS['hand']} MindAloneLR, {FORM_LABELS['torch']} NewLR." in findings
    rows = {row[1]: row for row in table_of(telling, "compared with").rows}
    assert rows["MindAloneLR"][2] == rows["NewLR"][2] == "none"
    of_steps = [row for row in table_of(telling, "parameter").rows if row[0] == "StepLR"]
    assert ("StepLR", "eta", "has none", "0") in of_steps


def test_without_a_deprecated_schedule_none_is_told_of() -> None:
    def none_ends(world: World) -> None:
        for forms in world[EXPORTED, "mindspore"].values():
            for schedule in forms.values():
                schedule["deprecated"] = ""

    assert not any("deprecated" in text for text in told_after("schedules", none_ends).findings)


def test_each_setting_that_was_compared_is_listed_as_it_is_typed() -> None:
    table = table_of(told(TOPIC, {}), "call")
    assert table.columns == ("family", "rate at step t", "where", "call")
    for family in FAMILIES:
        rows = [row for row in table.rows if row[0] == family.name]
        is_alike = family.schedules.get("hand") == family.schedules["torch"]
        assert len(rows) == len(family.schedules) - is_alike
        assert {row[1] for row in rows} == {text(family.rate)}
        assert (rows[-1][2] == "both, stepped by hand") == is_alike
        assert rows[-1][3] == call(family.schedules["torch"])
    labels = set(column(table, "where"))
    assert {"MindSpore list", "MindSpore Cell", "PyTorch, stepped by hand"} <= labels
