"""Nodes to which the framework gives no line of the net: they take that of a node beside them."""

import pytest

from explorer.model.graph import Absence, Node
from tests.support.built_graphs import built


def recorded(text: str, **missing: Absence) -> dict[str, Node]:
    """The nodes of a text by what they are called; the node "own" has its reasons."""
    builder, numbers = built(text)
    if missing:
        builder.nodes[numbers["own"]].missing = missing
    graph = builder.record("mindspore-graph", "a case", "validate")
    return {node.op: node for node in graph.nodes}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("forward @1\nbeside back @9\nlost back of forward: beside", [1]),
        # On both sides before on one side, and what it reads before what reads it.
        ("first @1\nsecond @2\nlost: first second\nafter @2: lost", [2]),
        ("first @1\nlost: first\nafter @2: lost", [1]),
        ("x input\na: x\nb: a\nlost: b\nafter @5: lost", [5]),
        ("x input\na: x\nlost: a\nb: lost\nafter @5: b", [5]),
        ("x input\nlost: x\na: lost\nb: a\nafter @5: b", [5]),
        # A neighbour of the other phase lends none.
        ("forward @1\nlost back: forward", []),
    ],
)
def test_a_node_takes_the_line_of_the_nearest(text: str, lines: list[int]) -> None:
    assert recorded(text)["lost"].source == tuple(f"net.py:{line}" for line in lines)


def test_a_forward_node_takes_the_line_that_its_gradient_still_has() -> None:
    text = "before @1\nlost: before\nafter @1: lost\ngradient back @2 of lost"
    node = recorded(text)["lost"]
    assert node.source == ("net.py:2",)
    assert node.missing["source"] == Absence("line_of_gradient")


def test_lines_of_the_library_stay_behind_the_borrowed_one() -> None:
    builder, numbers = built("first @1\nlost: first")
    builder.nodes[numbers["lost"]].source = ("mindspore/ops/math.py:7",)
    _, lost = builder.record("mindspore-graph", "a case", "validate").nodes
    assert lost.source == ("net.py:1", "mindspore/ops/math.py:7")


def test_a_node_with_its_own_line_or_its_own_reason_borrows_none() -> None:
    own = recorded("first @1\nown @3: first")["own"]
    assert (own.source, own.missing) == (("net.py:3",), {})
    reason = Absence("added_by_capture")
    own = recorded("first @1\nown: first", source=reason)["own"]
    assert (own.source, own.missing) == ((), {"source": reason})


def test_leaves_and_results_stand_on_no_line() -> None:
    nodes = recorded("x input\nfirst @1: x\nout output: first")
    assert nodes["input"].source == nodes["output"].source == ()
