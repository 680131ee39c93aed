"""What depends on MindSpore's version: each feature is found, and is named where a version lacks it."""

import pytest

from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured, ResultNoise
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests
from tests.support.nets import net_file
from tests.support.worker_targets import Word

pytestmark = pytest.mark.mindspore

TARGETS = "tests.support.worker_targets"
NET = NetRequest(scenario=str(net_file("shared_weight")), engine="mindspore-tape")

SINCE = {
    "MsDispatchMode": "2.9",
    "_grad_node._unique_id": "2.9",
    "Tensor._grad_node": "2.8",
    "saved_tensors_hooks": "2.8",
    "graph._parse.parser": "2.9",
    "graph._parse.jit_fallback_modules": "2.9",
    "graph.api.ms_compile_cache": "2.9",
}


@pytest.mark.parametrize("name", SINCE)
def test_an_older_version_lacks_a_feature_has_a_fallback_and_says_since_when(
    workers: Workers, name: str
) -> None:
    reply = workers.call("mindspore", "tests.support.worker_targets:lacking", Word(name), Word)
    assert isinstance(reply, Word)
    assert reply.text.startswith("MindSpore 2.")
    assert reply.text.endswith(f"has no {name}; MindSpore {SINCE[name]} and later have it")


def test_the_gradient_of_a_weight_that_is_read_twice_is_a_sum_where_no_operator_of_backward_is_seen(
    mindspore: EngineRequests,
) -> None:
    request = CaseRequest(NET, GradCase("grad", None, "all"))
    graph = mindspore.call(f"{TARGETS}:captured_before_2_9", request, Captured).graphs[-1]
    nodes = {node.id: node for node in graph.nodes}
    (gradient,) = (node for node in graph.nodes if node.name == "dfc.weight")
    (into,) = (nodes[edge.origin] for edge in graph.edges if edge.target == gradient.id)
    assert (into.op, into.kind) == ("Add", "accumulate")
    addends = [nodes[edge.origin].phase for edge in graph.edges if edge.target == into.id]
    assert addends == ["backward", "backward"]


def test_where_noise_is_not_measured_it_is_known_what_the_net_returns(
    mindspore: EngineRequests,
) -> None:
    request = CaseRequest(NET, GradCase("value_and_grad", 0, "all"))
    noise = mindspore.call(f"{TARGETS}:noise_before_2_9", request, ResultNoise)
    assert noise.error is not None
    assert [leaf.name for leaf in noise.outputs] == ["out"]
