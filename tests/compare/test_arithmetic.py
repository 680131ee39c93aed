"""A recorded value is what its op yields from what it reads, or it is not."""

import numpy as np
import pytest

from explorer.compare.align.matching import fits, is_yielded
from explorer.compare.align.vertices import Vertex, view
from explorer.model.arrays import AnyArray
from tests.support.computed_graphs import ComputedGraph

X = np.random.default_rng(0).standard_normal((3, 4))
Y = np.random.default_rng(1).standard_normal((3, 4))


def node(op: str, value: AnyArray, *inputs: AnyArray) -> Vertex:
    """An op that holds a value and reads some."""
    graph = ComputedGraph("a")
    read = [graph.leaf(f"x{index}", array, "input") for index, array in enumerate(inputs)]
    graph.hold(op, value, inputs=tuple(read))
    return view(graph.record(), ComputedGraph("b").record())[0].nodes[-1]


SIZES = 0.5 + Y**2
"""Numbers that have a logarithm, and a root."""

SOFTMAX = np.exp(X) / np.exp(X).sum(-1, keepdims=True)

YIELDED = [
    ("Add", X + Y, (X, Y)),
    ("BiasAdd", X + Y[0], (X, Y[0])),
    ("SubExt", Y - X, (X, Y)),
    ("aten.mul.Tensor", X * Y, (X, Y)),
    ("MatMul", X @ Y.T, (X, Y)),
    ("SumExt", X.sum(0), (X,)),
    ("ReduceMean", X.mean(), (X,)),
    ("Square", X**2, (X,)),
    ("Div", X / Y, (X, Y)),
    ("Neg", -X, (X,)),
    ("Abs", np.abs(X), (X,)),
    ("Exp", np.exp(X), (X,)),
    ("Log", np.log(SIZES), (SIZES,)),
    ("Sin", np.sin(X), (X,)),
    ("Cos", np.cos(X), (X,)),
    ("Tanh", np.tanh(X), (X,)),
    ("Sqrt", np.sqrt(SIZES), (SIZES,)),
    ("ReLU", np.where(X > 0, X, 0), (X,)),
    ("Sigmoid", 0.5 + 0.5 * np.tanh(X / 2), (X,)),
    ("ReduceMax", X.max(1), (X,)),
    ("LogSoftmax", X - np.log(np.exp(X).sum(-1, keepdims=True)), (X,)),
    ("Softmax", SOFTMAX, (X,)),
    ("SoftmaxBackward", SOFTMAX * (Y - (Y * SOFTMAX).sum(-1, keepdims=True)), (Y, SOFTMAX)),
    ("Transpose", X.T, (X,)),
    ("aten.expand.default", np.broadcast_to(X, (2, 3, 4)), (X,)),
    ("MaskedFill", np.where(X > 0, X, -1e9), (X, X > 0)),
]


@pytest.mark.parametrize(("op", "value", "inputs"), YIELDED, ids=[op for op, *_ in YIELDED])
def test_what_an_op_yields_is_told_from_a_value_off_by_a_hundredth(
    op: str, value: AnyArray, inputs: tuple[AnyArray, ...]
) -> None:
    assert is_yielded(node(op, value, *inputs)) is True
    assert is_yielded(node(op, 1.01 * value, *inputs)) is False


# The derivatives of x², x³ and x⁴ have them, and so do x⁵'s; roots, and what is divided by.
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, 0.5, 1.5, -0.5, -1, -2])
def test_a_power_is_told_whatever_its_exponent(exponent: float) -> None:
    assert is_yielded(node("Pow", SIZES**exponent, SIZES)) is True
    assert is_yielded(node("Pow", SIZES ** (exponent + 0.1), SIZES)) is False


def test_a_reduction_of_a_number_is_that_number() -> None:
    assert is_yielded(node("SumExt", np.array(3.0), np.array(3.0))) is True
    assert is_yielded(node("SumExt", np.array(3.1), np.array(3.0))) is False


@pytest.mark.parametrize("op", ["TensorMove", "aten.split.Tensor", "Cast", "Transpose"])
def test_an_op_that_moves_numbers_yields_none_that_it_does_not_read(op: str) -> None:
    assert is_yielded(node(op, X, Y)) is False


def test_of_an_op_with_hidden_attributes_nothing_is_known() -> None:
    assert is_yielded(node("Conv2D", X, X, Y)) is None
    assert is_yielded(node("Muls", 3 * X, X)) is None


@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_what_is_computed_from_a_value_tells_too(factor: float) -> None:
    graph = ComputedGraph("a")
    hidden = graph.hold("Erfinv", factor * X, inputs=(graph.leaf("x", Y, "input"),))
    graph.hold("Mul", X * Y, inputs=(hidden, 0))
    side, _ = view(graph.record(), ComputedGraph("b").record())
    assert fits(next(vertex for vertex in side.nodes if vertex.op == "Erfinv")) is (factor == 1)
