"""Values in a few digits, and which differences between two such texts are rounding."""

import numpy as np
import pytest

from explorer.model.graph import Output
from explorer.numeric.summaries import summarise
from tests.corpus.values import ONLY_ROUNDING, values_agree, written_values
from tests.support.tables import rows


def written(numbers: object, dtype: str = "float32", noise: float | None = None) -> str:
    array = np.array(numbers, dtype)
    return written_values(Output(array.shape, dtype, summarise(array), noise))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        (4, "4"),
        ([1, -2.5, 0.125], "1 -2.5 0.12"),
        ([123.456, 0.004, 1], "123 0 1"),
        ([0.00012345, 1e-9, 0], "0.000123 0 0"),
        ([0, 0], "0 0"),
        ([], "empty"),
        ([3, 4, 0, 0], "3 4 rms 2.5"),
        ([0.001, 0.002, 300, 400], "0 0 rms 250"),
        ([np.nan, np.inf, 2], "nan inf 2 nonfinite 2"),
        ([-0.0, 5], "0 5"),
    ],
)
def test_the_greatest_number_has_three_digits_and_the_others_end_at_the_same_place(
    numbers: object, text: str
) -> None:
    assert written(numbers) == text


def test_integers_and_truths_are_written_whole() -> None:
    assert written([12345, 7], "int64") == "12345 7"
    assert written([True, False], "bool") == "1 0"


def test_of_a_complex_tensor_both_parts_are_written() -> None:
    assert written([1 + 2j, -3j], "complex64") == "1 0 imaginary 2 -3"


def test_of_a_large_tensor_the_least_and_the_greatest_are_written() -> None:
    array = np.arange(2000, dtype=np.float32)
    output = Output(array.shape, "float32", summarise(array))
    assert output.values is not None
    assert output.values.whole is None
    assert written_values(output) == "0 2000 rms 1150"


def test_what_was_not_observed_is_a_question_mark() -> None:
    assert written_values(Output((2,), "float32")) == "?"


def test_a_tensor_near_its_noise_is_only_rounding() -> None:
    assert written([1e-8, 3e-8], noise=1e-8) == ONLY_ROUNDING
    assert written([1e-8, 3e-8], noise=1e-10) == "1e-08 3e-08"
    assert written([0, 0], noise=1e-8) == "0 0"


@pytest.mark.parametrize("numbers", [[0.12499999, 0.5], [0.9995, 0], [9.995, 1], [1.005, 0.99949]])
@pytest.mark.parametrize("size", [1, 40])
def test_a_number_at_the_edge_of_a_digit_agrees_with_its_neighbours(
    numbers: list[float], size: int
) -> None:
    plain = np.tile(np.array(numbers), size)
    for factor in (1 - 2e-6, 1 + 2e-6):
        assert values_agree(written(plain, "float64"), written(plain * factor, "float64"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.25", "1.24"), ("9.99", "10"), ("1 2 rms 3.01", "1 2 rms 3.02"), ("~0", "0 0 rms 0")],
)
def test_one_unit_of_the_last_place_is_rounding(one: str, other: str) -> None:
    assert values_agree(one, other)
    assert values_agree(other, one)


@pytest.mark.parametrize(("one", "other"), rows(__file__, "test_anything_more_is_a_change"))
def test_anything_more_is_a_change(one: str, other: str) -> None:
    assert not values_agree(one, other)
    assert not values_agree(other, one)
