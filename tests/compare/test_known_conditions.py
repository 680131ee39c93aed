"""What is known of the values of a tensor: exact numbers, ties, masks of dropout."""

import numpy as np
import pytest

from explorer.compare.known.conditions import (
    are_unequal_for_equal,
    dropped_rate,
    holds,
    repeated_greatest,
    ties,
)
from explorer.model.graph import Output
from explorer.numeric.summaries import summarise


def output(*numbers: float, times: int = 1) -> Output:
    array = np.array(numbers * times, np.float32)
    return Output(shape=array.shape, dtype="float32", values=summarise(array))


@pytest.mark.parametrize("times", [1, 2000])  # kept whole, and not
def test_a_number_is_held_only_where_it_is_exactly_there(times: int) -> None:
    value = output(-1.0, 0.0, 6.0, times=times)
    assert all(holds(value, number) for number in (-1.0, 0.0, 6.0))
    assert not holds(value, 3.0)
    assert not holds(output(1.0, 1e-30, times=times), 0.0)


def test_of_what_was_not_observed_nothing_is_held() -> None:
    assert not holds(Output(shape=(2,), dtype="float32"), 0.0)


def test_ties_are_the_numbers_at_which_two_values_are_equal() -> None:
    assert ties(output(1.0, 2.0, 3.0), output(1.0, 0.0, 3.0)) == {1.0, 3.0}
    scalar = Output(shape=(), dtype="float32", values=summarise(np.array(2.0, np.float32)))
    assert ties(output(1.0, 2.0), scalar) == {2.0}
    assert ties(output(0.0, times=2000), output(0.0, times=2000)) == set()


def test_the_greatest_element_counts_where_it_is_there_twice() -> None:
    assert repeated_greatest(output(3.0, 3.0, 1.0)) == {3.0}
    assert repeated_greatest(output(3.0, 1.0, 1.0)) == set()
    assert repeated_greatest(output(3.0)) == set()


def test_one_input_with_two_outputs_is_unequal_for_equal() -> None:
    given = output(1.0, 1.0, 2.0)
    assert are_unequal_for_equal(given, output(5.0, 5.1, 6.0))
    assert not are_unequal_for_equal(given, output(5.0, 5.0, 6.0))
    assert not are_unequal_for_equal(given, output(5.0, 5.1))


@pytest.mark.parametrize("kept", [0.3, 0.7])
def test_a_mask_of_dropout_says_its_rate(kept: float) -> None:
    assert dropped_rate(output(0.0, 1 / kept, times=50)) == pytest.approx(1 - kept, abs=1e-6)


@pytest.mark.parametrize(
    "numbers", [(0.0, 1.0), (0.0, 2.0, 3.0), (-1.0, 2.0), (2.0, 2.0), (0.0, 0.5)]
)
def test_another_value_is_no_mask(numbers: tuple[float, ...]) -> None:
    assert dropped_rate(output(*numbers)) is None
