"""Gradients in float16 that are too small for it, and the scale that saves them."""

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from tests.support.scenario_reports import (
    BY_BOTH,
    Reports,
    all_say,
    graph,
    leaves,
    origins,
    output_called,
    row,
    value,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


def test_a_gradient_below_two_to_the_minus_24_is_zero_and_scaling_saves_it(
    report: Reports,
) -> None:
    whole = report("float16_underflow")
    x, w = values_of(whole)["x"], values_of(whole)["w"]
    lost = w**2 < 2.0**-24
    assert lost.tolist() == [True, True, False]
    loss = row(whole, GradCase("grad", (0, 1), has_aux=True))
    all_say(loss, {"dx": np.where(lost, 0, w**2), "dw": 2 * x * w}, 0)
    all_say(loss, {"scaled": 1024 * (x * w**2).sum()}, 1e-3)

    both = row(whole, BY_BOTH)
    for engine in ENGINES:
        gradient = leaves(both, engine)["dx"]
        assert gradient.dtype == np.float16
        np.testing.assert_allclose(gradient.astype(np.float64) / 1025, w**2, 1e-3)
        gradient_graph = graph(whole, engine)
        result = output_called(gradient_graph, "loss")
        (origin,) = origins(gradient_graph, result)
        assert value(origin) == value(result) == np.float16(2.0**-5)
    assert {loss.verdict, both.verdict} == {"match"}

    assert loss.oracle_agrees
    (estimate,) = (estimate for estimate in loss.oracle.estimates if estimate.name == "dx")
    np.testing.assert_allclose(unpack(estimate.value)[lost], 2.0**-26, 1e-2)
