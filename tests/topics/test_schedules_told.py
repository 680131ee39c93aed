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
    USED,
)
from explorer.words.messages import text
from tests.support.tellings import Answers, column, rows_by_first, table_of, told

REFUSED = {"raised": "ValueError", "message": "no such thing"}
RATES = [1.0, 0.5, 0.25]

FORM_LABELS = {form: text(form_label(form)) for form in FORMS}
FAMILY = {family.name: family for family in FAMILIES}

COMPARED: Answers = {
    (LISTS, "mindspore"): {"exponential": RATES, "cosine": [1.0, 0.5, 0.75]},
    (CELLS, "mindspore"): {"exponential": RATES, "cosine": RATES, "inverse": RATES},
    (BY_HAND, "mindspore"): {"warm-up from 0 by LinearLR": REFUSED, "linear": REFUSED},
    (BY_HAND, "torch"): {
        "exponential": RATES,
        "cosine": RATES,
        "inverse": RATES,
        "linear": RATES,
        "chained": RATES,
        "warm-up from 0 by LinearLR": REFUSED,
    },
}


def test_pairs_that_part_are_told_with_the_first_step_that_differs() -> None:
    findings = told(TOPIC, COMPARED).findings
    assert findings[0].startswith("2 of 3 pairs of schedules")
    assert "0.0e+00" in findings[0]
    parting = call(FAMILY["cosine"].schedules["torch"])
    assert findings[1] == (
        "The rates of cosine part at step 2: cosine_decay_lr 0.75 (MindSpore);"
        f" {parting} 0.25 (PyTorch)."
    )
    assert findings[2].endswith(" for: inverse.")
    refused = [finding for finding in findings if finding.endswith("ValueError: no such thing.")]
    assert len(refused) == 3
    assert sum(finding.startswith(FORM_LABELS["torch"]) for finding in refused) == 1


def test_every_family_has_a_verdict() -> None:
    table = table_of(told(TOPIC, COMPARED), "verdict")
    assert table.columns == (
        "family",
        "MindSpore by itself",
        "MindSpore stepped",
        "PyTorch stepped",
        "difference",
        "parts at",
        "verdict",
    )
    rows = rows_by_first(table)
    assert list(rows) == [family.name for family in FAMILIES]
    assert rows["exponential"][-3:] == (0.0, None, "same")
    assert rows["cosine"][-3:] == (0.5, 2, "parts")
    assert rows["inverse"][-1] == "same, by a function of your own"
    assert rows["chained"][-1] == "PyTorch alone"
    assert rows["linear"][-1] == f"refused: {FORM_LABELS['hand']}"
    both = f"refused: {FORM_LABELS['hand']}, {FORM_LABELS['torch']}"
    assert rows["warm-up from 0 by LinearLR"][-1] == both
    assert rows["polynomial"][-1] == "not compared"
    assert rows["exponential"][:2] == ("exponential_decay_lr, ExponentialDecayLR", "ExponentialLR")
    assert rows["linear"][0] == "-"
    # Sequences of other lengths are infinitely far apart, which is no number of JSON's.
    longer = {**COMPARED, (CELLS, "mindspore"): {"inverse": [*RATES, 0.0]}}
    row = rows_by_first(told(TOPIC, longer).tables[0])["inverse"]
    assert (row[-3], row[-1]) == (None, "parts")


# Who moves a schedule on


def used() -> Answers:
    return {
        (USED, "mindspore"): {"moving": [0.1, 0.05, 0.025], "still": [0.1, 0.1000000001, 0.1]},
        (USED, "torch"): {
            "stepped": {"used": [0.1, 0.0123456, 0.01], "said": [0.05, 0.025, 0.0]},
            "odd": REFUSED,
        },
    }


def test_rates_that_move_are_told_from_those_that_stay() -> None:
    assert told(TOPIC, used()).findings == (
        "MindSpore, moving: the rate moves at every update (0.1, 0.05, 0.025).",
        "MindSpore, still: the rate stays (0.1, 0.1, 0.1).",
        "PyTorch, stepped: the rate moves at every update (0.1, 0.01235, 0.01).",
        "PyTorch, odd: ValueError: no such thing.",
    )


