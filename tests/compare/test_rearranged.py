"""Where two graphs put the same numbers elsewhere, and what of it is no cause."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.causes.from_values import related_cause
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray
from explorer.model.causes import Cause, InsertOperator, RemoveOperator
from explorer.model.divergence import ExtraOps, Gap, Place
from explorer.model.graph import GradGraph
from explorer.words.causes import in_short
from tests.support.divergence_records import end, other_value, row
from tests.support.handmade_graph import HandmadeGraph
from tests.support.narrowing import present
from tests.support.written_nets import net

RANDOM = np.random.default_rng(17)
X = RANDOM.normal(size=(2, 5, 24)).astype(np.float32)
IMAGE = RANDOM.normal(size=(2, 4, 4, 6)).astype(np.float32)
WINDOWS = (2, 2, 2, 2, 2, 6)
ORDER = (0, 1, 3, 2, 4, 5)


def graph(engine: str, value: AnyArray, *steps: tuple[str, AnyArray]) -> GradGraph:
    """What an op computes, the ops in a row behind it, and a sum that reads the last."""
    made = HandmadeGraph()
    last = made.add("MatMul", value=value)
    for op, moved in steps:
        last = made.add(op, [last], value=moved)
    made.add("Tanh", [last], value=np.tanh(steps[-1][1]))
    return made.record(engine=engine)


def cause_between(left: GradGraph, right: GradGraph, nodes: tuple[str, str]) -> Cause | None:
    return related_cause(other_value(*nodes), GraphView(left), GraphView(right))


def heads(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[tuple[str, AnyArray], ...]:
    cut = X.reshape(shape)
    return ("Reshape", cut), ("Transpose", cut.transpose(order))


def test_heads_that_are_cut_before_the_three_are_another_shape_and_order_of_what_is_cut() -> None:
    left = graph("torch-tape", X, *heads((2, 5, 3, 2, 4), (2, 0, 3, 1, 4)))
    right = graph("mindspore-tape", X, *heads((2, 5, 2, 3, 4), (3, 0, 2, 1, 4)))
    cause = present(cause_between(left, right, ("n2", "n2")))
    wanted = InsertOperator(op="regroup", shape=(2, 5, 2, 3, 4), numbers=(3, 0, 2, 1, 4))
    assert (cause.side, cause.node, cause.edits) == ("left", "n0", (wanted,))


@pytest.mark.parametrize("is_left", [True, False])
def test_an_op_that_spreads_a_value_over_as_many_elements_changes_nothing_on_the_way(
    is_left: bool,
) -> None:
    same = ("BroadcastTo", X)
    ways = heads((2, 5, 3, 2, 4), (2, 0, 3, 1, 4)), heads((2, 5, 2, 3, 4), (3, 0, 2, 1, 4))
    left = graph("torch-tape", X, *([same] if is_left else []), *ways[0])
    right = graph("mindspore-tape", X, *([] if is_left else [same]), *ways[1])
    nodes = ("n3", "n2") if is_left else ("n2", "n3")
    cause = present(cause_between(left, right, nodes))
    assert (cause.side, cause.node, cause.op) == ("left", "n0", "MatMul")


def rolled(value: AnyArray, by: int) -> tuple[str, AnyArray]:
    return "Roll", np.roll(value, (by, by), (1, 2))


def put_together(value: AnyArray) -> tuple[tuple[str, AnyArray], ...]:
    """Windows as an image."""
    windows = value.reshape(WINDOWS)
    moved = windows.transpose(ORDER)
    image = moved.reshape(value.shape)
    return ("Reshape", windows), ("Transpose", moved), ("Reshape", image)


def test_an_op_that_one_side_alone_has_behind_equal_values_is_left_out_on_the_other() -> None:
    together = put_together(IMAGE)
    left = graph("torch-tape", IMAGE, *together, rolled(together[-1][1], 1))
    right = graph("mindspore-tape", IMAGE, *together)
    cause = present(cause_between(left, right, ("n4", "n3")))
    edits = RemoveOperator(), InsertOperator(op="roll", numbers=(1, 1, 2, 1))
    assert (cause.side, cause.node, cause.edits) == ("left", "n4", edits)


def test_shifts_the_other_way_round_are_twice_the_shift_apart() -> None:
    left = graph("torch-tape", IMAGE, rolled(IMAGE, -1))
    right = graph("mindspore-tape", IMAGE, rolled(IMAGE, 1))
    cause = present(cause_between(left, right, ("n1", "n1")))
    assert cause.edits == (InsertOperator(op="roll", numbers=(1, 2, 2, 2)),)


def test_what_both_sides_do_behind_it_is_not_said_to_be_left_out() -> None:
    together = put_together(IMAGE)
    whole = ("Reshape", IMAGE)
    left = graph("torch-tape", IMAGE, whole, rolled(IMAGE, 1))
    right = graph("mindspore-tape", IMAGE, *together, rolled(together[-1][1], 1))
    divergence = ExtraOps(
        phase="forward",
        ends=(end(None), end("n4")),
        gap=Gap(greatest=1.0),
        side="right",
        row=row("n4"),
        goes_on=Place(label="Tanh", source="net.py:12"),
    )
    cause = present(related_cause(divergence, GraphView(left), GraphView(right)))
    wanted = InsertOperator(op="regroup", shape=WINDOWS, numbers=ORDER)
    assert (cause.side, cause.node, cause.edits) == ("left", "n1", (wanted,))


def test_values_that_differ_within_their_noise_alone_are_no_other_layout() -> None:
    left, right = (graph(engine, X, *heads((2, 5, 3, 2, 4), (2, 0, 3, 1, 4))) for engine in "ab")
    assert cause_between(left, right, ("n2", "n2")) is None


def product(engine: str, weight: AnyArray, offset: float, **arguments: bool) -> GradGraph:
    """A matrix product with a weight that an op has turned, or not."""
    made = HandmadeGraph()
    read = made.add("Tanh", value=X[0] + offset)
    kept = made.add("weight", kind="parameter", value=W)
    turned = kept if weight.shape == W.shape else made.add("Transpose", [kept], value=weight)
    whole = (X[0] + offset) @ W.T
    made.add("MatMul", [read, turned], value=whole, arguments=dict(arguments))
    return made.record(engine=engine)


W = RANDOM.normal(size=(7, 24)).astype(np.float32)


def test_a_matrix_that_the_product_itself_turns_is_not_said_to_lie_otherwise() -> None:
    left = product("torch-tape", W.T, 1)
    right = product("mindspore-tape", W, 0, transpose_a=False, transpose_b=True)
    assert cause_between(left, right, ("n3", "n2")) is None
    unknown = product("mindspore-tape", W, 0)
    assert cause_between(left, unknown, ("n3", "n2")) is not None


def related(text: str) -> Cause:
    """What follows from the recorded values at the first divergence of two nets."""
    left, right = net("torch-tape", text), net("mindspore-tape", text, side="right")
    divergence = align(left, right).divergence
    assert divergence is not None
    return present(related_cause(divergence, GraphView(left), GraphView(right)))


@pytest.mark.parametrize(("mark", "other"), [("-", "+"), ("+", "-")])
def test_a_shift_that_wraps_around_beside_one_that_fills_up(mark: str, other: str) -> None:
    cause = related(f"""
    h = Tanh @1: np.tanh(x)
    {mark} cut = aten.slice.Tensor @2: h[:-1]
    {mark} shifted = aten.constant_pad_nd.default @2: np.pad(cut, ((1, 0), (0, 0)))
    {other} shifted = Roll @2: np.roll(h, 1, 0)
    out = MatMul @3: shifted @ x
    """)
    assert (cause.op, cause.side) == ("Roll", "right" if mark == "-" else "left")
    assert "with 4 of its elements set to 0" in in_short(cause.edits, cause.op)


def test_what_repeats_in_another_order_is_named_and_not_the_view_behind_it() -> None:
    cause = related("""
    weight = parameter: np.random.default_rng(2).standard_normal((4, 4, 2))
    h = Tanh @1: np.tanh(x)
    - apart = aten.unsqueeze.default @2: h.reshape(4, 1, 2, 2)
    - twice = aten.expand.default @3: np.broadcast_to(apart, (4, 2, 2, 2))
    - flat = aten.view.default @4: twice.reshape(4, 4, 2)
    - heads = aten.transpose.int @5: flat.transpose(1, 0, 2)
    + apart = ExpandDims @2: h.reshape(4, 2, 1, 2)
    + twice = BroadcastTo @3: np.broadcast_to(apart, (4, 2, 2, 2))
    + flat = Reshape @4: twice.reshape(4, 4, 2)
    + heads = Transpose @5: flat.transpose(1, 0, 2)
    out = Mul @6: heads * weight
    """)
    assert (cause.op, cause.side) == ("aten.expand.default", "left")
    assert "axes in the order 0, 2, 1, 3" in in_short(cause.edits, cause.op)
