"""Silent broadcasts of (n, 1) against (n,) on the way to a loss, on graphs written down by hand."""

import pytest

from explorer.compare.results.remarks import silent_broadcasts
from explorer.model.findings import SilentBroadcast
from explorer.model.graph import NodeKind
from tests.support.handmade_graph import HandmadeGraph

COLUMN, ROW, SQUARE = (3, 1), (3,), (3, 3)


def remarks(
    kinds: tuple[NodeKind, NodeKind] = ("op", "input"),
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = (COLUMN, ROW),
    reduction: str = "mean",
    *,
    is_expanded: bool = False,
) -> list[object]:
    """What is remarked of the mean of the squares of a difference of two tensors."""
    g = HandmadeGraph()
    first, second = (
        g.add(kind, kind=kind, name=name, shape=shape)
        for kind, name, shape in zip(kinds, ("y", "target"), shapes, strict=True)
    )
    if is_expanded:
        first, second = (g.add("aten.expand.default", [it], shape=SQUARE) for it in (first, second))
    difference = g.add("sub", [first, second], shape=SQUARE, line=12)
    squares = g.add("mul", [difference, difference], shape=SQUARE)
    g.result("loss", g.add(reduction, [squares], shape=()))
    return [finding.fact for finding in silent_broadcasts([g.record()])]


@pytest.mark.parametrize("is_expanded", [False, True])
@pytest.mark.parametrize("shapes", [(COLUMN, ROW), (ROW, COLUMN)])
def test_a_column_less_a_row_in_a_loss_is_remarked_with_both_shapes(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], is_expanded: bool
) -> None:
    (fact,) = remarks(shapes=shapes, is_expanded=is_expanded)
    assert isinstance(fact, SilentBroadcast)
    assert fact.shapes == shapes
    assert (fact.place.label, fact.place.source) == ("sub", "net.py:12")


@pytest.mark.parametrize("kinds", [("op", "parameter"), ("parameter", "op")])
def test_a_parameter_is_meant_to_be_broadcast(kinds: tuple[NodeKind, NodeKind]) -> None:
    assert remarks(kinds) == []


@pytest.mark.parametrize(
    "shapes", [(COLUMN, (1,)), (COLUMN, COLUMN), (COLUMN, (1, 3)), ((3, 3), ROW), ((1, 1), (1,))]
)
def test_other_shapes_are_no_column_beside_a_row(
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    assert remarks(shapes=shapes) == []


def test_what_is_no_loss_is_left_alone() -> None:
    assert remarks(reduction="max") == []


@pytest.mark.parametrize("shape", [ROW, COLUMN, (1, 3), (9,), SQUARE])
def test_a_loss_is_made_of_every_element_of_what_was_broadcast(shape: tuple[int, ...]) -> None:
    g = HandmadeGraph()
    logits = g.add("op", shape=COLUMN)
    difference = g.add("sub", [logits, g.leaf("target", "input", shape=ROW)], shape=SQUARE)
    # What adds up along one axis first means its rows and columns.
    between = g.add(
        "sum" if shape in (ROW, COLUMN, (1, 3)) else "reshape", [difference], shape=shape
    )
    g.result("loss", g.add("mean", [between], shape=()))
    assert len(silent_broadcasts([g.record()])) == (shape in ((9,), SQUARE))
