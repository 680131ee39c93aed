"""Operations of JAX's graphs computed again: otherwise rounded, with other arguments, with other values."""

import numpy as np
import pytest

from explorer.compare.flow import Flow
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.causes import (
    LEFT_OUT,
    InputChange,
    RecordedTrialsRequest,
    Trial,
    TrialsRequest,
    Tried,
)
from explorer.model.graph import GradGraph, Node
from explorer.model.mended import MendedRequest, MendedRun, PutIn
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, ResultNoise
from explorer.workers.workers import Workers
from tests.support.jax_requests import JAX_ENGINES, Jax, compared

pytestmark = pytest.mark.jax

CASE = GradCase("value_and_grad", (0, 1), "all", has_aux=True)


@pytest.fixture(scope="module")
def jax(workers: Workers) -> Jax:
    return Jax(workers)


def forward(graph: GradGraph, op: str) -> Node:
    """The first node of an operation in forward."""
    return next(node for node in graph.nodes if node.op == op and node.phase == "forward")


def first_value(tried: tuple[object, ...]) -> list[float]:
    (output,) = tried
    summary = output.values  # type: ignore[attr-defined]
    return list(unpack(summary.whole).ravel())


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_what_rounds_has_noise_and_what_is_exact_has_none(jax: Jax, engine: str) -> None:
    exact = CaseRequest(jax.net("dense_mse", engine), CASE)
    still = jax.call("explorer.engines.jax.noise:results", exact, ResultNoise)
    assert still.runs == 3
    assert all(not unpack(leaf.movement).any() for leaf in still.leaves)
    request = CaseRequest(jax.net("linear_bce", engine), GradCase("grad", 0, "all"))
    noise = jax.call("explorer.engines.jax.noise:results", request, ResultNoise)
    assert any(unpack(leaf.movement).any() for leaf in noise.leaves)
    nodes = compared(jax.call("explorer.engines.jax.noise:capture", request, Captured)).nodes
    assert any(output.noise for node in nodes for output in node.outputs)


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_trial_changes_arguments_and_inputs(jax: Jax, engine: str) -> None:
    request = CaseRequest(jax.net("dense_mse", engine), CASE)
    graph = compared(jax.capture("dense_mse", engine, CASE))
    difference, power = forward(graph, "sub"), forward(graph, "integer_pow")
    trials = (
        Trial(difference.id),
        Trial(difference.id, inputs=(InputChange((0, 1), "swapped"),)),
        Trial(difference.id, op=LEFT_OUT, hands_on=0),
        Trial(power.id, arguments={"y": 3}, inputs=(InputChange((0,), "scaled", (2.0,)),)),
        Trial(power.id, arguments={"y": "three"}),
        Trial("n999"),
    )
    tried = jax.call("explorer.engines.jax.trials:try_out", TrialsRequest(request, trials), Tried)
    values = [first_value(outputs) if outputs else None for outputs in tried.outputs]
    assert values == [[1], [-1], [20], [8], None, None]


PLACING = GradCase("value_and_grad", (0,), "all")
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) ** 2 / 8


def outcomes(jax: Jax, engine: str, graph: GradGraph, trials: tuple[Trial, ...]) -> list[Tried]:
    """What trials give in the net, and on the record of its graph alone."""
    request = TrialsRequest(CaseRequest(jax.net("jax_placing", engine), PLACING), trials)
    recorded = RecordedTrialsRequest(graph, {}, trials)
    return [
        jax.call("explorer.engines.jax.trials:try_out", request, Tried),
        jax.call("explorer.engines.jax.trials:try_out_recorded", recorded, Tried),
    ]


def row(graph: GradGraph, first: Node, last: Node) -> tuple[str, ...]:
    """The nodes between two of a graph and the last, in order."""
    return tuple(node.id for node in Flow(graph).row(first.id, last.id)[1:])


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_sum_over_other_axes_is_divided_by_how_many_these_have(jax: Jax, engine: str) -> None:
    graph = compared(jax.capture("jax_placing", engine, PLACING))
    total, centred = forward(graph, "reduce_sum"), forward(graph, "sub")
    then = row(graph, total, centred)
    trials = (
        Trial(total.id, then=then),
        Trial(total.id, {"axes": (0, 2)}, then=then),
        Trial(total.id, {"axes": (0, 1, 2)}, then=then),
        Trial(total.id, {"axes": (0,)}, then=then),
    )
    for tried in outcomes(jax, engine, graph, trials):
        own, fewer, one, refused = tried.outputs
        assert first_value(own) == pytest.approx((X - X.mean(2, keepdims=True)).ravel())
        assert first_value(fewer) == pytest.approx((X - X.mean((0, 2), keepdims=True)).ravel())
        assert first_value(one) == pytest.approx((X - X.mean()).ravel())
        assert refused == (), "the axis along which the mean is taken would be kept"


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_sum_that_is_summed_again_is_tried_over_no_further_axis(jax: Jax, engine: str) -> None:
    graph = compared(jax.capture("jax_placing", engine, PLACING))
    nodes = [node for node in graph.nodes if node.phase == "forward"]
    rows, whole = [node for node in nodes if node.op == "reduce_sum"][1:3]
    assert (rows.arguments["axes"], whole.arguments["axes"]) == ((1,), (0,))
    mean = next(node for node in nodes if node.op == "div" and node.order > whole.order)
    then = row(graph, rows, mean)
    trials = Trial(rows.id, then=then), Trial(rows.id, {"axes": (0, 1)}, then=then)
    for tried in outcomes(jax, engine, graph, trials):
        own, counted_twice = tried.outputs
        assert first_value(own) == pytest.approx([(X - X.mean(2, keepdims=True))[:, -1].sum() / 2])
        assert counted_twice == ()


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_slice_is_tried_from_another_place(jax: Jax, engine: str) -> None:
    graph = compared(jax.capture("jax_placing", engine, PLACING))
    last = forward(graph, "dynamic_slice")
    assert last.arguments["start_indices"] == (0, 2, 0)
    assert last.arguments["slice_sizes"] == (2, 1, 4)
    trials = (Trial(last.id), Trial(last.id, {"start_indices": (0, 1, 0)}))
    centred = X - X.mean(2, keepdims=True)
    for tried in outcomes(jax, engine, graph, trials):
        own, other = map(first_value, tried.outputs)
        assert own == pytest.approx(centred[:, 2].ravel())
        assert other == pytest.approx(centred[:, 1].ravel())


@pytest.mark.parametrize("engine", JAX_ENGINES)
def test_a_net_goes_on_with_values_that_are_put_in(jax: Jax, engine: str) -> None:
    request = CaseRequest(jax.net("dense_mse", engine), CASE)
    graph = compared(jax.capture("dense_mse", engine, CASE))
    product = forward(graph, "dot_general")
    put_in = PutIn(product.id, 0, pack(np.array([[21.0]], np.float32)))
    target = "explorer.engines.jax.mended:capture_mended"
    run = jax.call(target, MendedRequest(request, (put_in,)), MendedRun)
    assert run.graph
    assert [node.op for node in run.graph.nodes] == [node.op for node in graph.nodes]
    outputs = {node.name: node.outputs for node in run.graph.nodes if node.kind == "output"}
    assert first_value(outputs["loss"]) == [4]  # (21 - 19) ** 2
    assert first_value(outputs["dx"]) == [8, 12, 16]
