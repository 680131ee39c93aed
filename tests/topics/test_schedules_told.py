"""What is told of schedules, where every figure is known."""

from typing import Any

import pytest

from explorer.topics.schedules.counterparts import FAMILIES, FORMS, call, form_label
from explorer.topics.schedules.questions import (
    BY_HAND,
    CELLS,
    EXPORTED,
    LISTS,
    PIECEWISE,
    TOPIC,
)
from explorer.words.messages import text
from tests.support.tellings import column, rows_by_first, table_of, told, told_after
from tests.support.topics import World, put

REFUSED = {"raised": "ValueError", "message": "no such thing"}
RATES = [1.0, 0.5, 0.25]

FORM_LABELS = {form: text(form_label(form)) for form in FORMS}


def not_measured(world: World) -> None:
    for party in ("mindspore", "torch"):
        for question in (LISTS, CELLS, BY_HAND):
            if party in question.asks:
                world[question, party].pop("polynomial", None)


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


@pytest.mark.parametrize(
    ("rates", "outcome"), [([0.1, 0.05], "[0.1, 0.05]."), (REFUSED, "ValueError: no such thing.")]
)
def test_the_guide_s_sequence_is_told(rates: Any, outcome: str) -> None:
    figures = {"rates": rates, "type": "list", "deprecated": ""}
    (finding,) = told(TOPIC, {(PIECEWISE, "mindspore"): figures}).findings
    assert finding.endswith(outcome)


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
