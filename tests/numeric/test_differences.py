"""How far two arrays, or two nested lists of figures, lie apart."""

import math
from typing import Any

import numpy as np
import pytest

from explorer.numeric.differences import (
    are_equal,
    elementwise_difference,
    greatest_difference,
    relative_error,
)

ONE = np.array([1.0, np.nan, np.inf, np.inf, 0.0, np.nan])
OTHER = np.array([1.5, np.nan, np.inf, -np.inf, -0.0, 1.0])


def test_a_nan_equals_a_nan_and_an_infinity_the_same_infinity() -> None:
    assert are_equal(ONE, OTHER).tolist() == [False, True, True, False, True, False]


def test_equal_elements_do_not_differ_and_a_nan_differs_from_a_number_without_limit() -> None:
    expected = [0.5, 0, 0, math.inf, 0, math.inf]
    assert elementwise_difference(ONE, OTHER).tolist() == expected
    assert elementwise_difference(OTHER, ONE).tolist() == expected


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ([[1, 2], [3, 4]], [[1, 2], [3, 4.5]], 0.5),
        (3.0, 1.0, 2.0),
        ([], [], 0.0),
        ([1, 2], [1, 2, 3], math.inf),
        ([1, 2], [[1, 2]], math.inf),
        ([1, "NaN"], [1.25, "NaN"], 0.25),
        ([1, "Infinity"], [1, 2], math.inf),
        (["NaN"], ["Infinity"], math.inf),
        (["Infinity"], ["-Infinity"], math.inf),
        ([2, "-Infinity"], [1, "-Infinity"], 1.0),
    ],
)
def test_the_greatest_difference_of_nested_figures(one: Any, other: Any, difference: float) -> None:
    assert greatest_difference(one, other) == difference
    assert greatest_difference(other, one) == difference


@pytest.mark.parametrize(
    ("values", "reference", "error"),
    [
        ([1.0, 101.0], [1.0, 100.0], 0.01),
        ([[1.0], [101.0]], [[1.0], [-100.0]], 2.01),
        ([0.0], [0.0], 0.0),
        ([0.5], [0.0], math.inf),
        ([1.0, 2.0], [1.0], math.inf),
        (["NaN"], ["NaN"], math.inf),
        (["Infinity"], ["Infinity"], math.inf),
    ],
)
def test_a_relative_error_is_a_share_of_the_references_greatest_element(
    values: Any, reference: Any, error: float
) -> None:
    assert relative_error(values, reference) == pytest.approx(error)


def test_what_is_no_number_has_no_difference() -> None:
    with pytest.raises(ValueError, match="none"):
        greatest_difference(["none"], [1])
