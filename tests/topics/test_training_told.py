"""What is told of a training step, where every figure is known."""

from typing import Any

import pytest

from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.training.questions import (
    FILTERED,
    GROUPS,
    OPTIMIZER_STATE,
    SCALED_STEP,
    SPEED,
    STEP_CELL,
    TOPIC,
    WEIGHT_DECAY,
)
from tests.support.tellings import (
    chart_of,
    check_telling,
    lines_of,
    rows_by_first,
    table_of,
    telling_text,
    told,
    told_after,
)
from tests.support.topics import World, put

REFUSED = {"raised": "KeyError", "message": "no such thing."}


# The step


def test_parameters_that_were_chosen_are_told_with_those_that_moved() -> None:
    figures = {"type": "list", "chosen": ["a", "b"], "moved": ["b"]}
    other = {"type": "generator", "chosen": ["a", "b"], "moved": ["a", "c"]}
    (finding,) = told(
        TOPIC, {(FILTERED, "mindspore"): figures, (FILTERED, "torch"): other}
    ).findings
    for words in ("trainable_params() is a list", "parameters() a generator", "given only a, b"):
        assert words in finding
    assert "step moves b and PyTorch's a, c." in finding


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ({"graph": 0.5, "tape": 0.5}, ["runs, with the loss 0.5, in graph and tape style."]),
        (
            {"graph": REFUSED, "tape": 0.5},
            [
                "does not run here (KeyError: no such thing), in graph style.",
                "0.5, in tape style.",
            ],
        ),
    ],
)
def test_whether_a_scaled_step_runs_is_told_by_style(
    outcomes: dict[str, Any], words: list[str]
) -> None:
    findings = told(TOPIC, {(SCALED_STEP, "mindspore"): outcomes}).findings
    assert len(findings) == len(words)
    for finding, ending in zip(findings, words, strict=True):
        assert finding.endswith(ending)


def test_times_are_milliseconds_and_first_calls_are_not_drawn() -> None:
    seconds = {"by itself, first call": 0.5, "by itself": 0.0123456, "ms.jit": 0.002}
    name = SPEED.measurement_name("mindspore")
    telling = telling_text(TOPIC, Evidence({name: Measured(outcome="ok", timings=seconds)}))
    check_telling(telling)
    table = table_of(telling, "milliseconds")
    assert table.columns[:2] == ("where", "way")
    assert table.timing
    assert table.rows == (
        ("MindSpore, tape", "by itself, first call", 500.0),
        ("MindSpore, tape", "by itself", 12.346),
        ("MindSpore, tape", "ms.jit", 2.0),
    )
    chart = chart_of(telling, "training-times")
    assert chart.timing
    assert chart.kind == "points"
    assert chart.log == ("y",)
    (bars,) = lines_of(chart).values()
    assert bars == {"MindSpore, tape, by itself": 12.3456, "MindSpore, tape, ms.jit": 2.0}


# Optimizers


def test_an_optimizer_that_is_refused_has_no_weights_and_spares_none() -> None:
    default = put(WEIGHT_DECAY, ["torch"], "torch SGD", "default", value=REFUSED)
    decayed = put(WEIGHT_DECAY, ["torch"], "torch Adam", "0.1", value=REFUSED)
    telling = told_after("training", default, decayed)
    rows = rows_by_first(table_of(telling, "weight by default"))
    refused = (None, None, None, None, "KeyError: no such thing.")
    assert rows["torch SGD"] == rows["torch Adam"] == refused
    assert (
        sum("spares nothing in" in text and "torch SGD" in text for text in telling.findings) == 1
    )
    assert not any("torch Adam," in text for text in telling.findings)


def test_a_state_that_is_refused_is_said_in_its_cell() -> None:
    refused = put(OPTIMIZER_STATE, ["mindspore"], "nn", "state_dict", value=REFUSED)
    telling = told_after("training", refused)
    (table,) = (table for table in telling.tables if table.title.startswith("What an SGD"))
    assert rows_by_first(table)["names in state_dict"][0] == "KeyError: no such thing."


def test_a_way_that_is_refused_in_one_style_is_told_and_a_setting_without_a_figure_is_a_dash() -> (
    None
):
    def no_figure(world: World) -> None:
        del world[GROUPS, "torch"]["torch"]["anything"]

    telling = told_after("training", put(STEP_CELL, ["mindspore-tape"], value=REFUSED), no_figure)
    assert any("TrainOneStepCell, tape is refused: KeyError:" in text for text in telling.findings)
    rows = {row[1]: row for row in table_of(telling, "step 1").rows}
    assert rows["TrainOneStepCell, tape"][2:] == (*[None] * 5, "KeyError: no such thing.")
    assert rows_by_first(table_of(telling, "setting"))["anything"][-1] == "-"
