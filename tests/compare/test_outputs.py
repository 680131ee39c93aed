"""Several gradients that one op yields together, and that are ops of their own elsewhere."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from tests.support.computed_graphs import ComputedGraph, Function
from tests.support.written_nets import two_nets

TOGETHER = "aten.convolution_backward.default"
APART = ("Conv2DBackpropInput", "Conv2DBackpropFilter", "BiasAddGrad")
RESULTS = ("dx", "dw", "db")


def convolution(engine: str, together: bool, db: float) -> GradGraph:
    """Three gradients of y = x·w + b, by one op or by three.

    ``db`` is what the gradient of b cancels to.
    """
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 4)), "input")
    w = graph.leaf("w", np.random.default_rng(2).standard_normal((4, 4)))
    b = graph.leaf("b", np.arange(4.0))
    y = graph.op("aten.addmm.default", lambda b, x, w: b + x @ w, b, x, w)
    graph.result("out", y)
    g = graph.back("Cos", np.cos, y, forward=y)
    functions: tuple[Function, ...] = (
        lambda g: g @ np.ones((4, 4)),
        lambda g: g * g,
        lambda g: g[0] * 0 + db,
    )
    if together:
        back = graph.back(TOGETHER, lambda g: tuple(f(g) for f in functions), g, forward=y)
        for output, name in enumerate(RESULTS):
            graph.result(name, back, "backward", output)
    else:
        for name, op, function in zip(RESULTS, APART, functions, strict=True):
            graph.result(name, graph.back(op, function, g, forward=y), "backward")
    return graph.record()


def gradients(
    alignment: Alignment, left: GradGraph, right: GradGraph
) -> list[tuple[int, set[str]]]:
    """The pairs of the op that yields all: their numbers, and both ends as "op:output"."""
    nodes, other_nodes = left.by_id(), right.by_id()
    gradients = []
    for pair in alignment.pairs:
        ends = {
            f"{nodes[pair.left].op}:{pair.left_output}",
            f"{other_nodes[pair.right].op}:{pair.right_output}",
        }
        if any(end.startswith(TOGETHER) for end in ends):
            gradients.append((pair.number, ends))
    return gradients


@pytest.mark.parametrize(("db", "other_db"), [(0.5, 0.5), (1e-8, -1e-8)], ids=["equal", "noise"])
def test_ops_that_each_yield_one_gradient_pair_with_the_outputs_of_the_op_that_yields_all(
    db: float, other_db: float
) -> None:
    apart = convolution("mindspore-graph", False, db)
    together = convolution("torch-tape", True, other_db)
    for left, right in ((apart, together), (together, apart)):
        alignment = align(left, right)
        assert alignment.divergence is None
        pairs = gradients(alignment, left, right)
        assert [ends for _, ends in pairs] == [
            {f"{op}:0", f"{TOGETHER}:{output}"} for output, op in enumerate(APART)
        ]
        assert len({number for number, _ in pairs}) == 1
        for coverage in (alignment.left_coverage, alignment.right_coverage):
            assert coverage.backward.paired == coverage.backward.total


def test_a_further_output_of_backward_is_no_work_of_forward() -> None:
    left, right = two_nets("""
        x = input: np.linspace(0.5, 2, 5)
        y = Exp: np.exp(x)
        result out = y
        - dx = MulBackward back: (3 * x, x[:2])
        + head = Slice: x[:2]
        + result head = head
        + dx = MulBackward back: 3 * x
        gradient dx = dx
    """)
    unpaired = align(left, right).unpaired
    assert "Slice" in {right.by_id()[node.node].op for node in unpaired if node.side == "right"}
