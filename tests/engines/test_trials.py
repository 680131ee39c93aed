"""Operators computed again, alone: with other arguments, inputs, or in another's place."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.causes import (
    LEFT_OUT,
    InputChange,
    RecordedTrialsRequest,
    Trial,
    TrialsRequest,
    Tried,
)
from explorer.model.engines import ENGINES
from explorer.model.graph import Arguments, GradGraph, Node, Output
from explorer.model.mended import MendedRequest, MendedRun, PutIn
from explorer.model.requests import CaseRequest
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.engine_requests import (
    JAX_ENGINES,
    MINDSPORE_ENGINES,
    EngineRequests,
    compared,
    each,
    reply,
    requests_of,
)
from tests.support.handmade_graph import HandmadeGraph
from tests.support.nets import net_file
from tests.support.recorded_graph import graph

Outputs = tuple[Output, ...]


def forward(captured: GradGraph, op: str) -> Node:
    """The first node of an operator in forward."""
    return next(node for node in captured.nodes if (node.op, node.phase) == (op, "forward"))


def array(output: Output) -> AnyArray:
    assert output.values is not None
    assert output.values.whole is not None
    return unpack(output.values.whole)


def tried(
    requests: EngineRequests, name: str, engine: str, case: GradCase, *trials: Trial
) -> tuple[Outputs, ...]:
    """The outputs of each trial in a net's graph."""
    request = TrialsRequest(CaseRequest(requests.net(name, engine), case), trials)
    target = f"explorer.engines.{requests.framework}.trials:try_out"
    kind = ENGINES[engine].captures_in
    return reply(requests.workers.call(kind, target, request, Tried)).outputs


# MindSpore: a table of trials, all of which are computed in one request

NET = "ms_tried_operators"

X, Y = load(net_file(NET)).inputs().values()


def softmax(values: AnyArray, axis: int) -> AnyArray:
    powers = np.exp(values - values.max(axis, keepdims=True))
    shares: AnyArray = powers / powers.sum(axis, keepdims=True)
    return shares


class Change(NamedTuple):
    """A trial of an operator, and its first output; None where it gives nothing."""

    op: str
    fields: dict[str, Any]
    expected: AnyArray | None


def of_sub(change: InputChange, expected: AnyArray | None) -> Change:
    return Change("Sub", {"inputs": (change,)}, expected)


CHANGES: dict[str, Change] = {
    "an operand": Change("Softmax", {"arguments": {"axis": (0,)}}, softmax(X, 0)),
    "two attributes": Change(
        "CumSum", {"arguments": {"axis": 0, "reverse": True}}, np.cumsum(X[::-1], 0)[::-1]
    ),
    "an attribute": Change(
        "L2Normalize", {"arguments": {"axis": (0,)}}, X / np.linalg.norm(X, axis=0)
    ),
    "an argument that is refused": Change("Softmax", {"arguments": {"axis": (7,)}}, None),
    "an argument that it lacks": Change("Softmax", {"arguments": {"unknown": 1}}, None),
    "an argument of another type": Change("Softmax", {"arguments": {"axis": "none"}}, None),
    "swapped": of_sub(InputChange((0, 1), "swapped"), Y - X),
    "scaled": of_sub(InputChange((1,), "scaled", (2.0,)), X - 2 * Y),
    "reversed": of_sub(InputChange((0,), "reversed", (1.0,)), X[:, ::-1] - Y),
    "rolled": of_sub(InputChange((0,), "rolled", (1.0, 1.0)), np.roll(X, 1, 1) - Y),
    "rounded": of_sub(
        InputChange((0,), "rounded", dtype="float16"), X.astype(np.float16).astype(np.float32) - Y
    ),
    "transposed": Change(
        "ReLU", {"inputs": (InputChange((0,), "transposed", (0.0, 1.0)),)}, np.maximum(Y, 0).T
    ),
    # A value of the other side is given in the shape of the input.
    "given": of_sub(InputChange((1,), "given", value=pack(2 * Y.ravel())), X - 2 * Y),
    "given too small": of_sub(InputChange((1,), "given", value=pack(Y.ravel()[1:])), None),
    # Another operator or function takes what it knows of the arguments.
    "another operator": Change("Softmax", {"op": "LogSoftmax"}, np.log(softmax(X, 1))),
    "another of no arguments": Change("ReLU", {"op": "Tanh"}, np.tanh(Y)),
    "a function": Change("ReLU", {"op": "ops.leaky_relu"}, np.where(Y > 0, Y, 0.2 * Y)),
    "an unknown operator": Change("Sub", {"op": "NoSuchOperator"}, None),
    "an unknown function": Change("Sub", {"op": "ops.no_such_function"}, None),
    "left out": Change("Softmax", {"op": LEFT_OUT}, X),
}

