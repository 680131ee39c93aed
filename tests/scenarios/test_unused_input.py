"""An input on which nothing depends."""

import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.model.results import ResultNote
from tests.support.scenario_reports import (
    BY_BOTH,
    BY_SECOND,
    FLOAT32,
    MINDSPORE,
    Reports,
    all_say,
    graph,
    origins,
    output_called,
    refuses,
    row,
    value,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


def test_it_gets_zeros_where_anything_was_recorded(report: Reports) -> None:
    whole = report("unused_input")
    x = values_of(whole)["x"]
    both = row(whole, BY_BOTH)
    all_say(both, {"dx": 3 * x**2, "dz": np.zeros(2)}, FLOAT32)
    assert "materialize_grads=True" in both.results["torch-tape"].code
    with_value = row(whole, GradCase("value_and_grad", (0, 1)))
    assert with_value.results["torch-tape"].note == ResultNote("grad_is_none", "z")

    for engine in ENGINES:
        gradient_graph = graph(whole, engine)
        result = output_called(gradient_graph, "dz")
        assert value(result).tolist() == [0, 0]
        (zeros,) = origins(gradient_graph, result)
        assert (zeros.kind, origins(gradient_graph, zeros)) == ("constant", []), engine


def test_asked_for_it_alone_pytorch_s_tape_raises(report: Reports) -> None:
    alone = row(report("unused_input"), BY_SECOND)
    all_say(alone, {"dz": np.zeros(2)}, FLOAT32, (*MINDSPORE, "torch-graph"))
    refuses(alone, "torch-tape", "does not require grad")
    assert (alone.verdict, alone.expected) == ("some_raise", True)
