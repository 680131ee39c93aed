"""Writes into a tensor that backward needs, which MindSpore's tape does not notice."""

import pytest

from explorer.model.arrays import unpack
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.common_start import settle
from explorer.scenario.load import load
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import net_file
from tests.support.samples import some_rows
from tests.support.scenario_reports import BY_FIRST

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


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
    scenario = load(net_file(net))
    request = settle(scenario, workers, (engine,), {engine: "cpu"}).requests[engine]
    reply = workers.call(
        "mindspore", f"{ENGINES[engine].module}:answer", CaseRequest(request, BY_FIRST), Result
    )
    assert not isinstance(reply, Lost)
    assert [unpack(leaf.value).tolist() for leaf in reply.leaves] == [gradient], reply.error
