"""A figure and its bar."""

import math

import pytest

from benchmarks._figures import Figure, Verdict, absent, ratios
from benchmarks._table import digits, quantity, table


def figure(*rounds: float, **fields: object) -> Figure:
    given = {"name": "n", "unit": "s", "basis": "wall", "rounds": rounds, **fields}
    return Figure(**given)  # type: ignore[arg-type]  # fields of the test's choice


@pytest.mark.parametrize(
    ("rounds", "bar", "wanted", "verdict"),
    [
        ((1.0, 2.0, 9.0), 2.0, "low", "kept"),
        ((1.0, 2.0, 9.0), 1.999, "low", "missed"),
        ((1.0, 2.0, 9.0), 2.0, "high", "kept"),
        ((1.0, 2.0, 9.0), 2.001, "high", "missed"),
        ((0.0,), 0.0, "low", "kept"),
        ((math.nan,), 1.0, "low", "missed"),
        ((math.nan,), 1.0, "high", "missed"),
        ((5.0,), None, "low", ""),
        ((), 1.0, "low", "not measured"),
    ],
)
def test_the_median_of_the_rounds_stands_to_the_bar(
    rounds: tuple[float, ...], bar: float | None, wanted: str, verdict: Verdict
) -> None:
    assert figure(*rounds, bar=bar, wanted=wanted).verdict == verdict


def test_the_spread_is_from_the_least_round_to_the_greatest() -> None:
    assert figure(3.0, 1.0, 2.5).spread == 2.0
    assert figure(3.0).spread == 0.0
    assert absent("n", "wall", "why").spread == 0.0


def test_a_ratio_is_taken_round_by_round() -> None:
    assert ratios((2.0, 9.0), (1.0, 3.0)) == (2.0, 3.0)
    with pytest.raises(ValueError, match="zip"):
        ratios((1.0,), (1.0, 2.0))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "s", "12.3 ms"),
        (0.0, "s", "0 s"),
        (0.1, "s", "0.1 s"),
        (1234.5, "lines/s", "1,234 lines/s"),
        (1.5, "×", "×1.5"),
        (3.0, "", "3"),
        (None, "s", "–"),
    ],
)
def test_a_number_is_told_with_its_unit(value: float | None, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_a_number_is_told_to_three_digits() -> None:
    assert [digits(value) for value in (0.012345, 1.2345, 99.96, 12345.6)] == [
        "0.0123",
        "1.23",
        "100",
        "12,346",
    ]


def words(line: str) -> str:
    """A line of the table with one space between cells."""
    return " ".join(line.split())


def test_the_table_shows_median_spread_bar_and_verdict_of_every_figure() -> None:
    lines = table(
        [
            figure(1.0, 3.0, 2.0, benchmark="one", name="kept bar", bar=2.5),
            figure(1.0, benchmark="one", name="missed bar", bar=0.5, note="why it is so"),
            figure(7.0, benchmark="two", name="without a bar"),
            absent("what is not here", "wall", "not installed"),
        ]
    ).splitlines()
    heads, kept, missed, note, bare, gone, why, _, summary = lines
    assert heads.split()[:4] == ["benchmark", "figure", "basis", "median"]
    assert words(kept) == "one kept bar wall 2 s 1 s to 3 s 3 ≤ 2.5 s kept"
    assert words(missed) == "one missed bar wall 1 s 1 ≤ 0.5 s missed"
    assert note.strip() == "why it is so"
    assert words(bare) == "two without a bar wall 7 s 1"
    assert words(gone) == "what is not here wall – 0 not measured"
    assert why.strip() == "not installed"
    assert summary == "4 figures; 1 of 2 bars kept, 1 not measured"
    # Numbers of a column end below each other.
    assert kept.index("2 s") == missed.index("1 s")
