"""Numbers that lie in another order: which inputs of two ops are compared with one another."""

import numpy as np

from explorer.compare.align.two_rows import rearranged_input
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


def test_what_is_turned_behind_is_not_put_back_in_order() -> None:
    """The turned numbers have another shape, which says nothing of their order."""
    matching = matching_of(mixed("a", lambda x: x.reshape(2, 2, 3)[:, ::-1]), mixed("b", np.copy))
    x, other_x = (called(side, "x").value for side in matching.sides)
    matching.join(x, other_x, "reordered")
    first, second = (called(side, "Transpose") for side in matching.sides)
    assert rearranged_input(matching, first, second) is not None


def mixed(engine: str, mix: Function) -> ComputedGraph:
    """An input that is given in an order, and then turned."""
    graph = ComputedGraph(engine)
    read = graph.leaf("x", mix(np.arange(12.0).reshape(4, 3) ** 2).reshape(4, 3), "input")
    graph.op("Transpose", np.transpose, read)
    return graph


def test_what_a_step_moves_alike_on_both_sides_is_not_compared_with_what_it_reads() -> None:
    matching = matching_of(turned("a", np.transpose), turned("b", np.transpose))
    x, other_x = (called(side, "x").value for side in matching.sides)
    matching.join(x, other_x, "name")
    assert called(matching.first, "Transpose").is_free
    assert rearranged_input(matching, *(called(side, "Exp") for side in matching.sides)) is None


def product(engine: str, turn: Function) -> ComputedGraph:
    """A product with a weight of an input, which is read in another shape."""
    graph = ComputedGraph(engine)
    read = graph.leaf("x", np.arange(16.0).reshape(2, 2, 4) ** 2, "input")
    w = graph.leaf("w", np.random.default_rng(3).standard_normal((4, 2)))
    graph.op("MatMul", np.matmul, graph.op("Reshape", turn, read), w)
    return graph


def test_a_product_reads_other_numbers_where_its_rows_have_others_in_whichever_shape() -> None:
    def moved(turn: Function) -> bool:
        matching = matching_of(product("a", np.copy), product("b", turn))
        for name in ("x", "w"):
            leaf, other = (called(side, name).value for side in matching.sides)
            matching.join(leaf, other, "name")
        nodes = (called(side, "MatMul") for side in matching.sides)
        return rearranged_input(matching, *nodes) is not None

    assert moved(lambda x: x.swapaxes(1, 2).reshape(4, 4))
    assert not moved(lambda x: x.reshape(4, 4))
    assert not moved(lambda x: x.swapaxes(0, 1).reshape(4, 4))
