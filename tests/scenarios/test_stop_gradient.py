"""A value that is cut off from the gradient."""

import numpy as np
import pytest

from explorer.model.arrays import unpack
from tests.support.scenario_reports import BY_FIRST, Reports, all_say, row, values_of

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_a_stopped_value_counts_in_the_loss_but_not_in_the_gradient(report: Reports) -> None:
    whole = report("stop_gradient")
    x = values_of(whole)["x"]
    by_x = row(whole, BY_FIRST)
    all_say(by_x, {"dx": 2 * x**3})
    (estimate,) = by_x.oracle.estimates
    np.testing.assert_allclose(unpack(estimate.value), 2 * x**3, 1e-6)
    assert (by_x.oracle_agrees, by_x.expected) == (True, True)
