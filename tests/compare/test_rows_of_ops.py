"""Two formulas of one quantity, in several ops and in one, are compared where both have come to it."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.align.two_rows import first_close
from explorer.compare.align.vertices import view
from explorer.model.divergence import OtherValue
from explorer.model.graph import GradGraph
from tests.support.alignments import called, parting, said
from tests.support.computed_graphs import ComputedGraph
from tests.support.written_nets import two_nets

ERROR = 3e-4
"""The relative error of one of the formulas: more than rounding, and little enough to be its value."""


# The exponential of the absolute value, which two ops of one line compute, or one that is a little wrong
FORMULAS = """
    - square = Square @3: np.square(x)
    - root = Sqrt @3: np.sqrt(square)
    + root = Abs @3: np.abs(x) * (1 + ERROR)
    out = Exp @3: np.exp(root)
"""


@pytest.mark.parametrize("small_ops_are_left", [True, False])
def test_each_side_is_read_where_it_has_come_to_the_quantity(small_ops_are_left: bool) -> None:
    graphs = two_nets(FORMULAS, ERROR=ERROR)
    graphs = graphs if small_ops_are_left else graphs[::-1]
    small, single = ("Square", "Sqrt"), ("Abs",)
    ops = (small, single) if small_ops_are_left else (single, small)
    rows = [[called(side, op) for op in row] for side, row in zip(view(*graphs), ops, strict=True)]
    assert first_close(*rows) == ((1, 0) if small_ops_are_left else (0, 1))

    divergence = align(*graphs).divergence
    assert isinstance(divergence, OtherValue)
    several, one = divergence.rows if small_ops_are_left else divergence.rows[::-1]
    assert (several.first.label, several.last, several.count) == ("Square", "Sqrt", 2)
    assert (one.first.label, one.last, one.count) == ("Abs", "Abs", 1)
    # What is compared differs by the error alone.
    (left,), (right,) = (end.value.numbers for end in divergence.ends)
    assert left == pytest.approx(right, rel=2 * ERROR)


@pytest.mark.parametrize(("part", "other"), [(0, 1), (1, 2), (2, 0)])
def test_two_parts_of_one_split_are_no_equal_inputs(part: int, other: int) -> None:
    text = f"""
        parts = Split @1: (x[:, :1], x[:, 1:2], x[:, 2:3])
        - out = Tanh @2: np.tanh(parts[{part}])
        + out = Tanh @2: np.tanh(parts[{other}])
    """
    left, right = two_nets(text)
    sentence = parting(left, right).sentence
    assert "`Tanh` (net.py:2) and `Tanh` (net.py:2) take different inputs" in sentence
    assert align(left, left).divergence is None


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
