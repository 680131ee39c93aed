"""An embedding that looks one row up twice."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    BY_FIRST,
    BY_WEIGHTS,
    MINDSPORE,
    TORCH,
    Reports,
    all_say,
    refuses,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_repeated_indices_sum_their_gradients_into_one_row(report: Reports) -> None:
    whole = report("embedding_repeats")
    values = values_of(whole)
    index = values["index"].astype(int)
    table = np.zeros((3, 2))
    np.add.at(table, index, values["place"])
    assert table.tolist() == [[2, 20], [0, 0], [8, 80]]
    place = values["table.weight"][index]
    all_say(row(whole, BY_WEIGHTS), {"dtable.weight": table, "dplace": place})


def test_an_index_is_refused_by_pytorch_and_has_a_gradient_of_zeros_in_mindspore(
    report: Reports,
) -> None:
    by_index = row(report("embedding_repeats"), BY_FIRST)
    all_say(by_index, {"dindex": [0, 0, 0, 0]}, engines=MINDSPORE)
    for engine in TORCH:
        refuses(by_index, engine, "floating point dtype can require gradients")
    assert by_index.expected
