"""Batch normalisation in inference mode."""

import numpy as np
import pytest

from tests.support.scenario_reports import (
    FLOAT32,
    WHOLE,
    Reports,
    all_say,
    graph,
    row,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_it_is_a_scale_by_constants(report: Reports) -> None:
    whole = report("batch_norm_eval")
    values = values_of(whole)
    scale = 1 / np.sqrt(values["bn.running_var"] + 1e-5)
    normed = (values["x"] - values["bn.running_mean"]) * scale
    dy = 3 * (normed * values["bn.weight"] + values["bn.bias"]) ** 2
    dx = dy * values["bn.weight"] * scale
    expected = {"dx": dx, "dbn.weight": (dy * normed).sum(axis=0), "dbn.bias": dy.sum(axis=0)}
    all_say(row(whole, WHOLE), expected, FLOAT32)
    for engine in ENGINES:
        results = [node.name for node in graph(whole, engine).nodes if node.kind == "output"]
        assert not [name for name in results if "running" in name]
