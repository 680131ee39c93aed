"""Two rows of ops that are set side by side: how far each of them goes."""

import numpy as np

from explorer.compare.align.two_rows import two_rows
from explorer.model.divergence import OtherValue
from tests.support.alignments import called, matching_of
from tests.support.computed_graphs import ComputedGraph

SCALE = np.linspace(1, 2, 4)
X = np.random.default_rng(3).standard_normal((3, 4))


def norm(engine: str, in_one: bool, scales_again: bool = False) -> ComputedGraph:
    """A value that is centred and scaled, in one op or in several."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", X, "input")
    s, b = graph.leaf("s", SCALE), graph.leaf("b", SCALE**2)
    if in_one:
        made = graph.op("LayerNorm", lambda x, s, b: (x - 1) * s / 2 + b, x, s, b, line=2)
        if scales_again:
            made = graph.op("Mul", np.multiply, made, s, line=3)
            made = graph.op("Add", np.add, made, b, line=4)
    else:
        centred = graph.op("Sub", lambda x: x - 1, x, line=2)
        made = graph.op("Mul", np.multiply, centred, s, line=3)
        made = graph.op("Add", np.add, made, b, line=4)
    graph.result("out", made)
    return graph


def rows(other: ComputedGraph) -> tuple[int, int]:
    """How many ops are compared with a norm in one op, where they begin with the first of several."""
    matching = matching_of(norm("a", in_one=False), other)
    for name in ("x", "s", "b"):
        leaf, other_leaf = (called(side, name).value for side in matching.sides)
        if leaf.node.is_free:
            matching.join(leaf, other_leaf, "name")
    first, second = matching.sides
    found = two_rows(matching, [called(first, "Sub")], [called(second, "LayerNorm")]).divergence
    assert isinstance(found, OtherValue)
    return found.rows[0].count, found.rows[1].count


def test_a_row_goes_on_to_the_op_that_reads_what_the_other_row_reads() -> None:
    assert rows(norm("b", in_one=True)) == (3, 1)


def test_it_does_not_where_the_other_side_reads_that_behind_its_row_once_more() -> None:
    assert rows(norm("b", in_one=True, scales_again=True)) == (1, 1)
