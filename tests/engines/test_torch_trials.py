"""Operators of PyTorch computed again, alone, with what would end their process."""

import numpy as np
import pytest

from explorer.model.causes import InputChange, RecordedTrialsRequest, Trial, TrialsRequest, Tried
from explorer.model.graph import Arguments
from explorer.model.requests import CaseRequest
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests, reply
from tests.support.recorded_graph import graph

pytestmark = pytest.mark.torch

NET = "torch_two_norms"
ENGINE = "torch-tape"


@pytest.fixture
def requests(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "torch")


@pytest.mark.parametrize(
    ("op", "change"),
    [
        # It would write the statistics of 8 channels where there is room for 3 (torch 2.13).
        ("native_batch_norm.default", InputChange((0,), "transposed", (-2, -1))),
        ("native_batch_norm.default", InputChange((0, 3), "swapped")),
        # It would read the cotangent and the means beyond their ends.
        ("native_layer_norm_backward.default", InputChange((0, 4), "swapped")),
        ("native_layer_norm_backward.default", InputChange((2, 4), "swapped")),
    ],
)
def test_a_normalization_is_not_computed_with_tensors_that_do_not_fit(
    op: str, change: InputChange, requests: EngineRequests
) -> None:
    node = _node_of(requests, op)
    assert _tried(requests, Trial(node), Trial(node, inputs=(change,))) == [True, False]


@pytest.mark.parametrize("op", ["native_batch_norm.default", "native_layer_norm_backward.default"])
def test_one_is_computed_with_other_values_of_the_same_shapes(
    op: str, requests: EngineRequests
) -> None:
    node = _node_of(requests, op)
    change = InputChange((1,), "scaled", (2.0,))
    assert _tried(requests, Trial(node, inputs=(change,))) == [True]


@pytest.mark.parametrize(("channels", "is_computed"), [(3, True), (300, False)])
def test_a_group_norm_of_a_file_is_computed_where_its_numbers_fit_its_tensors(
    channels: int, is_computed: bool, workers: Workers
) -> None:
    # PyTorch 2.13 takes the numbers for the size of the input, and reads beyond its end.
    image = np.ones((2, 3, 4, 4), np.float32)
    numbers: Arguments = {"N": 2, "C": channels, "HxW": 16, "group": 1, "eps": 1e-5}
    arguments: Arguments = {"weight": None, "bias": None, **numbers}
    recorded = graph("aten.native_group_norm.default", image, arguments=arguments)
    request = RecordedTrialsRequest(recorded, {}, (Trial("op"),))
    target = "explorer.engines.torch.trials:try_out_recorded"
    called = workers.call("torch", target, request, Tried)
    assert [bool(outputs) for outputs in reply(called).outputs] == [is_computed]


def _node_of(requests: EngineRequests, op: str) -> str:
    (graph,) = requests.capture(NET, ENGINE).graphs
    return next(node.id for node in graph.nodes if op in node.op)


def _tried(requests: EngineRequests, *trials: Trial) -> list[bool]:
    case = CaseRequest(requests.net(NET, ENGINE), requests.widest(NET))
    target = "explorer.engines.torch.trials:try_out"
    called = requests.workers.call("torch", target, TrialsRequest(case, trials), Tried)
    return [bool(outputs) for outputs in reply(called).outputs]
