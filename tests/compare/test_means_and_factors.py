"""Causes by recorded values of a whole row: a mean of some elements alone, and factors that are exchanged."""

import numpy as np
import pytest

from explorer.compare.causes.exchanged_factors import exchanged_factors_cause
from explorer.compare.causes.masked_means import masked_mean_cause
from explorer.compare.flow import Flow
from explorer.model.arrays import AnyArray
from explorer.model.causes import Related
from explorer.model.divergence import End, Inputs, OtherValue, Place, Reading, Row
from explorer.model.graph import Edge, GradGraph, Node, Output
from explorer.numeric.summaries import summarise

EACH = np.array([0.5, -2.0, 3.0, 0.25, 1.75], np.float32)
HOLDS = np.array([1, 0, 1, 1, 0], np.float32)


def node(name: str, op: str, value: AnyArray) -> Node:
    array = np.asarray(value, np.float32)
    output = Output(array.shape, "float32", summarise(array), 1e-8)
    return Node(id=name, op=op, kind="op", phase="forward", outputs=(output,))


def graph(engine: str, nodes: list[Node], edges: list[tuple[str, str]]) -> Flow:
    slots: dict[str, int] = {}
    wires = []
    for origin, target in edges:
        slot = slots[target] = slots.get(target, -1) + 1
        wires.append(Edge(origin, target, 0, slot))
    return Flow(GradGraph(engine=engine, case="", stage="", nodes=tuple(nodes), edges=tuple(wires)))


def divergence(first: str, last: str, other: str) -> OtherValue:
    reading = Reading("element", (), (1.0,))
    ends = End(node=first, source="", value=reading), End(node=other, source="", value=reading)
    place = Place(label="op")
    rows = (
        Row(first=place, last="op", count=1 if first == last else 2, end=last),
        Row(first=place, last="op", count=1),
    )
    return OtherValue(phase="forward", ends=ends, rows=rows, inputs=Inputs())


# Means


def negated_mean(condition: AnyArray) -> Flow:
    """A condition, and the opposite of the mean of all elements."""
    nodes = [
        node("each", "gather", EACH),
        node("holds", "ne", condition),
        node("mean", "mean", np.array(EACH.mean())),
        node("neg", "neg", -EACH.mean()),
    ]
    return graph("jax-tape", nodes, [("each", "mean"), ("mean", "neg")])


def mean_there(value: float) -> Flow:
    return graph("torch-tape", [node("loss", "aten.nll_loss", np.array(value))], [])


def test_a_mean_of_the_elements_for_which_a_condition_holds() -> None:
    wanted = -EACH[HOLDS == 1].mean()
    found = masked_mean_cause(
        divergence("mean", "neg", "loss"), negated_mean(HOLDS), mean_there(wanted)
    )
    assert found is not None
    assert (found.side, found.node) == ("left", "mean")
    assert found.change == Related(how="mean_where", name="ne (holds)", numbers=(3, 5))


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (HOLDS, -EACH[HOLDS == 1].mean() * 1.01),  # another number
        (HOLDS, -EACH[HOLDS == 1].sum()),  # a sum
        (1 - HOLDS, -EACH[HOLDS == 1].mean()),  # the mean of the others
        (np.array([2, 0, 1, 1, 0]), -EACH[HOLDS == 1].mean()),  # no condition
    ],
)
def test_another_number_is_no_such_mean(condition: AnyArray, value: float) -> None:
    parted = divergence("mean", "neg", "loss")
    assert masked_mean_cause(parted, negated_mean(condition), mean_there(value)) is None


# Factors

SHARE = np.array([0.0, 1.0, 0.25], np.float32)
ONE = np.array([1.5, -2.0, 0.75], np.float32)
OTHER = np.array([4.0, 0.5, 3.0], np.float32)


def sum_of_products() -> Flow:
    """share · one + (1 - share) · other."""
    nodes = [
        node("share", "cast", SHARE),
        node("rest", "sub", 1 - SHARE),
        node("one", "pow", ONE),
        node("other", "pow", OTHER),
        node("p", "mul", SHARE * ONE),
        node("q", "mul", (1 - SHARE) * OTHER),
        node("s", "add", SHARE * ONE + (1 - SHARE) * OTHER),
    ]
    edges = [("share", "p"), ("one", "p"), ("rest", "q"), ("other", "q"), ("p", "s"), ("q", "s")]
    return graph("jax-tape", nodes, edges)


def test_a_sum_of_two_products_with_two_factors_exchanged() -> None:
    there = graph(
        "torch-tape", [node("t", "aten.add.Tensor", (1 - SHARE) * ONE + SHARE * OTHER)], []
    )
    found = exchanged_factors_cause(divergence("s", "s", "t"), sum_of_products(), there)
    assert found is not None
    assert found.change == Related(how="exchanged", name="cast (share)", other="sub (rest)")


@pytest.mark.parametrize(
    ("op", "value"),
    [
        ("aten.add.Tensor", (1 - SHARE) * ONE - SHARE * OTHER),
        ("aten.sub.Tensor", (1 - SHARE) * ONE + SHARE * OTHER),
        ("aten.add.Tensor", ONE + OTHER),
    ],
)
def test_another_sum_has_no_factors_exchanged(op: str, value: AnyArray) -> None:
    there = graph("torch-tape", [node("t", op, value)], [])
    assert exchanged_factors_cause(divergence("s", "s", "t"), sum_of_products(), there) is None
