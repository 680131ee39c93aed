"""Which values of the other side are put in where two graphs part, and what is then new."""

from itertools import pairwise

import numpy as np
import pytest

from explorer.compare.align.joints import Joint, Seam, Slot
from explorer.compare.align.layouts import in_one_layout
from explorer.compare.mending import Mending, large_slots, whole_of
from explorer.model.arrays import SMALL, Array, pack
from explorer.model.divergence import (
    Divergence,
    End,
    ExtraOps,
    GradientAdded,
    GradientStopped,
    Inputs,
    OtherValue,
    Place,
    Reading,
    Row,
)
from explorer.model.graph import Edge, GradGraph, Node, NodeKind, Output, Phase
from explorer.numeric.summaries import summarise

VALUE = np.arange(6, dtype=np.float32)


def node(
    name: str,
    op: str,
    phase: Phase = "forward",
    forward: str | None = None,
    kind: NodeKind = "op",
    result: str = "",
    line: str = "",
) -> Node:
    return Node(
        id=name,
        op=op,
        kind=kind,
        phase=phase,
        forward=forward,
        name=result,
        source=(line,) if line else (),
        outputs=(Output(VALUE.shape, "float32", summarise(VALUE)),),
    )


def graph(engine: str, ops: tuple[str, str]) -> GradGraph:
    """x → first → second → out, and the way back: the gradient of each op, then that of x."""
    nodes = (
        node("n0", "input", kind="input", result="x"),
        node("n1", ops[0], line=f"{engine}.py:1"),
        node("n2", ops[1], line=f"{engine}.py:2"),
        node("n3", "output", kind="output", result="out"),
        node("n4", "back", "backward", "n2", line=f"{engine}.py:2"),
        node("n5", "back", "backward", "n1", line=f"{engine}.py:1"),
        node("n6", "output", "backward", "n0", kind="output", result="dx"),
    )
    way = ("n0", "n1", "n2", "n3"), ("n2", "n4", "n5", "n6")
    edges = [Edge(*two) for nodes_ in way for two in pairwise(nodes_)]
    return GradGraph(engine=engine, case="", stage="", nodes=nodes, edges=tuple(edges), layers={})


HERE = graph("torch-tape", ("aten.gelu.default", "aten.tanh.default"))
THERE = graph("mindspore-graph", ("GeLU", "Tanh"))

ROW = Row(first=Place(label="op"), last="op", count=1)


def ends(name: str | None) -> tuple[End, End]:
    end = End(node=name, source="net.py:1" if name else "", value=Reading("mean", (), (1.0,)))
    return end, end


def other_value(name: str, phase: Phase = "forward") -> Divergence:
    return OtherValue(phase=phase, ends=ends(name), rows=(ROW, ROW), inputs=Inputs())


def seam(name: str, *joints: Joint, is_assumed: bool = False) -> Seam:
    """A divergence between two nodes of one id."""
    parts = frozenset({name})
    return Seam({"left": parts, "right": parts}, {"left": joints, "right": ()}, is_assumed)


def at(name: str, own: tuple[int, ...] = (6,), other: tuple[int, ...] = (6,)) -> Joint:
    return Joint((name, 0), (name, 0), (own, other))


def mending() -> Mending:
    return Mending(in_one_layout(HERE, THERE), "left")


def find(slot: Slot) -> Array | None:
    return pack(VALUE)


def nothing(slot: Slot) -> Array | None:
    return None


def test_the_other_sides_value_is_put_in_once() -> None:
    known = mending()
    assert known.mend(other_value("n1"), seam("n1", at("n1")), find)
    assert not known.mend(other_value("n1"), seam("n1", at("n1")), find)
    (put_in,) = known.put_in.values()
    assert (put_in.node, put_in.output, put_in.value) == ("n1", 0, pack(VALUE))


@pytest.mark.parametrize(
    ("own", "other", "why"),
    [
        ((2, 3), (2, 4), "size"),
        ((2, 3), (3, 2), "layout"),
        ((2, 3), (6,), None),
        ((2, 1, 3), (2, 3), None),
    ],
)
def test_a_value_is_put_in_where_it_has_the_same_elements_in_the_same_order(
    own: tuple[int, ...], other: tuple[int, ...], why: str | None
) -> None:
    known = mending()
    assert known.mend(other_value("n1"), seam("n1", at("n1", own, other)), find) == (why is None)
    assert [it.why for it in known.obstacles.values()] == ([why] if why else [])


def test_why_nothing_is_put_in_is_noted() -> None:
    known = mending()
    assert not known.mend(other_value("n1"), seam("n1", at("n1")), nothing)
    stopped = GradientStopped(
        phase="backward", ends=ends("n2"), side="left", places=(ROW.first, ROW.first)
    )
    assert not known.mend(stopped, seam("n2"), find)
    extra = ExtraOps(phase="forward", ends=ends("n0"), side="left", row=ROW)
    assert not known.mend(extra, seam("n0"), find)
    whys = [it.why for it in known.obstacles.values()]
    assert whys == ["no_value", "stopped", "no_place"]


def test_the_gradient_of_a_known_divergence_is_known_and_that_of_another_op_is_new() -> None:
    known = mending()
    known.note(seam("n1", at("n1")))
    divergences = [other_value("n5", "backward"), other_value("n4", "backward"), other_value("n1")]
    seams = [seam("n5", at("n5")), seam("n4", at("n4")), seam("n1", at("n1"))]
    found = known.find(divergences, seams)
    assert found.known == (0, 2)
    assert found.new == (1,)


def test_an_assumed_divergence_waits_until_it_is_sure() -> None:
    found = mending().find([other_value("n2")], [seam("n2", at("n2"), is_assumed=True)])
    assert found == ((), ())


def test_a_gradient_that_a_known_line_adds_is_no_new_divergence() -> None:
    known = mending()
    known.note(seam("n1"))
    of_line = {
        line: GradientAdded(
            phase="backward",
            ends=ends("n4"),
            side="right",
            total=ROW.first,
            term=Place(label="Mul", source=f"mindspore-graph.py:{line}"),
            rest=ROW.first,
        )
        for line in (1, 2)
    }
    assert known.find([of_line[1]], [seam("n4")]).known == (0,)
    assert known.find([of_line[2]], [seam("n4")]).new == (0,)


def test_the_gradient_of_a_leaf_that_a_known_op_gives_is_put_in() -> None:
    known = mending()
    assert not known.mend_gradients(["dx"], (), find)
    known.note(seam("n1"))
    assert known.mend_gradients(["dx"], (), find)
    assert list(known.put_in) == [("n5", 0)]


def test_large_values_are_asked_for_as_long_as_there_is_room() -> None:
    large = np.ones(SMALL + 1, np.float32)
    nodes = tuple(
        Node(
            id=f"n{number}",
            op="op",
            kind="op",
            phase="forward",
            outputs=(Output(array.shape, "float32", summarise(array)),),
        )
        for number, array in enumerate((large, VALUE, large, large))
    )
    held = GradGraph(engine="e", case="", stage="", nodes=nodes, edges=())
    room = 2 * (SMALL + 1)
    assert list(large_slots(held, held.by_id(), room)) == [("n0", 0), ("n2", 0)]
    assert list(large_slots(held, held.by_id(), room - 1)) == [("n0", 0)]
    assert whole_of(held, {})(("n1", 0)) == pack(VALUE)
    assert whole_of(held, {})(("n0", 0)) is None
    assert whole_of(held, {("n0", 0): pack(large)})(("n0", 0)) == pack(large)