def test_rates_that_were_used_stand_update_by_update() -> None:
    table = table_of(told(TOPIC, used()), "update 1")
    assert table.columns == ("framework", "way", "update 1", "update 2", "update 3")
    assert table.rows == (
        ("MindSpore", "moving", 0.1, 0.05, 0.025),
        ("MindSpore", "still", 0.1, 0.1000000001, 0.1),
        ("PyTorch", "stepped", 0.1, 0.0123456, 0.01),
        ("PyTorch", "stepped: get_last_lr() after it", 0.05, 0.025, 0.0),
        ("PyTorch", "odd", "ValueError: no such thing", None, None),
    )


@pytest.mark.parametrize(
    ("rates", "outcome"), [([0.1, 0.05], "[0.1, 0.05]."), (REFUSED, "ValueError: no such thing.")]
)
def test_the_guide_s_sequence_is_told(rates: Any, outcome: str) -> None:
    figures = {"rates": rates, "type": "list", "deprecated": ""}
    (finding,) = told(TOPIC, {(PIECEWISE, "mindspore"): figures}).findings
    assert finding.endswith(outcome)


# What is exported


def exported(deprecated: str = "", **defaults: Any) -> dict[str, Any]:
    return {"deprecated": deprecated, "defaults": defaults, "needs": []}


EXPORTS: Answers = {
    (EXPORTED, "mindspore"): {
        "list": {"cosine_decay_lr": exported("Ends soon.")},
        "cell": {"CosineDecayLR": exported()},
        "hand": {
            "CosineAnnealingLR": exported(eta_min=0.0, flag=1),
            "MindAloneLR": exported(),
        },
        "callback": {"LearningRateScheduler": exported()},
    },
    (EXPORTED, "torch"): {
        "torch": {
            "CosineAnnealingLR": exported(eta_min=0, last_epoch=-1, flag=True),
            "LambdaLR": exported(),
            "NewLR": exported(),
        }
    },
}


def test_exported_schedules_are_counted_and_those_of_one_framework_named() -> None:
    findings = told(TOPIC, EXPORTS).findings
    counts = {"list": 1, "cell": 1, "hand": 2, "callback": 1, "torch": 3}
    for form, count in counts.items():
        assert f"{count} × {FORM_LABELS[form]}" in findings[0]
    assert findings[1].endswith("only PyTorch has: LambdaLR, NewLR.")
    assert findings[2].endswith("only MindSpore has: MindAloneLR.")
    assert f"1 of 1 × {FORM_LABELS['list']}, 0 of 1 × {FORM_LABELS['cell']}" in findings[3]
    assert findings[3].endswith("(Ends soon.).")
    new = f"{FORM_LABELS['hand']} MindAloneLR, {FORM_LABELS['torch']} NewLR."
    assert findings[4].endswith(new)
    alike = {key: dict(value) for key, value in EXPORTS.items()}
    alike[EXPORTED, "torch"]["torch"] = alike[EXPORTED, "mindspore"]["hand"]
    alike[EXPORTED, "mindspore"]["list"] = {"cosine_decay_lr": exported()}
    findings = told(TOPIC, alike).findings
    assert findings[1].endswith("only PyTorch has: none.")
    assert not any("deprecated" in finding for finding in findings)


def test_every_exported_schedule_stands_beside_its_counterpart() -> None:
    table = table_of(told(TOPIC, EXPORTS), "compared with")
    assert table.columns == ("where", "schedule", "compared with", "documented as ending")
    rows = {row[1]: row for row in table.rows if row[0] != FORM_LABELS["torch"]}
    assert rows["cosine_decay_lr"][3] == "yes"
    assert rows["cosine_decay_lr"][2] == "CosineAnnealingLR, LambdaLR"
    assert rows["CosineDecayLR"][3] == "no"
    assert rows["MindAloneLR"][2] == "none"
    of_torch = {row[1]: row for row in table.rows if row[0] == FORM_LABELS["torch"]}
    # The form that is most like PyTorch's stands for MindSpore's.
    assert of_torch["CosineAnnealingLR"][2] == "CosineAnnealingLR"


def test_parameters_that_differ_are_listed_and_equal_ones_are_not() -> None:
    table = table_of(told(TOPIC, EXPORTS), "parameter")
    assert table.columns == ("scheduler", "parameter", "MindSpore", "PyTorch")
    assert table.rows == (("CosineAnnealingLR", "last_epoch", "has none", "-1"),)
    assert table.note.startswith("1 ")


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
