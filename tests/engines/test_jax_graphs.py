"""What the two engines of JAX capture, asked of them through their worker."""

import pytest

from explorer.engines.capture.lint import lint
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node, is_users
from explorer.model.results import Result
from explorer.scenario.find import find
from explorer.workers.workers import Workers
from tests.support.jax_requests import JAX_ENGINES, Jax, compared

pytestmark = pytest.mark.jax

CASES = {
    "dense_mse": GradCase("value_and_grad", (0, 1), "all", has_aux=True),
    "kinks": GradCase("grad", 0),
    "linear_bce": GradCase("grad", 0, "all"),
    "polynomial": GradCase("grad", 0, order=2),
    "shared_weight": GradCase("grad", 0, "all"),
    "view_and_slice": GradCase("grad", 0),
}
"""A case that asks much of a net."""


@pytest.fixture(scope="module")
def jax(workers: Workers) -> Jax:
    return Jax(workers)


def operators(graph: GradGraph) -> list[Node]:
    return [node for node in graph.nodes if node.kind in ("op", "accumulate")]


def near(one: Result, other: Result) -> bool:
    """Whether two answers are the same up to the rounding of single precision."""
    pairs = zip(one.leaves, other.leaves, strict=True)
    return all(
        unpack(left.value) == pytest.approx(unpack(right.value), nan_ok=True)
        for left, right in pairs
    )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_capture_changes_no_bit_and_its_record_replays_in_another_order_to_the_same(
    jax: Jax, engine: str, name: str
) -> None:
    answer = jax.answer(name, engine, CASES[name])
    captured = jax.capture(name, engine, CASES[name])
    assert answer.outcome == "ok", answer.error
    assert captured.result == answer
    # Compiled functions round otherwise than their operations one by one.
    assert near(jax.replay(name, engine, CASES[name]), answer)
    assert lint(compared(captured)) == []


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_every_value_is_proven_and_every_node_has_a_line_and_a_forward_link(
    jax: Jax, engine: str, name: str
) -> None:
    graph = compared(jax.capture(name, engine, CASES[name], prove="all"))
    for node in operators(graph):
        assert node.proof == "proven", node
        assert is_users(node.source[0]), node
        assert node.phase == "forward" or node.forward, node


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_the_nodes_of_a_dense_layer_are_those_of_jax(jax: Jax, engine: str) -> None:
    graph = compared(jax.capture("dense_mse", engine, CASES["dense_mse"]))
    by_op = {(node.op, node.phase): node for node in graph.nodes}
    product = by_op["dot_general", "forward"]
    assert product.source[0].startswith("dense_mse.py:")
    assert product.arguments["dimension_numbers"] == "(((1,), (0,)), ((), ()))"
    assert by_op["dot_general", "backward"].forward == product.id
    assert by_op["integer_pow", "forward"].arguments["y"] in (1, 2)
    names = {node.name for node in graph.nodes if node.kind == "output"}
    assert names == {"loss", "logits", "dx", "dy", "dfc.weight"}
    (seed,) = (node for node in graph.nodes if node.name == "seed")
    assert (seed.kind, seed.phase) == ("constant", "backward")
    saved = {node.name or node.op: node.saved_bytes for node in graph.nodes if node.saved_bytes}
    assert saved["x"] == 12
    assert graph.notes == (("op_by_op",) if engine == "jax-graph" else ())


def test_sums_of_gradients_are_accumulations_and_a_loop_runs_on_the_tape(jax: Jax) -> None:
    graph = compared(jax.capture("shared_weight", "jax-tape", CASES["shared_weight"]))
    sums = [node for node in graph.nodes if node.op == "add_any"]
    assert sums
    assert {node.kind for node in sums} == {"accumulate"}
    loop = compared(jax.capture("while_loop", "jax-tape", GradCase("grad", 0)))
    assert lint(loop) == []


def test_a_function_with_a_rule_of_its_own_has_the_line_that_calls_it(jax: Jax) -> None:
    graph = compared(jax.capture("kinks", "jax-tape", CASES["kinks"]))
    lines = find("kinks").read_text(encoding="utf-8").splitlines()
    called = [
        lines[int(node.source[0].rpartition(":")[2]) - 1]
        for node in graph.nodes
        if node.op == "max" and any("nn/functions.py" in line for line in node.source)
    ]
    assert called
    assert all("relu" in line for line in called)
