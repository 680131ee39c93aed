"""Inputs that are moved by one unit in the last place, and those that stay as they are."""

import numpy as np
import pytest

from explorer.model.arrays import pack, unpack
from explorer.numeric.random_arrays import jittered, jittered_arrays, jittered_records

DRAWN = np.random.default_rng(0).standard_normal((20, 30))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_every_number_moves_to_a_neighbour_up_or_down(dtype: str) -> None:
    array = DRAWN.astype(dtype)
    moved = jittered(array, "x", 1)
    up = np.nextafter(array, np.array(np.inf, dtype))
    down = np.nextafter(array, np.array(-np.inf, dtype))
    has_moved = moved != array
    assert moved.dtype == array.dtype
    assert ((moved == up) | (moved == down))[has_moved].all()
    assert (moved == up).any()
    assert (moved == down).any()
    assert has_moved.mean() > 0.8


@pytest.mark.parametrize("stays", [0.0, 0.5, 1.0, -3.0, 6.0, 255.0, 1e-40 * 0, np.inf, np.nan])
def test_labels_masks_and_kinks_stay(stays: float) -> None:
    array = np.array([stays], np.float32)
    np.testing.assert_array_equal(jittered(array, "x", 1), array)


@pytest.mark.parametrize(("number", "moves"), [(255.0, False), (257.0, True)])
def test_a_number_of_more_than_eight_bits_is_a_measurement(number: float, moves: bool) -> None:
    array = np.array([number], np.float32)
    assert (jittered(array, "x", 1) != array).all() == moves


def test_integers_stay() -> None:
    array = np.arange(300)
    assert jittered(array, "x", 1) is array


def test_samples_and_names_draw_apart_and_always_alike() -> None:
    once = jittered(DRAWN, "x", 1)
    np.testing.assert_array_equal(jittered(DRAWN, "x", 1), once)
    assert (jittered(DRAWN, "x", 2) != once).any()
    assert (jittered(DRAWN, "y", 1) != once).any()


def test_the_sample_0_is_the_array_itself() -> None:
    assert jittered(DRAWN, "x", 0) is DRAWN


def test_one_array_under_two_names_stays_one() -> None:
    moved = jittered_arrays({"a": DRAWN, "b": DRAWN, "c": DRAWN.copy()}, 1)
    assert moved["a"] is moved["b"]
    assert moved["c"] is not moved["a"]


def test_records_move_in_the_dtype_that_carries_them() -> None:
    record = pack(DRAWN.astype(np.float32), "bfloat16")
    moved = jittered_records({"w": record}, 1)["w"]
    assert moved.dtype == "bfloat16"
    assert (unpack(moved) != unpack(record)).any()
    assert jittered_records({"w": record}, 0) == {"w": record}
