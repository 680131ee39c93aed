"""What is told of two ranks, where every figure is known."""

from typing import Any

import pytest

from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence
from explorer.topics.studies import Telling
from tests.support.tellings import (
    chart_of,
    check_telling,
    column,
    lines_of,
    rows_by_first,
    table_of,
    telling_text,
)
from tests.support.topics import written

RANK: dict[str, Any] = {
    "rank": 0,
    "local": [2.0, 0.0],
    "mean": [3.0, 0.5],
    "sum": [6.0, 1.0],
    "after_step": [1.0],
    "first_weights_one_seed": [0.5],
    "first_weights_own_seed": [0.25],
    "after_step_own_seed": [0.125],
}
"""What the first of two ranks measured; the other one's gradient is 4 and 1."""


def told(parties: tuple[str, ...] = ("mindspore", "torch"), **changed: Any) -> Telling:
    """What is told of ranks with the gradients 2 and 4; ``changed`` figures are rank 1's."""
    second = {**RANK, "rank": 1, "local": [4.0, 1.0], **changed}
    figures = {(TWO_PROCESSES, party): {"ranks": [RANK, second]} for party in parties}
    telling = telling_text(TOPIC, Evidence(written(figures)))
    check_telling(telling)
    return telling


def test_mean_and_sum_are_told_beside_what_they_are_of() -> None:
    mindspore, _, torch, _ = told().findings
    for finding, route in ((mindspore, "DistributedGradReducer"), (torch, "DistributedDataP")):
        assert "gets [3, 0.5] from [2, 0] and [4, 1], which is the mean" in finding
        assert "summed it is [6, 1]" in finding
        assert "2 times off" in finding
        assert f"({route}" in finding
    assert "which is not the mean" in told(mean=[3.0, 0.0]).findings[0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "make no difference"),
        ({"first_weights_own_seed": [1.0]}, "which agree after one step"),
        (
            {"first_weights_own_seed": [1.0], "after_step_own_seed": [2.0]},
            "which still differ after one step",
        ),
    ],
)
def test_what_seeds_of_their_own_do_is_told(changed: dict[str, Any], words: str) -> None:
    for finding in told(**changed).findings[1::2]:
        assert words in finding


def test_both_ranks_stand_side_by_side_a_table_a_framework() -> None:
    tables = told(after_step=[2.0]).tables
    assert [table.title.partition(":")[0] for table in tables] == ["mindspore", "torch"]
    for table in tables:
        assert table.columns == ("what", "rank 0", "rank 1", "the same")
        assert column(table, "the same") == [False, True, True, False, True, True, True]
        rows = rows_by_first(table)
        assert rows["reduced with mean"] == ("[3, 0.5]", "[3, 0.5]", True)
        assert rows["weights after one step, one start"] == ("[1]", "[2]", False)
        assert "gloo" in table.title if table is tables[1] else "mccl" in table.title


def test_each_way_to_take_a_step_is_a_row_with_what_it_went_along() -> None:
    ways = {"graph": {"cell": [3.0, 0.5], "by hand": [2.0, 0.0]}}
    refused = {"raised": "RuntimeError", "message": "no"}
    tape = {"cell": refused, "by hand": [9.0, 9.0]}
    first = {"local": [2.0, 0.0], "routes": {**ways, "tape": tape}, "rank": 0}
    second = {**first, "local": [4.0, 1.0], "rank": 1}
    second["routes"] = {"graph": {**ways["graph"], "by hand": [4.0, 1.0]}, "tape": tape}
    figures = {(TWO_PROCESSES, "mindspore"): {"ranks": [{**RANK, **first}, {**RANK, **second}]}}
    telling = telling_text(TOPIC, Evidence(written(figures)))
    check_telling(telling)
    table = table_of(telling, "along")
    assert table.columns == ("way", "style", "rank 0", "rank 1", "along")
    assert table.title.startswith("mindspore")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["cell", "graph"] == ("[3, 0.5]", "[3, 0.5]", "the mean")
    assert rows["by hand", "graph"] == ("[2, 0]", "[4, 1]", "its own gradient")
    assert rows["by hand", "tape"] == ("[9, 9]", "[9, 9]", "something else")
    assert rows["cell", "tape"][-1] == "RuntimeError: no"


def test_the_first_weight_s_gradients_are_drawn_as_bars() -> None:
    chart = chart_of(told(), "data-parallel-gradients")
    bars = {"rank 0, local": 2.0, "rank 1, local": 4.0, "mean": 3.0, "sum": 6.0}
    assert lines_of(chart) == {"MindSpore": bars, "PyTorch": bars}
    assert chart.kind == "bars"
    assert chart.note
    assert list(lines_of(chart_of(told(("torch",)), chart.name))) == ["PyTorch"]
