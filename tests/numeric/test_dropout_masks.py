"""Masks of dropout: what is dropped, and how much is left of the rest."""

import numpy as np
import pytest

from explorer.numeric.random_arrays import channel_mask, dropout_mask


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_a_mask_drops_its_rate_and_enlarges_the_rest(rate: float) -> None:
    mask = dropout_mask((100, 100), rate)
    assert mask.dtype == np.float32
    assert set(np.unique(mask)) == {np.float32(0), np.float32(1 / (1 - rate))}
    assert (mask == 0).mean() == pytest.approx(rate, abs=0.02)


def test_a_greater_rate_drops_what_a_smaller_one_does_and_more() -> None:
    some, more = dropout_mask((50,), 0.2) == 0, dropout_mask((50,), 0.6) == 0
    assert (more | ~some).all()
    assert more.sum() > some.sum()


def test_a_rate_of_one_leaves_nothing() -> None:
    assert not dropout_mask((8,), 1.0).any()


def test_shapes_draw_apart_and_the_same_again() -> None:
    first, second = dropout_mask((8, 8), 0.5), dropout_mask((8, 9), 0.5)
    assert not np.array_equal(first, second[:, :8])
    np.testing.assert_array_equal(first, dropout_mask((8, 8), 0.5))


def test_a_channel_is_dropped_as_a_whole() -> None:
    mask = channel_mask((4, 5, 6, 7), 0.5, 2)
    assert mask.shape == (4, 5, 1, 1)
    np.testing.assert_array_equal(channel_mask((4, 5), 0.5, 0), dropout_mask((4, 5), 0.5))
