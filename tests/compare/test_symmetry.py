"""What is found between two graphs does not depend on which of them is named first."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph
from tests.support.alignments import assert_mirrored
from tests.support.computed_graphs import ComputedGraph, Function
from tests.support.two_layer_nets import mindspore_net, pytorch_net

OPS: dict[str, Function] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Tanh": np.tanh,
    "Reshape": lambda x: x.reshape(3, 2) if x.shape == (2, 3) else x.reshape(2, 3),
    "Double": lambda x: 2 * x,
    "OnesLike": np.ones_like,
    "Spoiled": lambda x: 1.1 * x,
}
"""Ops on tensors of six elements; of two the second is brought into the shape of the first."""

Step = tuple[str, int, int]
"""The name of an op, and how far back its inputs stand."""

STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(OPS)), st.integers(1, 5), st.integers(1, 5)),
    min_size=1,
    max_size=12,
)


def net(engine: str, steps: list[Step]) -> GradGraph:
    """A net of some steps whose last value is a result, and in backward a gradient of one more."""
    graph = ComputedGraph(engine)
    values = [
        graph.leaf("x", np.random.default_rng(0).standard_normal((2, 3)), "input"),
        graph.leaf("w", np.random.default_rng(1).standard_normal((2, 3))),
    ]
    for name, back, further in steps:
        inputs = [values[-min(back, len(values))]]
        if name in ("Add", "Mul"):
            inputs.append(values[-min(further, len(values))])
        values.append(graph.op(name, alike(OPS[name]), *inputs, line=len(values)))
    graph.result("out", values[-1])
    graph.result("dx", graph.back("Cos", np.cos, values[-1], forward=values[-1]), "backward")
    return graph.record()


def alike(function: Function) -> Function:
    """A function of tensors that brings its second argument into the shape of the first."""

    def of_one_shape(first: AnyArray, *others: AnyArray) -> Any:
        return function(first, *(other.reshape(first.shape) for other in others))

    return of_one_shape


def assert_is_symmetric(left: GradGraph, right: GradGraph) -> None:
    assert_mirrored(align(left, right), align(right, left))


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(STEPS, STEPS)
def test_nets_of_random_ops_are_aligned_alike_in_either_order(
    steps: list[Step], others: list[Step]
) -> None:
    assert_is_symmetric(net("a", steps), net("b", others))
    assert_is_symmetric(net("a", steps), net("a", others))
    # One op more, and one in the place of another.
    assert_is_symmetric(net("a", steps), net("b", [*steps, *others[:1]]))
    assert_is_symmetric(net("a", steps), net("b", [*others[:1], *steps[1:]]))


def test_the_nets_of_two_frameworks_are_aligned_alike_in_either_order() -> None:
    assert_is_symmetric(mindspore_net(), pytorch_net())
    assert_is_symmetric(mindspore_net(), pytorch_net(reduction="sum"))
