"""The proofs of values that captures carry, and that none of it changes an answer."""

from typing import Any

import msgspec
import pytest

from explorer.model.graph import Absence, GradGraph, Node
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.words.graphs import why_missing
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests, reply
from tests.support.planting import Planting
from tests.support.standard_engines import ENGINES

MARKS = {"mindspore": pytest.mark.mindspore, "torch": pytest.mark.torch}
ALL = [pytest.param(name, marks=MARKS[engine.framework]) for name, engine in ENGINES.items()]


class Proven:
    """Proven captures of one engine, by the names of nets."""

    def __init__(self, workers: Workers, engine: str) -> None:
        self.workers = workers
        self.engine = engine
        self.requests = EngineRequests(workers, ENGINES[engine].framework)

    def request(self, name: str, prove: Any = "small") -> CaseRequest:
        net = self.requests.net(name, self.engine)
        return CaseRequest(net, self.requests.widest(name), prove=prove)

    def capture(self, name: str, prove: Any = "small") -> Captured:
        target = f"{ENGINES[self.engine].module}:capture"
        return self._call(target, self.request(name, prove))

    def planted(self, name: str, place: int) -> Captured:
        planting = Planting(self.request(name), place)
        return self._call("tests.support.planting:capture", planting)

    def _call(self, target: str, argument: msgspec.Struct) -> Captured:
        kind = ENGINES[self.engine].captures_in
        return reply(self.workers.call(kind, target, argument, Captured))


@pytest.fixture
def proven(request: pytest.FixtureRequest, workers: Workers) -> Proven:
    return Proven(workers, request.param)


def ops(graph: GradGraph) -> list[Node]:
    return [node for node in graph.nodes if node.kind in ("op", "accumulate")]


def by_proof(graph: GradGraph, proof: str) -> list[Node]:
    return [node for node in ops(graph) if node.proof == proof]


@pytest.mark.parametrize("proven", ALL, indirect=True)
@pytest.mark.parametrize(
    "name",
    [
        "in_place_update",
        pytest.param("attention_block", marks=pytest.mark.whole),
        pytest.param("batch_norm_train", marks=pytest.mark.whole),
        pytest.param("lstm", marks=pytest.mark.whole),
    ],
)
def test_every_op_of_a_real_capture_is_proven_and_no_bit_of_the_answer_moves(
    name: str, proven: Proven
) -> None:
    plain, captured = proven.capture(name, "none"), proven.capture(name)
    assert captured.result == plain.result
    assert {node.proof for node in plain.graphs[-1].nodes} == {""}
    graph = captured.graphs[-1]
    assert [(node.op, node.proof) for node in ops(graph) if node.proof != "proven"] == []
    assert {node.proof for node in graph.nodes if node not in ops(graph)} == {""}


@pytest.mark.parametrize("proven", ALL, indirect=True)
@pytest.mark.parametrize(
    "place", [7, *[pytest.param(place, marks=pytest.mark.whole) for place in (0, 16, 25, -1)]]
)
def test_one_wrong_value_is_refuted_and_it_alone(place: int, proven: Proven) -> None:
    graph = proven.planted("attention_block", place).graphs[-1]
    wrong = ops(graph)[place % len(ops(graph))]
    assert by_proof(graph, "refuted") == [wrong]
    assert by_proof(graph, "unproven") == []


@pytest.mark.parametrize("proven", ALL, indirect=True)
def test_a_draw_of_random_numbers_is_unproven_and_says_so(proven: Proven) -> None:
    graph = proven.capture("random_mask").graphs[-1]
    unproven = by_proof(graph, "unproven")
    # PyTorch's tape allocates memory first, into which it draws.
    drawn = [node for node in unproven if "empty" not in node.op]
    assert drawn
    assert all(node.missing["proof"] == Absence("random") for node in drawn)
    assert by_proof(graph, "refuted") == []


@pytest.mark.mindspore
@pytest.mark.parametrize("proven", ["mindspore-graph"], indirect=True)
def test_an_op_that_mindspore_cannot_run_alone_says_so_without_its_internals(
    proven: Proven,
) -> None:
    graph = proven.capture("product_of_column").graphs[-1]
    reasons = {node.op: node.missing["proof"] for node in by_proof(graph, "unproven")}
    # Seen in 2.10.0.
    assert reasons["ProdExt"].kind == "raises_alone"
    error = reasons["ProdExt"].error
    assert error is not None
    assert error.kind == "no_memory"
    assert "internal error of MindSpore" in why_missing(reasons["ProdExt"])
    assert not any("CNode" in why_missing(reason) for reason in reasons.values())
