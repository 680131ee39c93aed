"""Operators computed again, alone: with other arguments, inputs, or in another's place."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from msgspec.structs import replace

from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.causes import (
    Edit,
    Factor,
    FromSlot,
    FromThere,
    InsertOperator,
    RecordedTrialsRequest,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Trial,
    TrialsRequest,
    Tried,
)
from explorer.model.engines import ENGINES
from explorer.model.graph import Arguments, ArgumentValue, GradGraph, Node, Output
from explorer.model.mended import MendedRequest, MendedRun, PutIn
from explorer.model.requests import CaseRequest
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.engine_requests import (
    FIRST,
    JAX_ENGINES,
    MINDSPORE_ENGINES,
    EngineRequests,
    compared,
    each,
    reply,
    requests_of,
)
from tests.support.handmade_graph import HandmadeGraph, of_operator
from tests.support.nets import net_file

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
    edits: list[Edit]
    expected: AnyArray | None


def given(**arguments: ArgumentValue) -> SetArguments:
    return SetArguments(arguments=arguments)


def of_sub(edit: Edit, expected: AnyArray | None) -> Change:
    return Change("Sub", [edit], expected)


def swapped(one: int, other: int) -> list[Edit]:
    """Two inputs in the place of each other."""
    slots = (one, other), (other, one)
    return [Rewire(slots=(slot,), source=FromSlot(read)) for slot, read in slots]


def trial(row: tuple[str, ...], *edits: Edit) -> Trial:
    """A row whose first op has some edits."""
    return Trial(row, tuple(replace(edit, node=row[0]) for edit in edits))


TURNED = InsertOperator(op="swap_axes", slots=(0,), numbers=(0, 1))
FLAT = InsertOperator(op="reshape", slots=(0,), shape=(1, Y.size))

CHANGES: dict[str, Change] = {
    "an operand": Change("Softmax", [given(axis=(0,))], softmax(X, 0)),
    "two attributes": Change("CumSum", [given(axis=0, reverse=True)], np.cumsum(X[::-1], 0)[::-1]),
    "an attribute": Change("L2Normalize", [given(axis=(0,))], X / np.linalg.norm(X, axis=0)),
    "an argument that is refused": Change("Softmax", [given(axis=(7,))], None),
    "an argument that it lacks": Change("Softmax", [given(unknown=1)], None),
    "an argument of another type": Change("Softmax", [given(axis="none")], None),
    "swapped": Change("Sub", swapped(0, 1), Y - X),
    "scaled": of_sub(InsertOperator(op="mul", slots=(1,), factor=Factor(2.0)), X - 2 * Y),
    "reversed": of_sub(InsertOperator(op="flip", slots=(0,), numbers=(1,)), X[:, ::-1] - Y),
    "rolled": of_sub(InsertOperator(op="roll", slots=(0,), numbers=(1, 1)), np.roll(X, 1, 1) - Y),
    "rounded": of_sub(
        InsertOperator(op="cast", slots=(0,), name="float16"),
        X.astype(np.float16).astype(np.float32) - Y,
    ),
    "inverted": of_sub(InsertOperator(op="not", slots=(1,)), X - (Y == 0)),
    "turned and flat": Change("ReLU", [TURNED, FLAT], np.maximum(Y, 0).T.reshape(1, -1)),
    # A value of the other side is given in the shape of the input.
    "given": of_sub(Rewire(slots=(1,), source=FromThere("", pack(2 * Y.ravel()))), X - 2 * Y),
    "given too small": of_sub(Rewire(slots=(1,), source=FromThere("", pack(Y.ravel()[1:]))), None),
    # Another operator or function takes what it knows of the arguments.
    "another operator": Change(
        "Softmax", [ReplaceOperator(op="LogSoftmax")], np.log(softmax(X, 1))
    ),
    "another of no arguments": Change("ReLU", [ReplaceOperator(op="Tanh")], np.tanh(Y)),
    "a function": Change(
        "ReLU", [ReplaceOperator(op="ops.leaky_relu")], np.where(Y > 0, Y, 0.2 * Y)
    ),
    "an unknown operator": of_sub(ReplaceOperator(op="NoSuchOperator"), None),
    "an unknown function": of_sub(ReplaceOperator(op="ops.no_such_function"), None),
    "left out": Change("Softmax", [RemoveOperator()], X),
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


@pytest.fixture(scope="module")
def tries(workers: Workers) -> Callable[[str], Tries]:
    """Gives what all trials give in an engine; the first who asks pays for it."""
    requests = EngineRequests(workers, "mindspore")

    @cache
    def tries_in(engine: str) -> Tries:
        captured = compared(requests.capture(NET, engine))
        changes = CHANGES.values()
        trials = [trial((forward(captured, it.op).id,), *it.edits) for it in changes]
        trials += [Trial((forward(captured, op).id,)) for op in UNCHANGED]
        norm = (forward(captured, "BatchNorm").id,)
        trials += [trial(norm, given(momentum=momentum)) for momentum in MOMENTA]

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
    requests = of_engine.requests
    requests.capture("ms_dense", "mindspore-graph")
    again = trial((forward(of_engine.graph, "Softmax").id,), given(axis=(0,)))
    ((output,),) = tried(requests, NET, engine, requests.widest(NET), again)
    assert np.array_equal(array(output), array(of_engine.by_change["an operand"][0]))


VIEWS = "ms_views_on_lines"


@pytest.mark.mindspore
def test_a_row_is_computed_again_with_the_copy_of_a_view_in_it(mindspore: EngineRequests) -> None:
    captured = compared(mindspore.capture(VIEWS, "mindspore-tape", FIRST))
    x = load(net_file(VIEWS)).inputs()["x"]
    tanh, exp, square = (forward(captured, op) for op in ("Tanh", "Exp", "Square"))
    turned, column = row(captured, tanh, exp), row(captured, tanh, square)
    nodes = captured.by_id()
    assert [nodes[node].op for node in turned] == ["Tanh", "Transpose", "Contiguous", "Exp"]
    assert [nodes[node].op for node in column] == ["Tanh", "Contiguous", "Square"]
    as_sine = ReplaceOperator(op="Sin")
    trials = Trial(turned), trial(turned, as_sine), trial(column, as_sine)
    own, other, of_a_part = tried(mindspore, VIEWS, "mindspore-tape", FIRST, *trials)
    assert array(own[0]) == pytest.approx(np.exp(np.tanh(x).T), rel=1e-5)
    assert array(other[0]) == pytest.approx(np.exp(np.sin(x).T), rel=1e-5)
    assert of_a_part == (), "which elements it takes nobody has announced"


# PyTorch: what would end the process

NORMS = "torch_two_norms"


@pytest.mark.torch
@pytest.mark.parametrize(
    ("op", "misfits"),
    [
        (
            # It would write the statistics of 8 channels where there is room for 3 (torch 2.13).
            "native_batch_norm.default",
            [[InsertOperator(op="swap_axes", slots=(0,), numbers=(-2, -1))], swapped(0, 3)],
        ),
        (
            # It would read the cotangent and the means beyond their ends.
            "native_layer_norm_backward.default",
            [swapped(0, 4), swapped(2, 4)],
        ),
    ],
)
def test_a_normalization_is_not_computed_with_tensors_that_do_not_fit(
    op: str, misfits: list[list[Edit]], torch: EngineRequests
) -> None:
    captured = compared(torch.capture(NORMS, "torch-tape"))
    node = next((node.id,) for node in captured.nodes if op in node.op)
    scaled = InsertOperator(op="mul", slots=(1,), factor=Factor(2.0))
    changed = [trial(node), trial(node, scaled), *(trial(node, *edits) for edits in misfits)]
    outputs = tried(torch, NORMS, "torch-tape", torch.widest(NORMS), *changed)
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
    recorded = of_operator("aten.native_group_norm.default", image, arguments=arguments)
    request = RecordedTrialsRequest(recorded, {}, (Trial(("op",)),))
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
    turned = trial(("n1",), InsertOperator(op="reshape", slots=(0,), shape=(3, 2)))
    request = RecordedTrialsRequest(g.record(), {}, (Trial(("n1", "n2", "n3", "n4")), turned))
    target = "explorer.engines.torch.trials:try_out_recorded"
    (output,), (reshaped,) = torch.call(target, request, Tried).outputs
    assert array(output).tolist() == (-x.T).ravel().tolist()
    assert array(reshaped).tolist() == (-x).reshape(3, 2).tolist()


@pytest.mark.mindspore
def test_a_net_runs_in_the_process_that_has_computed_an_op_of_a_file() -> None:
    # MindSpore 2.10 takes no device once an op has run.
    recorded = RecordedTrialsRequest(of_operator("Neg", np.ones(2)), {}, (Trial(("op",)),))
    with Workers() as crew:
        mindspore = EngineRequests(crew, "mindspore")
        ((output,),) = mindspore.call(
            "explorer.engines.mindspore.trials:try_out_recorded", recorded, Tried
        ).outputs
        assert array(output).tolist() == [-1, -1]
        assert compared(mindspore.capture("dense_mse", "mindspore-tape", CASE)).nodes


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
    difference, power = ((forward(captured, op).id,) for op in ("sub", "integer_pow"))
    scaled = InsertOperator(op="mul", slots=(0,), factor=Factor(2.0))
    trials = (
        Trial(difference),
        trial(difference, *swapped(0, 1)),
        trial(difference, RemoveOperator(hands_on=0)),
        trial(power, given(y=3), scaled),
        trial(power, InsertOperator(op="reshape", slots=(0,), shape=(1, 1))),
        trial(power, given(y="three")),
        Trial(("n999",)),
    )
    values = [first_values(outputs) for outputs in tried(jax, "dense_mse", engine, CASE, *trials)]
    assert values == [[1], [-1], [20], [8], [1], None, None]


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
    """Two nodes of a graph and those between them, in order."""
    return tuple(node.id for node in GraphView(captured).row(first.id, last.id))


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_sum_over_other_axes_is_divided_by_how_many_these_have(
    workers: Workers, engine: str
) -> None:
    captured = compared(requests_of(workers, engine).capture("jax_placing", engine, PLACING))
    total = forward(captured, "reduce_sum")
    nodes = row(captured, total, forward(captured, "sub"))
    others = ((0, 2), (0, 1, 2), (0,))
    trials = [Trial(nodes)]
    trials += [trial(nodes, given(axes=axes)) for axes in others]
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
    again = row(captured, rows, mean)
    trials = Trial(again), trial(again, given(axes=(0, 1)))
    for own, counted_twice in both_ways(workers, engine, captured, *trials):
        assert own == pytest.approx([CENTRED[:, -1].sum() / 2])
        assert counted_twice is None


@pytest.mark.parametrize("engine", each(JAX_ENGINES))
def test_a_slice_is_tried_from_another_place(workers: Workers, engine: str) -> None:
    captured = compared(requests_of(workers, engine).capture("jax_placing", engine, PLACING))
    last = forward(captured, "dynamic_slice")
    assert last.arguments["start_indices"] == (0, 2, 0)
    assert last.arguments["slice_sizes"] == (2, 1, 4)
    trials = Trial((last.id,)), trial((last.id,), given(start_indices=(0, 1, 0)))
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
