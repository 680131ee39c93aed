"""The proofs of values that captures carry, and that none of it changes an answer."""

import pytest

from explorer.model.graph import Absence, GradGraph, Node
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.words.graphs import why_missing
from explorer.workers.workers import Workers
from tests.support.engine_requests import compared, each, reply, requests_of
from tests.support.planting import Planting
from tests.support.standard_engines import ENGINES

ALL = each(ENGINES)


def graph_of(workers: Workers, name: str, engine: str) -> GradGraph:
    return compared(requests_of(workers, engine).capture(name, engine, prove="small"))


def ops(graph: GradGraph) -> list[Node]:
    return [node for node in graph.nodes if node.kind in ("op", "accumulate")]


def by_proof(graph: GradGraph, proof: str) -> list[Node]:
    return [node for node in ops(graph) if node.proof == proof]


@pytest.mark.parametrize("engine", ALL)
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
    workers: Workers, name: str, engine: str
) -> None:
    requests = requests_of(workers, engine)
    plain, proven = requests.capture(name, engine), requests.capture(name, engine, prove="small")
    assert proven.result == plain.result
    assert {node.proof for node in compared(plain).nodes} == {""}
    graph = compared(proven)
    unproven = [
        (node.op, node.missing.get("proof")) for node in ops(graph) if node.proof != "proven"
    ]
    # No hook hears of the slices that MindSpore's LSTM takes of its first state.
    slices = 2 if (name, engine) == ("lstm", "mindspore-tape") else 0
    assert unproven == [("Slice", Absence("no_operator"))] * slices
    assert {node.proof for node in graph.nodes if node not in ops(graph)} == {""}


@pytest.mark.parametrize("engine", ALL)
@pytest.mark.parametrize(
    "place", [7, *[pytest.param(place, marks=pytest.mark.whole) for place in (0, 16, 25, -1)]]
)
def test_one_wrong_value_is_refuted_and_it_alone(workers: Workers, place: int, engine: str) -> None:
    requests, name = requests_of(workers, engine), "attention_block"
    case = CaseRequest(requests.net(name, engine), requests.widest(name), prove="small")
    target, planting = "tests.support.planting:capture", Planting(case, place)
    kind = ENGINES[engine].captures_in
    graph = compared(reply(workers.call(kind, target, planting, Captured)))
    wrong = ops(graph)[place % len(ops(graph))]
    assert by_proof(graph, "refuted") == [wrong]
    assert by_proof(graph, "unproven") == []


@pytest.mark.parametrize("engine", ALL)
def test_a_draw_of_random_numbers_is_unproven_and_says_so(workers: Workers, engine: str) -> None:
    graph = graph_of(workers, "random_mask", engine)
    unproven = by_proof(graph, "unproven")
    # PyTorch's tape allocates memory first, into which it draws.
    drawn = [node for node in unproven if "empty" not in node.op]
    assert drawn
    assert all(node.missing["proof"] == Absence("random") for node in drawn)
    assert by_proof(graph, "refuted") == []


@pytest.mark.mindspore
def test_an_op_that_mindspore_cannot_run_alone_says_so_without_its_internals(
    workers: Workers,
) -> None:
    graph = graph_of(workers, "product_of_column", "mindspore-graph")
    reasons = {node.op: node.missing["proof"] for node in by_proof(graph, "unproven")}
    # Seen in 2.10.0.
    assert reasons["ProdExt"].kind == "raises_alone"
    error = reasons["ProdExt"].error
    assert error is not None
    assert error.kind == "no_memory"
    assert "internal error of MindSpore" in why_missing(reasons["ProdExt"])
    assert not any("CNode" in why_missing(reason) for reason in reasons.values())
