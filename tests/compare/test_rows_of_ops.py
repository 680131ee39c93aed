"""Two formulas of one quantity, in several ops and in one, are compared where both have come to it."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.divergence import OtherValue
from explorer.model.graph import GradGraph
from tests.support.alignments import parting, said
from tests.support.computed_graphs import ComputedGraph, one_input

ERROR = 3e-4
"""The relative error of one of the formulas: more than rounding, and little enough to be its value."""


def in_small_ops(engine: str) -> GradGraph:
    """The exponential of the absolute value of x, which two ops of one line compute."""

    def build(graph: ComputedGraph, x: int) -> int:
        square = graph.op("Square", np.square, x, line=3)
        root = graph.op("Sqrt", np.sqrt, square, line=3)
        return graph.op("Exp", np.exp, root, line=3)

    return one_input(engine, build)


def in_one_op(engine: str) -> GradGraph:
    """As in_small_ops, the absolute value by one op, which is a little wrong."""

    def build(graph: ComputedGraph, x: int) -> int:
        absolute = graph.op("Abs", lambda x: np.abs(x) * (1 + ERROR), x, line=3)
        return graph.op("Exp", np.exp, absolute, line=3)

    return one_input(engine, build)


@pytest.mark.parametrize("small_ops_are_left", [True, False])
def test_each_side_is_read_where_it_has_come_to_the_quantity(small_ops_are_left: bool) -> None:
    graphs = in_small_ops("mindspore-tape"), in_one_op("torch-tape")
    divergence = align(*(graphs if small_ops_are_left else graphs[::-1])).divergence
    assert isinstance(divergence, OtherValue)
    several, one = divergence.rows if small_ops_are_left else divergence.rows[::-1]
    assert (several.first.label, several.last, several.count) == ("Square", "Sqrt", 2)
    assert (one.first.label, one.last, one.count) == ("Abs", "Abs", 1)
    # What is compared differs by the error alone.
    (left,), (right,) = (end.value.numbers for end in divergence.ends)
    assert left == pytest.approx(right, rel=2 * ERROR)


@pytest.mark.parametrize(("part", "other"), [(0, 1), (1, 2), (2, 0)])
def test_two_parts_of_one_split_are_no_equal_inputs(part: int, other: int) -> None:
    def net(engine: str, part: int) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.random.default_rng(1).standard_normal((4, 6)), "input")
        split = graph.op("Split", lambda x: tuple(np.split(x, 3, axis=1)), x, line=1)
        piece = np.tanh(graph.values[split][part])
        tanh = graph.hold("Tanh", piece, inputs=((split, part),), source=("net.py:2",))
        graph.result("out", tanh)
        return graph.record()

    sentence = parting(net("a", part), net("b", other)).sentence
    assert "`Tanh` (net.py:2) and `Tanh` (net.py:2) take different inputs" in sentence
    assert align(net("a", part), net("b", part)).divergence is None


def blocks(engine: str, by_hand: bool, steps: tuple[float, ...]) -> GradGraph:
    """Blocks that each add a step, then take a swish, in small ops or in one that differs."""
    graph = ComputedGraph(engine)
    h = graph.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    for place, step in enumerate(steps):
        step_of = graph.leaf(f"step{place}", np.full(4, step))
        h = graph.op("Add", np.add, h, step_of, line=1)
        scope = f"blocks.{place}.act"
        if by_hand:
            shifted = graph.op("Shift", lambda h: h + 3, h, line=2, scope=scope)
            gate = graph.op("Gate", lambda s: np.clip(s, 0, 6) / 6, shifted, line=2, scope=scope)
            h = graph.op("Mul", np.multiply, h, gate, line=2, scope=scope)
        else:
            h = graph.op("SiLU", lambda h: h / (1 + np.exp(-h)), h, line=2, scope=scope)
    graph.result("out", h)
    return graph.record()


def test_a_formula_by_hand_is_listed_at_every_place_where_it_differs() -> None:
    steps = (0.5, -0.25, 0.125)
    divergences = align(blocks("a", True, steps), blocks("b", False, steps)).divergences
    (only,) = divergences
    assert isinstance(only, OtherValue)
    assert [place.scope for place, _ in only.also_at] == ["blocks.1.act", "blocks.2.act"]
    assert only.equal_at == ()
    assert said(only).endswith(
        "; the same ops follow at `blocks.1.act, net.py:2` and `blocks.2.act, net.py:2`"
    )
