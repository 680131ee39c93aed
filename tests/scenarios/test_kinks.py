"""Functions at the points where they have no derivative."""

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.words.divergences import sentence
from tests.support.scenario_reports import (
    BY_FIRST,
    BY_SECOND,
    FLOAT32,
    MINDSPORE,
    TORCH,
    Reports,
    all_say,
    leaves,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_conventions_are_shared_and_there_is_no_central_difference(report: Reports) -> None:
    whole = report("kinks")
    x = values_of(whole)["x"]
    with np.errstate(divide="ignore", invalid="ignore"):
        dead = np.where(x < 2, -1.0, 0.0) / (2 - x)
    passes = ((x >= -1) & (x <= 1)).astype(np.float64)
    ties = np.where(x == 1, 0.5, x > 1)
    by_x = row(whole, BY_FIRST)
    all_say(by_x, {"dx": (x > 0) + 2 * np.sign(x) + 4 * passes + 8 * ties + dead}, FLOAT32)
    assert np.isnan(leaves(by_x, "torch-tape")["dx"][-1])

    (estimate,) = by_x.oracle.estimates
    halfway = [-2.25, 0.5 + 4 - 0.5, 1 + 2 + 2 + 4 - 1]
    np.testing.assert_allclose(unpack(estimate.value)[:3], halfway, 1e-6)
    assert (by_x.verdict, by_x.oracle_agrees, by_x.expected) == ("match", False, True)


def test_the_norm_of_a_zero_vector_has_gradient_nan_in_mindspore_and_zero_in_pytorch(
    report: Reports,
) -> None:
    whole = report("kinks")
    by_v = row(whole, BY_SECOND)
    all_say(by_v, {"dv": np.full(2, np.nan)}, FLOAT32, MINDSPORE)
    all_say(by_v, {"dv": np.zeros(2)}, FLOAT32, TORCH)
    assert (by_v.verdict, by_v.expected) == ("differs", True)
    assert "PyTorch's norm answers 0" in by_v.reason
    divergences = [alignment.divergence for alignment in whole.alignments if alignment.divergence]
    assert divergences
    assert all("Sqrt" in sentence(divergence, ("a", "b")) for divergence in divergences)
