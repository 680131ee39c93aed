"""Writes into a tensor that backward needs: who refuses, who keeps a copy, who does not notice."""

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.common_start import settle
from explorer.scenario.load import load
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.samples import some_rows
from tests.support.scenario_reports import (
    BY_FIRST,
    FLOAT32,
    Reports,
    all_say,
    ops,
    refuses,
    row,
    values_of,
)

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


def test_a_tape_refuses_the_tensor_that_was_overwritten_and_a_compiler_has_kept_it(
    report: Reports,
) -> None:
    whole = report("in_place_update")
    x = values_of(whole)["x"]
    with_aux = row(whole, GradCase("grad", 0, has_aux=True))
    all_say(with_aux, {"dx": 18 * x, "energy": np.sum(x**4)}, FLOAT32)
    by_x = row(whole, BY_FIRST)
    all_say(by_x, {"dx": 18 * x + 4 * x**3}, FLOAT32, ("mindspore-graph",))
    for engine in ("mindspore-tape", "torch-tape", "torch-graph"):
        refuses(by_x, engine, "modified by an inplace operation")
    assert (by_x.oracle_agrees, by_x.expected) == (True, True)
    assert ops(whole, "mindspore-graph", "forward").count("TensorMove") >= 1


@pytest.mark.parametrize(
    ("net", "engine", "gradient"),
    some_rows(
        (
            ("ms_element_written", "mindspore-graph", [8.0, 18.0, 26.0]),
            ("ms_element_written", "mindspore-tape", [20.0, 18.0, 26.0]),
            ("ms_scaled_in_place", "mindspore-graph", [8.0, 16.0, 24.0]),
            ("ms_scaled_in_place", "mindspore-tape", [2.0, 4.0, 6.0]),
        ),
        ("ms_scaled_in_place", "mindspore-tape", [2.0, 4.0, 6.0]),
    ),
)
def test_what_mindspore_s_tape_makes_of_a_write_that_it_does_not_watch(
    workers: Workers, net: str, engine: str, gradient: list[float]
) -> None:
    scenario = load(NETS / f"{net}.py")
    request = settle(scenario, workers, (engine,), {engine: "cpu"}).requests[engine]
    reply = workers.call(
        "mindspore", f"{ENGINES[engine].module}:answer", CaseRequest(request, BY_FIRST), Result
    )
    assert not isinstance(reply, Lost)
    assert [unpack(leaf.value).tolist() for leaf in reply.leaves] == [gradient], reply.error
