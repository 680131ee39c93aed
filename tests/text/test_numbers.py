"""Numbers in words."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.text.numbers import counted, digits, multiple, number, plain

NESTED = st.recursive(
    st.floats() | st.integers() | st.booleans() | st.none() | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.integers(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(("number", "words"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes")])
def test_one_thing_is_not_told_in_the_plural(number: int, words: str) -> None:
    assert counted(number, "node") == words


def test_what_is_not_finite_is_spelt_as_strict_json_can_carry_it() -> None:
    value = {1: (math.nan, math.inf), "b": [-math.inf, 1.5, True, None, "text"]}
    assert plain(value) == {"1": ["NaN", "Infinity"], "b": ["-Infinity", 1.5, True, None, "text"]}


@pytest.mark.slow
@settings(max_examples=25)
@given(NESTED)
def test_plain_values_are_strict_json(value: Any) -> None:
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text) == plain(value)


@settings(max_examples=50)
@given(st.floats())
def test_a_number_survives_its_spelling(value: float) -> None:
    assert repr(number(plain(value))) == repr(value)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.854, "0.85"),
        (9.96, "10"),
        (16, "16"),
        (243.0, "240"),
        (12345.0, "12,000"),
        (2.44e9, "2.4e+09"),
    ],
)
def test_a_multiple_of_the_noise_has_two_digits(ratio: float, text: str) -> None:
    assert multiple(ratio) == text


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="none"):
        number("none")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.array([[4.0, 6.0, 8.0]]), "[[4, 6, 8]]"),
        (np.array(1 / 3), "0.33333"),
        ([1, 2.5], "[1, 2.5]"),
        (np.arange(3), "[0, 1, 2]"),
        (np.array([math.nan, math.inf]), "[nan, inf]"),
        (np.arange(6.0), "[0, 1, 2, 3, 4, 5]"),
        (np.arange(8.0).reshape(2, 4), "(2, 4) 0 1 2 3 4 5 …"),
    ],
)
def test_digits_reads_few_elements_whole_and_the_first_of_many(values: Any, text: str) -> None:
    assert digits(values) == text


def test_digits_shows_as_many_elements_and_digits_as_are_asked_for() -> None:
    assert digits([1.23456, 2.0], limit=1, precision=2) == "(2,) 1.2 …"
