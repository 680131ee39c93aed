"""Operators of PyTorch computed again, alone, with what would end their process."""

import numpy as np
import pytest

from explorer.model.arrays import AnyArray
from explorer.model.causes import InputChange, RecordedTrialsRequest, Trial, TrialsRequest, Tried
from explorer.model.graph import Arguments, Edge, GradGraph, Node, Output
from explorer.model.requests import CaseRequest
from explorer.numeric.summaries import summarise
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


def test_ops_in_a_row_read_the_last_of_equal_values_as_it_lies_in_memory(workers: Workers) -> None:
    # A copy has the numbers of what is transposed, and only its memory can be seen as a row.
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    ops: list[tuple[str, AnyArray, Arguments]] = [
        ("aten.neg.default", -x, {}),
        ("aten.transpose.int", -x.T, {"dim0": 0, "dim1": 1}),
        ("aten.cat.default", -x.T, {"dim": 0}),
        ("aten.view.default", -x.T.ravel(), {"size": (6,)}),
    ]
    nodes = [Node(id="n0", op="input", kind="input", phase="forward", outputs=(_output(x),))]
    for place, (op, value, arguments) in enumerate(ops, 1):
        outputs = (_output(value),)
        nodes.append(
            Node(
                id=f"n{place}",
                op=op,
                kind="op",
                phase="forward",
                outputs=outputs,
                arguments=arguments,
            )
        )
    edges = tuple(Edge(f"n{place - 1}", f"n{place}", input=0) for place in range(1, len(nodes)))
    recorded = GradGraph(
        engine=ENGINE, case="a step", stage="tape", nodes=tuple(nodes), edges=edges
    )
    request = RecordedTrialsRequest(recorded, {}, (Trial("n1", then=("n2", "n3", "n4")),))
    target = "explorer.engines.torch.trials:try_out_recorded"
    ((made,),) = reply(workers.call("torch", target, request, Tried)).outputs
    assert made == _output(-x.T.ravel())


def _output(array: AnyArray) -> Output:
    return Output(array.shape, "float32", summarise(np.ascontiguousarray(array)))
