"""Which recorded values are related at a divergence, and what is claimed of them."""

import msgspec
import numpy as np

from explorer.compare.causes.from_values import related_cause
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Factor, InsertOperator, RemoveOperator
from explorer.model.divergence import ExtraOps, Gap, Inputs, LoneLeaf, Place
from explorer.model.graph import GradGraph
from tests.support.divergence_records import end, other_value, row
from tests.support.handmade_graph import HandmadeGraph
from tests.support.narrowing import present

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(4, 16)).astype(np.float32)
QUARTER = InsertOperator(op="mul", factor=Factor(0.25, "1/n", 4))
TRIPLE = InsertOperator(op="mul", factor=Factor(3.0))
BIAS = RANDOM.normal(size=16).astype(np.float32)


def graph(engine: str, *steps: tuple[str, np.ndarray]) -> GradGraph:  # type: ignore[type-arg]  # any array
    """An input, and ops in a row that read it."""
    made = HandmadeGraph()
    last = made.leaf("x", "input", X)
    for op, value in steps:
        last = made.add(op, [last], value=value)
    return made.record(engine=engine)


def test_one_value_is_the_other_one_times_what_the_size_says() -> None:
    left, right = graph("torch-tape", ("aten.mul", X)), graph("mindspore-tape", ("Mul", X / 4))
    cause = present(related_cause(other_value(), GraphView(left), GraphView(right)))
    assert cause.edits == (QUARTER,)
    assert (cause.side, cause.node, cause.proven) == ("left", "n1", "recorded_values")


def test_values_that_have_nothing_in_common_are_not_related() -> None:
    other = RANDOM.normal(size=X.shape).astype(np.float32)
    left, right = graph("torch-tape", ("aten.mul", X)), graph("mindspore-tape", ("Mul", other))
    assert related_cause(other_value(), GraphView(left), GraphView(right)) is None


def scaled() -> tuple[GradGraph, GradGraph]:
    """A scale before the softmax, which the other side has at once."""
    left = graph("torch-tape", ("aten.div.Tensor", X / 4), ("aten._softmax.default", X[::-1] ** 2))
    right = graph("mindspore-tape", ("Softmax", np.abs(X) ** 0.5))
    return left, right


def test_an_op_before_that_of_the_other_side_is_left_out_there() -> None:
    cause = present(related_cause(other_value(), *map(GraphView, scaled())))
    assert cause.edits == (RemoveOperator(), QUARTER)
    assert (cause.side, cause.op) == ("left", "aten.div.Tensor")


def test_nothing_is_left_out_where_the_two_sides_read_other_values() -> None:
    places = (Place(label="a"),), (Place(label="b"),)
    assert (
        related_cause(other_value(inputs=Inputs(alone=places)), *map(GraphView, scaled())) is None
    )
    assert (
        related_cause(other_value(inputs=Inputs(differing=("x",))), *map(GraphView, scaled()))
        is None
    )


def extra(gap: Gap, *, is_between: bool = False) -> ExtraOps:
    return ExtraOps(
        phase="forward",
        ends=(end("n1"), end(None)),
        gap=gap,
        side="left",
        row=row("n1"),
        is_between=is_between,
    )


def test_what_an_op_too_many_does_is_said_only_where_the_other_side_reads_its_input() -> None:
    left, right = graph("torch-tape", ("aten.mul", X * 3)), graph("mindspore-tape")
    cause = present(related_cause(extra(Gap(greatest=1.0)), GraphView(left), GraphView(right)))
    assert cause.edits == (RemoveOperator(), TRIPLE)
    assert related_cause(extra(Gap()), GraphView(left), GraphView(right)) is None
    assert (
        related_cause(extra(Gap(greatest=1.0), is_between=True), GraphView(left), GraphView(right))
        is None
    )


def test_an_op_too_many_is_the_cause_and_not_what_the_ops_behind_make_of_it() -> None:
    left = graph("torch-tape", ("aten.mul", X * 3), ("aten.square", 9 * X**2))
    right = graph("mindspore-tape", ("Square", X**2))
    divergence = msgspec.structs.replace(
        extra(Gap(greatest=1.0)), goes_on=Place(label="Square", source="net.py:12")
    )
    cause = present(related_cause(divergence, GraphView(left), GraphView(right)))
    assert cause.edits == (RemoveOperator(), TRIPLE)


def lone_leaf(name: str) -> LoneLeaf:
    ends = end("n1"), end(None)
    return LoneLeaf(phase="forward", ends=ends, side="left", leaf="parameter", name=name, user=None)


def test_a_lone_bias_is_what_the_two_values_differ_by() -> None:
    made = HandmadeGraph()
    x = made.leaf("x", "input", X)
    bias = made.leaf("fc.bias", value=BIAS)
    made.add("aten.addmm.default", [x, bias], value=X + BIAS)
    left, right = made.record(engine="torch-tape"), graph("mindspore-tape", ("MatMul", X))
    divergence = lone_leaf("fc.bias")
    cause = present(related_cause(divergence, GraphView(left), GraphView(right)))
    assert cause.edits == (InsertOperator(op="add", name="fc.bias"),)
    assert (cause.side, cause.op) == ("right", "MatMul")
    other = msgspec.structs.replace(divergence, ends=(end("n0"), end(None)), name="x")
    assert related_cause(other, GraphView(left), GraphView(right)) is None


def test_a_mask_of_one_side_alone_is_compared_by_what_is_masked() -> None:
    more, fewer = X > 0, X > 0.5
    made = HandmadeGraph()
    x = made.leaf("x", "input", X)
    mask = made.leaf("future", value=more)
    made.add("aten.masked_fill.Scalar", [x, mask], value=np.where(more, -np.inf, X))
    left = made.record(engine="torch-tape")
    right = graph("jax-tape", ("select_n", np.where(fewer, -np.inf, X)))
    divergence = lone_leaf("future")
    cause = present(related_cause(divergence, GraphView(left), GraphView(right)))
    count = int((more & ~fewer).sum())
    wanted = InsertOperator(op="fill", factor=Factor(-np.inf), numbers=(count,))
    assert cause.edits == (wanted,)
    assert (cause.side, cause.op) == ("right", "select_n")
