"""Paths and tolerances of the comparison with the independent programs."""

from typing import Any

import pytest

from tests.independent.agreements import ways, written
from tests.independent.comparison import at, difference

FIGURES = {"steps": [{"loss": 1.0}, {"loss": 0.5}], "name": "SGD"}


def test_a_path_leads_through_dicts_and_lists() -> None:
    assert at(FIGURES, ("steps", -1, "loss")) == 0.5
    assert at(FIGURES, ("steps", "*", "loss")) == [1.0, 0.5]
    assert at(FIGURES, ()) is FIGURES
    assert at(FIGURES, ("names of",)) == ["name", "steps"]


@pytest.mark.parametrize("path", [("steps", 2), ("loss",), ("name", "loss")])
def test_a_path_that_leads_nowhere_is_told_in_whole(path: tuple[str | int, ...]) -> None:
    with pytest.raises(KeyError, match="no figure at"):
        at(FIGURES, path)


@pytest.mark.parametrize(
    ("given", "reference", "tolerance", "is_equal"),
    [
        ([100.0, 0.009], [100.0, 0.0], 1e-4, True),
        ([100.0, 0.011], [100.0, 0.0], 1e-4, False),
        (2.0, 2, 0.0, True),
        ({"a": [1.0], "b": None}, {"b": None, "a": [1.0]}, 0.0, True),
        ("ValueError", "ValueError", 0.0, True),
        ([], [], 0.0, True),
        (float("nan"), 1.0, 1.0, False),
        (1.0, float("nan"), 1.0, False),
        (True, 1, 0.0, False),
        (False, True, 1.0, False),
        ("NaN", 0.0, 1.0, False),
        (None, 0.0, 1.0, False),
        ([1.0, 1.0], [1.0], 1.0, False),
        ({"a": 1.0}, {"b": 1.0}, 1.0, False),
        ([[1.0]], [1.0], 1.0, False),
        ("ValueError", "TypeError", 1.0, False),
    ],
)
def test_figures_are_equal_within_a_share_of_the_greatest(
    given: Any, reference: Any, tolerance: float, is_equal: bool
) -> None:
    assert (difference(given, reference, tolerance) == "") is is_equal


def test_a_row_of_the_table_stands_for_every_choice_from_its_lists() -> None:
    assert list(ways(written("a / b | c / d | e"), written("d | e / [0] / x | y"))) == [
        (("a", "b", "d"), ("d", 0, "x")),
        (("a", "b", "e"), ("e", 0, "x")),
        (("a", "c", "d"), ("d", 0, "y")),
        (("a", "c", "e"), ("e", 0, "y")),
    ]
    assert list(ways(written("a"), written(""))) == [(("a",), ())]
