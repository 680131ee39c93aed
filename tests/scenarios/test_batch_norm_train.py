"""Batch normalisation in training mode: statistics of the batch, and how the running ones move."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    FLOAT32,
    WHOLE,
    Reports,
    all_say,
    graph,
    output_called,
    row,
    value,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_the_gradient_goes_through_mean_and_variance(report: Reports) -> None:
    whole = report("batch_norm_train")
    values = values_of(whole)
    x, gamma = values["x"], values["bn.weight"]
    spread = np.sqrt(x.var(axis=0) + 1e-5)
    normed = (x - x.mean(axis=0)) / spread
    dy = 3 * (normed * gamma + values["bn.bias"]) ** 2
    dn = dy * gamma
    dx = (dn - dn.mean(axis=0) - normed * (dn * normed).mean(axis=0)) / spread
    assert dx.sum(axis=0) == pytest.approx([0, 0], abs=1e-12)
    expected = {"dx": dx, "dbn.weight": (dy * normed).sum(axis=0), "dbn.bias": dy.sum(axis=0)}
    all_say(row(whole, WHOLE), expected, FLOAT32)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_running_statistics_move_by_the_unbiased_variance(report: Reports, engine: str) -> None:
    whole = report("batch_norm_train")
    values = values_of(whole)
    x = values["x"]
    moved = {
        "bn.running_mean": 0.9 * values["bn.running_mean"] + 0.1 * x.mean(axis=0),
        "bn.running_var": 0.9 * values["bn.running_var"] + 0.1 * x.var(axis=0, ddof=1),
    }
    for name, expected in moved.items():
        result = value(output_called(graph(whole, engine), name))
        np.testing.assert_allclose(result, expected, FLOAT32)
