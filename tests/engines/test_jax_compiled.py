"""The graph of a gradient as XLA compiles it."""

import pytest

from explorer.engines.capture.lint import lint
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, is_users
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests

pytestmark = pytest.mark.jax

CASES = {
    "dense_mse": GradCase("value_and_grad", (0, 1), "all", has_aux=True),
    "linear_bce": GradCase("grad", 0, "all"),
    "polynomial": GradCase("grad", 0, order=2),
    "jax_loops": GradCase("grad", (0, 1), "all"),
    "lstm": GradCase("value_and_grad", 0, "all"),
}


def stages(workers: Workers, name: str) -> tuple[GradGraph, ...]:
    captured = EngineRequests(workers, "jax").capture(name, "jax-graph", CASES[name])
    assert captured.result.outcome == "ok", captured.result.error
    return captured.graphs


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_program_is_a_stage_beside_the_one_that_is_compared(
    workers: Workers, name: str
) -> None:
    compiled, derived = stages(workers, name)
    assert (compiled.stage, derived.stage) == ("hlo", "jaxpr")
    assert lint(compiled) == []
    for kind in ("input", "parameter", "output"):
        names = {node.name for node in derived.nodes if node.kind == kind}
        if CASES[name].api == "grad":
            names -= {"out", "loss"}  # jax.grad returns no output, and XLA leaves it out
        assert {node.name for node in compiled.nodes if node.kind == kind} >= names
    assert not any(output.values for node in compiled.nodes for output in node.outputs)
    shapes = {node.name: node.outputs[0].shape for node in derived.nodes if node.kind == "output"}
    for node in compiled.nodes:
        if node.kind == "output" and node.name in shapes:
            assert node.outputs[0].shape == shapes[node.name]


def test_fusions_hold_their_instructions_with_lines_and_forward_links(workers: Workers) -> None:
    compiled, _ = stages(workers, "dense_mse")
    fused = [node for node in compiled.nodes if node.body]
    assert any("fusion" in node.body for node in fused)
    subtractions = [node for node in compiled.nodes if node.op == "subtract"]
    assert len({node.body for node in subtractions}) > 1, "XLA computes it anew in each fusion"
    assert all(is_users(node.source[0]) for node in subtractions)
    backward = [node for node in compiled.nodes if node.phase == "backward" and node.kind == "op"]
    assert backward
    assert all(node.forward for node in backward)
    products = [node for node in compiled.nodes if node.op == "dot"]
    assert products[0].arguments["lhs_contracting_dims"]
