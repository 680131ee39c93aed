"""Paths and tolerances of the comparison with the independent programs."""

from typing import Any

import pytest

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
    ("given", "reference", "tolerance"),
    [
        ([100.0, 0.009], [100.0, 0.0], 1e-4),
        (2.0, 2, 0.0),
        ({"a": [1.0], "b": None}, {"b": None, "a": [1.0]}, 0.0),
        ("ValueError", "ValueError", 0.0),
        ([], [], 0.0),
    ],
)
def test_equal_within_a_share_of_the_greatest(given: Any, reference: Any, tolerance: float) -> None:
    assert difference(given, reference, tolerance) == ""


@pytest.mark.parametrize(
    ("given", "reference", "tolerance"),
    [
        ([100.0, 0.011], [100.0, 0.0], 1e-4),
        (float("nan"), 1.0, 1.0),
        (1.0, float("nan"), 1.0),
        (True, 1, 0.0),
        (False, True, 1.0),
        ("NaN", 0.0, 1.0),
        (None, 0.0, 1.0),
        ([1.0, 1.0], [1.0], 1.0),
        ({"a": 1.0}, {"b": 1.0}, 1.0),
        ([[1.0]], [1.0], 1.0),
        ("ValueError", "TypeError", 1.0),
    ],
)
def test_what_differs(given: Any, reference: Any, tolerance: float) -> None:
    assert difference(given, reference, tolerance)
