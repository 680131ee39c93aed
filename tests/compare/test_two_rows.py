"""Two rows of ops that are set side by side: how far each goes, and what it reads in another order."""

import numpy as np
import pytest

from explorer.compare.align.two_rows import rearranged_input, two_rows
from explorer.model.divergence import OtherValue
from tests.support.alignments import called, join, matching_of
from tests.support.computed_graphs import ComputedGraph, Function

SCALE = np.linspace(1, 2, 4)
X = np.random.default_rng(3).standard_normal((3, 4))
SQUARES = np.arange(9.0).reshape(3, 3) ** 2


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
    found = two_rows([called(first, "Sub")], [called(second, "LayerNorm")]).divergence
    assert isinstance(found, OtherValue)
    return found.rows[0].count, found.rows[1].count


def test_a_row_goes_on_to_the_op_that_reads_what_the_other_row_reads() -> None:
    assert rows(norm("b", in_one=True)) == (3, 1)


def test_it_does_not_where_the_other_side_reads_that_behind_its_row_once_more() -> None:
    assert rows(norm("b", in_one=True, scales_again=True)) == (1, 1)


def turned(engine: str, turn: Function) -> ComputedGraph:
    """An input that is transposed, or not, and read by an op; nothing but steps lies between."""
    graph = ComputedGraph(engine)
    read = graph.leaf("x", SQUARES, "input")
    graph.op("Exp", np.exp, graph.op("Transpose", turn, read))
    return graph


@pytest.mark.parametrize(("turn", "is_moved"), [(np.copy, True), (np.transpose, False)])
def test_an_input_that_lies_in_another_order_is_found_where_not_both_sides_turn_it(
    turn: Function, is_moved: bool
) -> None:
    matching = matching_of(turned("a", np.transpose), turned("b", turn))
    join(matching, "x")
    assert called(matching.first, "Transpose").is_free
    first, second = (called(side, "Exp") for side in matching.sides)
    moved = first.inputs[0], second.inputs[0]
    assert rearranged_input(first, second) == (moved if is_moved else None)


def test_what_is_turned_behind_is_not_put_back_in_order() -> None:
    """The turned numbers have another shape, which says nothing of their order."""
    matching = matching_of(mixed("a", lambda x: x.reshape(2, 2, 3)[:, ::-1]), mixed("b", np.copy))
    join(matching, "x", how="reordered")
    first, second = (called(side, "Transpose") for side in matching.sides)
    assert rearranged_input(first, second) is not None


def mixed(engine: str, mix: Function) -> ComputedGraph:
    """An input that is given in an order, and then turned."""
    graph = ComputedGraph(engine)
    read = graph.leaf("x", mix(np.arange(12.0).reshape(4, 3) ** 2).reshape(4, 3), "input")
    graph.op("Transpose", np.transpose, read)
    return graph


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
        join(matching, "x", "w")
        nodes = (called(side, "MatMul") for side in matching.sides)
        return rearranged_input(*nodes) is not None

    assert moved(lambda x: x.swapaxes(1, 2).reshape(4, 4))
    assert not moved(lambda x: x.reshape(4, 4))
    assert not moved(lambda x: x.swapaxes(0, 1).reshape(4, 4))
