"""Order statistics: those of a sort, however they are found."""

import numpy as np
import pytest

from explorer.numeric.summaries import WORTH_IT, count_true, order_statistics, quantile
from tests.support.hard_to_sort import hard_to_sort


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 8, WORTH_IT - 1, WORTH_IT, 4096])
def test_order_statistics_are_those_of_a_sort(dtype: str, size: int) -> None:
    rows = np.array(list(hard_to_sort(size).values())).astype(dtype)
    ranks = np.arange(0, size, 37)
    statistics = order_statistics(rows, ranks)
    assert statistics.dtype == rows.dtype
    assert (statistics == np.sort(rows, axis=1)[:, ranks]).all()


@pytest.mark.parametrize("size", [WORTH_IT - 1, WORTH_IT])
def test_zeros_have_no_sign(size: int) -> None:
    rows = np.full((2, size), -0.0)
    rows[1, ::2] = -1.0
    statistics = order_statistics(rows, np.arange(size))
    assert not np.signbit(statistics[statistics == 0]).any()


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_integers_have_order_statistics_too(dtype: str) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (3, WORTH_IT)).astype(dtype)
    ranks = np.array([0, WORTH_IT // 2, WORTH_IT - 1])
    assert (order_statistics(rows, ranks) == np.sort(rows, axis=1)[:, ranks]).all()


@pytest.mark.parametrize("size", [1, WORTH_IT - 1, WORTH_IT])
def test_what_is_true_is_counted_row_by_row(size: int) -> None:
    mask = np.random.default_rng(0).random((4, size)) > 0.5
    assert count_true(mask).tolist() == mask.sum(axis=1).tolist()


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_a_quantile_is_numpys_to_the_last_digit(share: float) -> None:
    numbers = np.random.default_rng(5)
    for size in (*range(1, 40), 1000):
        values = numbers.standard_normal(size) * 10.0 ** numbers.integers(-9, 9)
        assert quantile(values, share) == np.quantile(values, share)
    assert quantile(np.array([[4.0, 1.0], [3.0, 2.0]]), share) == 1 + 3 * share
