"""Layouts: there and back, and what is no layout."""

import ast
from typing import Any

import numpy as np
import pytest

from explorer.model.errors import UsageError
from explorer.scenario.layouts import as_entry, read, to_mindspore, to_torch, written

NUMBERS = np.arange(24, dtype=np.float32)


@pytest.mark.parametrize(
    ("entry", "shape"),
    [
        ({"transpose": (1, 0)}, (4, 6)),
        ({"transpose": (2, 0, 1)}, (2, 3, 4)),
        ({"reshape": (4, 6)}, (2, 12)),
        ({"squeeze": 1}, (4, 1, 6)),
        ({"transpose": (1, 0), "reshape": (2, 3, 4)}, (4, 6)),
        ({"reshape": (2, 3, 4), "transpose": (0, 2, 1)}, (6, 4)),
        ([{"reshape": (2, 3, 4)}, {"transpose": (1, 0, 2)}, {"reshape": (6, 4)}], (6, 4)),
    ],
)
def test_a_layout_leads_there_and_back(entry: Any, shape: tuple[int, ...]) -> None:
    there = to_torch(NUMBERS.reshape(shape), read(entry))
    assert there.shape != shape or not np.array_equal(there.ravel(), NUMBERS)
    back = to_mindspore(there, read(entry), shape)
    np.testing.assert_array_equal(back, NUMBERS.reshape(shape))


def test_steps_are_taken_in_the_order_in_which_they_are_written() -> None:
    one = read({"transpose": (1, 0), "reshape": (12, 2)})
    other = read({"reshape": (12, 2), "transpose": (1, 0)})
    assert to_torch(NUMBERS.reshape(4, 6), one).shape == (12, 2)
    assert to_torch(NUMBERS.reshape(4, 6), other).shape == (2, 12)


@pytest.mark.parametrize(
    "entry",
    [{}, [], [{}], [3], "transpose", {"flip": 1}, {"transpose": "10"}, {"reshape": (2.0, 3)}],
)
def test_what_is_no_layout_is_refused_with_what_is_one(entry: Any) -> None:
    with pytest.raises(UsageError, match="is not a layout; write"):
        read(entry)


def test_a_step_that_the_shape_does_not_allow_is_refused() -> None:
    with pytest.raises(
        UsageError,
        match=r"transpose.*\(2, 1, 0\).* cannot be applied to an array of shape \(4, 6\)",
    ):
        to_torch(NUMBERS.reshape(4, 6), read({"transpose": (2, 1, 0)}))
    with pytest.raises(UsageError, match=r"turns into \(6, 4\), but PyTorch's has \(4, 6\)"):
        to_mindspore(NUMBERS.reshape(4, 6), read({"transpose": (1, 0)}), (4, 6))


def test_a_layout_is_written_as_it_is_read_and_a_step_that_recurs_in_a_list() -> None:
    for entry in ({"transpose": (1, 0)}, {"reshape": [2, 3], "squeeze": 2}):
        assert read(ast.literal_eval(written(read(entry)))) == read(entry)
    steps = read([{"reshape": (2, 3, 4), "transpose": (1, 0, 2)}, {"reshape": (24,)}])
    assert written(steps).startswith('[{"reshape": (2, 3, 4)}')
    assert read(ast.literal_eval(written(steps))) == steps
    # What code that is shown for a result reads again.
    assert read(as_entry(steps)) == steps
    assert as_entry(steps[:2]) == {"reshape": (2, 3, 4), "transpose": (1, 0, 2)}


def test_without_steps_an_array_of_the_same_size_is_reshaped() -> None:
    assert to_mindspore(NUMBERS, (), (4, 1, 6)).shape == (4, 1, 6)
    assert to_mindspore(NUMBERS[:1], (), ()).shape == ()
    with pytest.raises(UsageError, match=r"has shape \(5,\), but PyTorch's has \(24,\)"):
        to_mindspore(NUMBERS, (), (5,))


def test_a_layout_keeps_the_dtype() -> None:
    integers = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert to_mindspore(integers, read({"transpose": (1, 0)}), (3, 2)).dtype == np.int16
