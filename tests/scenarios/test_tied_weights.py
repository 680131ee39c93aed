"""One weight in two places: an autoencoder with tied weights."""

import numpy as np
import pytest

from explorer.model.graph import GradGraph
from tests.support.scenario_reports import (
    FLOAT64,
    WHOLE,
    Floats,
    Reports,
    all_say,
    graph,
    origins,
    row,
    value,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def summands(gradient_graph: GradGraph, total: Floats) -> list[Floats]:
    """What is added up in the one node that sums gradients to ``total``."""
    sums = []
    for node in gradient_graph.nodes:
        is_candidate = node.kind == "accumulate" and node.outputs[0].shape == total.shape
        if is_candidate and np.allclose(value(node), total):
            sums.append(node)
    (only_sum,) = sums
    return [value(node) for node in origins(gradient_graph, only_sum)]


def test_tied_weights_get_the_sum_of_both_uses(report: Reports) -> None:
    whole = report("tied_weights")
    x, w = values_of(whole)["x"], values_of(whole)["w"]
    code = np.tanh(x @ w.T)
    error = 2 * (code @ w - x)
    inner = error @ w.T * (1 - code**2)
    decoding, encoding = code.T @ error, inner.T @ x
    all_say(row(whole, WHOLE), {"dx": inner @ w - error, "dw": decoding + encoding}, FLOAT64)
    for engine in ENGINES:
        parts = summands(graph(whole, engine), decoding + encoding)
        for use in (decoding, encoding):
            same_shape = [part for part in parts if part.shape == use.shape]
            assert any(np.allclose(part, use) for part in same_shape), engine
