"""Rows picked by an input of integers."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    BY_FIRST,
    BY_SECOND,
    FLOAT32,
    MINDSPORE,
    TORCH,
    Reports,
    all_say,
    leaves,
    refuses,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_rows_picked_twice_get_the_sum_and_rows_not_picked_zeros(report: Reports) -> None:
    whole = report("integer_input")
    table, index = values_of(whole)["table"], values_of(whole)["index"]
    expected = np.zeros_like(table)
    np.add.at(expected, index, 2 * table[index])
    assert len(set(index.tolist())) < len(index)
    all_say(row(whole, BY_FIRST), {"dtable": expected}, FLOAT32)


def test_integers_get_integer_zeros_in_mindspore_and_a_refusal_in_pytorch(
    report: Reports,
) -> None:
    by_index = row(report("integer_input"), BY_SECOND)
    for engine in MINDSPORE:
        (gradient,) = leaves(by_index, engine).values()
        assert (gradient.dtype.name, gradient.tolist()) == ("int32", [0, 0, 0])
    for engine in TORCH:
        refuses(by_index, engine, "only Tensors of floating point dtype can require gradients")
    assert by_index.expected
    assert by_index.oracle_agrees is None
