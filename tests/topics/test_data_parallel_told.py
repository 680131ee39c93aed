"""What is told of two ranks, where every figure is known."""

from typing import Any

import pytest

from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence
from explorer.topics.studies import Telling
from tests.support.tellings import (
    check_telling,
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