UNCHANGED = ("Softmax", "Sub", "ReLU")

MOMENTA = (0.25, 1.0)


class Tries(NamedTuple):
    """The graph of the net, and the outputs of all trials in it."""

    requests: EngineRequests
    graph: GradGraph
    by_change: dict[str, Outputs]
    unchanged: tuple[Outputs, ...]
    by_momentum: tuple[Outputs, ...]

    @property
    def case(self) -> GradCase:
        return self.requests.widest(NET)


@pytest.fixture(scope="module")
def tries(workers: Workers) -> Callable[[str], Tries]:
    """Gives what all trials give in an engine; the first who asks pays for it."""
    requests = EngineRequests(workers, "mindspore")

    @cache
    def tries_in(engine: str) -> Tries:
        captured = compared(requests.capture(NET, engine))
        changes = CHANGES.values()
        trials = [Trial(forward(captured, it.op).id, **it.fields) for it in changes]
        trials += [Trial(forward(captured, op).id) for op in UNCHANGED]
        norm = forward(captured, "BatchNorm").id
        trials += [Trial(norm, arguments={"momentum": momentum}) for momentum in MOMENTA]

        outputs = tried(requests, NET, engine, requests.widest(NET), *trials)
        changed = dict(zip(CHANGES, outputs, strict=False))
        rest = outputs[len(CHANGES) :]
        return Tries(requests, captured, changed, rest[: len(UNCHANGED)], rest[len(UNCHANGED) :])

    return tries_in


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
@pytest.mark.parametrize("change", CHANGES)
def test_a_trial_gives_what_its_change_means_in_numpy(
    tries: Callable[[str], Tries], engine: str, change: str
) -> None:
    outputs, expected = tries(engine).by_change[change], CHANGES[change].expected
    if expected is None:
        assert outputs == ()
    else:
        assert array(outputs[0]) == pytest.approx(expected, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_nothing_changed_gives_what_was_recorded(
    tries: Callable[[str], Tries], engine: str
) -> None:
    of_engine = tries(engine)
    for op, outputs in zip(UNCHANGED, of_engine.unchanged, strict=True):
        assert np.array_equal(array(outputs[0]), array(forward(of_engine.graph, op).outputs[0]))


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_what_batch_norm_writes_comes_last_and_each_trial_begins_with_what_was_recorded(
    tries: Callable[[str], Tries], engine: str
) -> None:
    for momentum, outputs in zip(MOMENTA, tries(engine).by_momentum, strict=True):
        mean, variance = map(array, outputs[-2:])
        assert mean == pytest.approx(momentum * X.mean(0), abs=1e-6)
        assert variance == pytest.approx(1 - momentum + momentum * X.var(0, ddof=1))


@pytest.mark.parametrize("engine", each(MINDSPORE_ENGINES))
def test_a_graph_that_is_not_held_is_captured_again(
    tries: Callable[[str], Tries], engine: str
) -> None:
    of_engine = tries(engine)
    of_engine.requests.capture("ms_dense", "mindspore-graph")
    trial = Trial(forward(of_engine.graph, "Softmax").id, arguments={"axis": (0,)})
    ((output,),) = tried(of_engine.requests, NET, engine, of_engine.case, trial)
    assert np.array_equal(array(output), array(of_engine.by_change["an operand"][0]))


# PyTorch: what would end the process

NORMS = "torch_two_norms"


@pytest.mark.torch
@pytest.mark.parametrize(
    ("op", "misfits"),
    [
        (
            # It would write the statistics of 8 channels where there is room for 3 (torch 2.13).
            "native_batch_norm.default",
            [InputChange((0,), "transposed", (-2, -1)), InputChange((0, 3), "swapped")],
        ),
        (
            # It would read the cotangent and the means beyond their ends.
            "native_layer_norm_backward.default",
            [InputChange((0, 4), "swapped"), InputChange((2, 4), "swapped")],
        ),
    ],
)
def test_a_normalization_is_not_computed_with_tensors_that_do_not_fit(
    op: str, misfits: list[InputChange], torch: EngineRequests
) -> None:
    captured = compared(torch.capture(NORMS, "torch-tape"))
    node = next(node.id for node in captured.nodes if op in node.op)
    scaled = InputChange((1,), "scaled", (2.0,))
    changed = [Trial(node, inputs=(change,)) for change in (scaled, *misfits)]
    outputs = tried(torch, NORMS, "torch-tape", torch.widest(NORMS), Trial(node), *changed)
    assert list(map(bool, outputs)) == [True, True, False, False]


@pytest.mark.torch
@pytest.mark.parametrize(("channels", "is_computed"), [(3, True), (300, False)])
def test_a_group_norm_of_a_file_is_computed_where_its_numbers_fit_its_tensors(
    channels: int, is_computed: bool, torch: EngineRequests
) -> None:
    # PyTorch 2.13 takes the numbers for the size of the input, and reads beyond its end.
    image = np.ones((2, 3, 4, 4), np.float32)
    numbers: Arguments = {"N": 2, "C": channels, "HxW": 16, "group": 1, "eps": 1e-5}
    arguments: Arguments = {"weight": None, "bias": None, **numbers}
    recorded = graph("aten.native_group_norm.default", image, arguments=arguments)
    request = RecordedTrialsRequest(recorded, {}, (Trial("op"),))
    outputs = torch.call("explorer.engines.torch.trials:try_out_recorded", request, Tried).outputs
    assert list(map(bool, outputs)) == [is_computed]


@pytest.mark.torch
def test_ops_in_a_row_read_the_last_of_equal_values_as_it_lies_in_memory(
    torch: EngineRequests,
) -> None:
    # A copy has the numbers of what is transposed, and only its memory can be seen as a row.
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    ops: list[tuple[str, AnyArray, Arguments]] = [
        ("aten.neg.default", -x, {}),
        ("aten.transpose.int", -x.T, {"dim0": 0, "dim1": 1}),
        ("aten.cat.default", -x.T, {"dim": 0}),
        ("aten.view.default", -x.T.ravel(), {"size": (6,)}),
    ]
    g = HandmadeGraph()
    last = g.leaf("x", "input", x)
    for op, made, arguments in ops:
        last = g.add(op, [last], value=made, arguments=arguments)
    request = RecordedTrialsRequest(g.record(), {}, (Trial("n1", then=("n2", "n3", "n4")),))
    target = "explorer.engines.torch.trials:try_out_recorded"
    ((output,),) = torch.call(target, request, Tried).outputs
    assert array(output).tolist() == (-x.T).ravel().tolist()


# JAX: in the net, and on the record of its graph alone

CASE = GradCase("value_and_grad", (0, 1), "all", has_aux=True)

PLACING = GradCase("value_and_grad", (0,), "all")
P = np.arange(24, dtype=np.float32).reshape(2, 3, 4) ** 2 / 8
CENTRED = P - P.mean(2, keepdims=True)


def first_values(outputs: Outputs) -> list[float] | None:
    """The elements of the only output; None where there is none."""
    return list(array(outputs[0]).ravel()) if outputs else None


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_trial_in_jax_changes_arguments_and_inputs(workers: Workers, engine: str) -> None:
    jax = requests_of(workers, engine)
    captured = compared(jax.capture("dense_mse", engine, CASE))
    difference, power = forward(captured, "sub"), forward(captured, "integer_pow")
    trials = (
        Trial(difference.id),
        Trial(difference.id, inputs=(InputChange((0, 1), "swapped"),)),
        Trial(difference.id, op=LEFT_OUT, hands_on=0),
        Trial(power.id, arguments={"y": 3}, inputs=(InputChange((0,), "scaled", (2.0,)),)),
        Trial(power.id, arguments={"y": "three"}),
        Trial("n999"),
    )
    values = [first_values(outputs) for outputs in tried(jax, "dense_mse", engine, CASE, *trials)]
    assert values == [[1], [-1], [20], [8], None, None]


def both_ways(
    workers: Workers, engine: str, captured: GradGraph, *trials: Trial
) -> list[list[list[float] | None]]:
    """What trials give in the net, and on the record of its graph alone."""
    jax = requests_of(workers, engine)
    recorded = RecordedTrialsRequest(captured, {}, trials)
    alone = jax.call("explorer.engines.jax.trials:try_out_recorded", recorded, Tried).outputs
    in_net = tried(jax, "jax_placing", engine, PLACING, *trials)
    return [list(map(first_values, outputs)) for outputs in (in_net, alone)]


def row(captured: GradGraph, first: Node, last: Node) -> tuple[str, ...]:
    """The nodes between two of a graph and the last, in order."""
    return tuple(node.id for node in GraphView(captured).row(first.id, last.id)[1:])


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_sum_over_other_axes_is_divided_by_how_many_these_have(
    workers: Workers, engine: str
) -> None:
    captured = compared(requests_of(workers, engine).capture("jax_placing", engine, PLACING))
    total = forward(captured, "reduce_sum")
    then = row(captured, total, forward(captured, "sub"))
    others = ((0, 2), (0, 1, 2), (0,))
    trials = [Trial(total.id, then=then)]
    trials += [Trial(total.id, {"axes": axes}, then=then) for axes in others]
    for own, fewer, one, refused in both_ways(workers, engine, captured, *trials):
        assert own == pytest.approx(CENTRED.ravel())
        assert fewer == pytest.approx((P - P.mean((0, 2), keepdims=True)).ravel())
        assert one == pytest.approx((P - P.mean()).ravel())
        assert refused is None, "the axis along which the mean is taken would be kept"


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_sum_that_is_summed_again_is_tried_over_no_further_axis(
    workers: Workers, engine: str
) -> None:
    captured = compared(requests_of(workers, engine).capture("jax_placing", engine, PLACING))
    nodes = [node for node in captured.nodes if node.phase == "forward"]
    rows, whole = [node for node in nodes if node.op == "reduce_sum"][1:3]
    assert (rows.arguments["axes"], whole.arguments["axes"]) == ((1,), (0,))
    mean = next(node for node in nodes if node.op == "div" and node.order > whole.order)
    then = row(captured, rows, mean)
    trials = Trial(rows.id, then=then), Trial(rows.id, {"axes": (0, 1)}, then=then)
    for own, counted_twice in both_ways(workers, engine, captured, *trials):
        assert own == pytest.approx([CENTRED[:, -1].sum() / 2])
        assert counted_twice is None


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_slice_is_tried_from_another_place(workers: Workers, engine: str) -> None:
    captured = compared(requests_of(workers, engine).capture("jax_placing", engine, PLACING))
    last = forward(captured, "dynamic_slice")
    assert last.arguments["start_indices"] == (0, 2, 0)
    assert last.arguments["slice_sizes"] == (2, 1, 4)
    trials = (Trial(last.id), Trial(last.id, {"start_indices": (0, 1, 0)}))
    for own, other in both_ways(workers, engine, captured, *trials):
        assert own == pytest.approx(CENTRED[:, 2].ravel())
        assert other == pytest.approx(CENTRED[:, 1].ravel())


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_net_goes_on_with_values_that_are_put_in(workers: Workers, engine: str) -> None:
    jax = requests_of(workers, engine)
    captured = compared(jax.capture("dense_mse", engine, CASE))
    product = forward(captured, "dot_general")
    put_in = PutIn(product.id, 0, pack(np.array([[21.0]], np.float32)))
    request = MendedRequest(CaseRequest(jax.net("dense_mse", engine), CASE), (put_in,))
    run = jax.call("explorer.engines.jax.mended:capture_mended", request, MendedRun)
    assert run.graph
    assert [node.op for node in run.graph.nodes] == [node.op for node in captured.nodes]
    outputs = {node.name: node.outputs for node in run.graph.nodes if node.kind == "output"}
    assert first_values(outputs["loss"]) == [4]  # (21 - 19) ** 2
    assert first_values(outputs["dx"]) == [8, 12, 16]
