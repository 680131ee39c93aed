"""Other leaves as causes: those of another layer, one for two, and constants of the other side."""

import numpy as np
import pytest

from explorer.compare.causes.arguments import Spot
from explorer.compare.causes.from_values import related_cause
from explorer.compare.causes.inputs import NEAR
from explorer.compare.causes.leaves import later_place, other_constants, other_leaves
from explorer.compare.causes.rows import Ends
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray, unpack
from explorer.model.causes import FromLeaf, FromNode, FromThere, Rewire
from explorer.model.divergence import ExtraOps, Place
from explorer.model.graph import GradGraph, Node
from tests.support.divergence_records import end, row
from tests.support.handmade_graph import HandmadeGraph
from tests.support.narrowing import of_type, present
from tests.support.written_nets import net

RANDOM = np.random.default_rng(23)
X, AHEAD, BACK = (RANDOM.normal(size=(6, 6)).astype(np.float32) for _ in range(3))
FIRST, SECOND = (RANDOM.normal(size=8).astype(np.float32) for _ in range(2))


def cells(*names: str) -> GraphView:
    """Products of an input with transposed weights, those of some names, in order."""
    made = HandmadeGraph()
    x = made.leaf("x", "input", X)
    values = {"ahead.weight": AHEAD, "back.weight": BACK}
    leaves = {name: made.leaf(name, value=value) for name, value in values.items()}
    for name in names:
        turned = made.add("aten.t.default", [leaves[name]], value=values[name].T)
        made.add("aten.mm.default", [x, turned], value=X @ values[name].T)
    return GraphView(made.record())


def products(flow: GraphView) -> list[str]:
    return [node.id for node in flow.graph.nodes if node.op == "aten.mm.default"]


def spot(here: GraphView, own: str, there: GraphView, other: str) -> Spot:
    node, counterpart = here.nodes[own], there.nodes[other]
    return Spot(Ends("left", here, there, [node], [counterpart]), node, counterpart.outputs[0])


def test_the_weight_that_the_other_side_reads_is_put_in_as_an_op_s_own_is() -> None:
    here, there = cells("ahead.weight", "back.weight"), cells("ahead.weight", "ahead.weight")
    (_, own), (_, other) = products(here), products(there)
    turned = FromNode("n3", label="ahead.weight")
    wanted = (Rewire(node=own, slots=(1,), source=turned),)
    assert list(other_leaves(spot(here, own, there, other))) == [wanted]
    assert not list(other_leaves(spot(here, own, here, own)))


def test_a_weight_that_a_graph_does_not_use_in_that_way_is_not_put_in() -> None:
    here, there = cells("back.weight"), cells("ahead.weight")
    (own,), (other,) = products(here), products(there)
    assert not list(other_leaves(spot(here, own, there, other)))


def angles(value: AnyArray, kind: str) -> GraphView:
    made = HandmadeGraph()
    x = made.leaf("x", "input", X)
    name = "attn.cos" if kind == "parameter" else ""
    leaf = made.add(kind, kind=kind, name=name, value=value)  # type: ignore[arg-type]  # one of two kinds
    made.add("Mul", [x, leaf], value=X * value)
    return GraphView(made.record())


def test_a_constant_of_the_other_side_is_tried_where_it_differs_from_an_op_s_own_leaf() -> None:
    here, there = angles(AHEAD, "parameter"), angles(BACK, "constant")
    (edit,) = other_constants(spot(here, "n2", there, "n2"))
    given = of_type(FromThere, edit.source)
    assert (edit.slots, given.label) == ((1,), "constant (net.py:12)")
    assert np.array_equal(unpack(present(given.value)), BACK)
    assert not list(other_constants(spot(here, "n2", angles(AHEAD, "constant"), "n2")))


LEAVES = "norm1.weight", "norm2.weight"


def gradients(engine: str, *values: AnyArray) -> GradGraph:
    """Two leaves and their gradients, made by an op each, or both by one where there is one value."""
    made = HandmadeGraph()
    for name in LEAVES:
        made.leaf(name, value=np.ones(8))
    ops = [made.add("Add", value=value, phase="backward") for value in values]
    for place, name in enumerate(LEAVES):
        made.gradient(f"d{name}", ops[place % len(ops)], values[place % len(ops)])
    return made.record(engine=engine)


