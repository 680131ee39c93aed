"""Numbers that lie in another order: which inputs of two ops are compared with one another."""

import numpy as np

from explorer.compare.align.rearrangement import rearranged_input
from tests.support.alignments import called, matching_of
from tests.support.computed_graphs import ComputedGraph, Function

X = np.arange(9.0).reshape(3, 3) ** 2


def turned(engine: str, turn: Function) -> ComputedGraph:
    """An input that is transposed, or not, and read by an op; nothing but steps lies between."""
    graph = ComputedGraph(engine)
    read = graph.leaf("x", X, "input")
    graph.op("Exp", np.exp, graph.op("Transpose", turn, read))
    return graph


def test_an_input_that_lies_in_another_order_is_found() -> None:
    matching = matching_of(turned("a", np.transpose), turned("b", np.copy))
    x, other_x = (called(side, "x").value for side in matching.sides)
    matching.join(x, other_x, "name")
    first, second = (called(side, "Exp") for side in matching.sides)
    moved = first.inputs[0], second.inputs[0]
    assert rearranged_input(matching, first, second) == moved


def test_what_a_step_moves_alike_on_both_sides_is_not_compared_with_what_it_reads() -> None:
    matching = matching_of(turned("a", np.transpose), turned("b", np.transpose))
    x, other_x = (called(side, "x").value for side in matching.sides)
    matching.join(x, other_x, "name")
    assert called(matching.first, "Transpose").is_free
    assert rearranged_input(matching, *(called(side, "Exp") for side in matching.sides)) is None
