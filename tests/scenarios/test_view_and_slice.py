"""Two slices of one tensor that overlap."""

import numpy as np
import pytest

from tests.support.scenario_reports import BY_FIRST, Reports, all_say, row, values_of

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_overlapping_slices_add_their_gradients(report: Reports) -> None:
    whole = report("view_and_slice")
    element = values_of(whole)["x"].ravel()
    expected = np.zeros(6)
    expected[:-1] += element[1:]
    expected[1:] += element[:-1]
    expected[::2] += 2 * element[::2]
    all_say(row(whole, BY_FIRST), {"dx": expected.reshape(2, 3)})