SUM = ExtraOps(
    phase="backward", ends=(end(None), end("n2")), side="right", row=row("n2"), gradients=2
)


def shared(right: GradGraph) -> tuple[str, FromLeaf] | None:
    """A leaf, and the one that is the same one on the right, by a cause at the sum of their gradients."""
    cause = related_cause(SUM, GraphView(gradients("torch-tape", FIRST, SECOND)), GraphView(right))
    if cause is None:
        return None
    (edit,) = cause.edits
    assert cause.side == "left"
    return cause.op, of_type(FromLeaf, of_type(Rewire, edit).source)


# Two leaves that are one tensor have one gradient.
@pytest.mark.parametrize(
    ("values", "is_told"),
    [
        ((FIRST + SECOND, np.zeros(8)), True),
        # Another sum, and one beside the gradient that is there.
        ((FIRST * 2, np.zeros(8)), False),
        ((FIRST + SECOND, SECOND), False),
        ((FIRST + SECOND,), True),
        ((FIRST * 2,), False),
        ((FIRST - SECOND,), False),
    ],
)
def test_one_leaf_for_two_is_told_by_the_sum_of_their_gradients(
    values: tuple[AnyArray, ...], is_told: bool
) -> None:
    told = shared(gradients("mindspore-tape", *values))
    other = FromLeaf("norm2.weight", is_one_tensor=len(values) == 1)
    assert told == (("norm1.weight", other) if is_told else None)


def norm_and_product(norm_is_first: bool) -> GraphView:
    """A norm with a weight of its own, and a product, in one order or the other, with an op behind."""
    made = HandmadeGraph()
    x = made.leaf("x", "input", X)
    scale = made.leaf("norm.weight", value=FIRST)
    weight = made.leaf("linear.weight", value=AHEAD)
    for op in ("norm", "product") if norm_is_first else ("product", "norm"):
        leaf = scale if op == "norm" else weight
        x = made.add(op, [x, leaf], value=X)
    made.add("tanh", [x], value=X)
    return GraphView(made.record())


def test_an_op_that_the_other_side_computes_later_is_found_by_its_parameter() -> None:
    here, there = norm_and_product(norm_is_first=True), norm_and_product(norm_is_first=False)
    norm, product = (op(here, name) for name in ("norm", "product"))
    later = later_place(here, norm, there, op(there, "product"))
    assert later == Place(label="norm.weight", source=op(there, "norm").source[0])
    # Here it is ahead of that and of the op behind, and a product has no parameter that is read behind it.
    assert later_place(here, norm, here, product) is None
    assert later_place(here, product, here, product) is None


def op(flow: GraphView, name: str) -> Node:
    (found,) = [node for node in flow.graph.nodes if node.op == name]
    return found


@pytest.mark.parametrize(
    ("distance", "is_here_too", "is_found"),
    [(1, False, True), (NEAR, False, True), (NEAR + 1, False, False), (1, True, False)],
)
def test_the_op_of_the_kind_to_which_the_other_side_comes_later_is_named_by_its_place(
    distance: int, is_here_too: bool, is_found: bool
) -> None:
    steps = [f"h{it} = Tanh @{it}: np.tanh(h{it - 1})" for it in range(1, distance)]
    text = "\n".join(["h0 = MatMul @9: x @ x", *steps])
    there = f"{text}\nout = ReLU @7: np.maximum(h{distance - 1}, 0)"
    here = "h = ReLU @1: np.maximum(x, 0)\nh0 = MatMul @2: h @ x"
    if is_here_too:
        here += "\nout = ReLU6 @3: np.maximum(h0, 0)"
    ours, theirs = (GraphView(net("a", it)) for it in (here, there))
    later = later_place(ours, ours.graph.nodes[1], theirs, theirs.graph.nodes[1])
    assert later == (Place(label="ReLU", source="net.py:7") if is_found else None)
