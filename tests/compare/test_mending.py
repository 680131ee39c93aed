"""Which values of the other side are put in where two graphs part, and what is then new."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align.alignment import Joint, Seam
from explorer.compare.causes.mending import Mending, give_the_same_results, large_slots
from explorer.compare.graphs.layouts import order_of_axes
from explorer.compare.graphs.view import GraphView
from explorer.model.alignment import Pair
from explorer.model.arrays import SMALL, AnyArray, pack, unpack
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    GradientAdded,
    GradientStopped,
    OtherValue,
    Place,
)
from explorer.model.graph import (
    OTHER,
    GradGraph,
    SideName,
    with_outputs,
    with_values,
    without_large,
)
from explorer.model.mended import Obstacle, PutIn
from tests.support.divergence_records import end, other_value, row
from tests.support.handmade_graph import HandmadeGraph

VALUE = np.arange(6, dtype=np.float32)


def graph(engine: str, ops: tuple[str, str], value: AnyArray = VALUE) -> GradGraph:
    """x → first → second → out, and the way back: the gradient of each op, then that of x."""
    made = HandmadeGraph()
    x = made.leaf("x", "input", value)
    first = made.add(ops[0], [x], value=value, line=1)
    second = made.add(ops[1], [first], value=value, line=2)
    made.result("out", second, value)
    gradient = made.add("back", [second], phase="backward", forward=second, value=value, line=2)
    gradient = made.add("back", [gradient], phase="backward", forward=first, value=value, line=1)
    made.gradient("dx", gradient, value)
    return made.record(engine=engine)


HERE = graph("torch-tape", ("aten.gelu.default", "aten.tanh.default"))
THERE = graph("mindspore-graph", ("GeLU", "Tanh"))

PLACE = Place(label="op")


def without_values(graph: GradGraph) -> GradGraph:
    """A graph of which only shapes are known."""
    return with_outputs(graph, lambda _, output: msgspec.structs.replace(output, values=None))


def seam(name: str, *joints: Joint, is_assumed: bool = False, side: SideName = "left") -> Seam:
    """A divergence between two nodes of one id, as a side is mended there."""
    parts = frozenset({name})
    joined = {side: joints, OTHER[side]: ()}
    return Seam({"left": parts, "right": parts}, joined, is_assumed)


def at(name: str) -> Joint:
    return Joint((name, 0), (name, 0), ((6,), (6,)))


def mending(*known: str, left: GradGraph = HERE, right: GradGraph = THERE) -> Mending:
    """Two graphs of which nodes of one id are known to differ."""
    made = Mending(left, right, "left")
    put_in(made, *map(seam, known))
    return made


def put_in(known: Mending, *seams: Seam, divergence: Divergence = other_value()) -> list[Obstacle]:  # noqa: B008
    """Put in values at divergences; why there were none at some."""
    return [it.why for it in known.mend([divergence] * len(seams), seams)]


def is_known(known: Mending, name: str, *pairs: Pair) -> bool:
    """Whether gradients in two nodes of one id are known to differ, after a run with some pairs."""
    known.see(pairs)
    return known.is_known(other_value(name, name, phase="backward"), seam(name))


def test_ops_are_not_said_to_agree_where_a_value_was_put_in() -> None:
    elsewhere = (Place(label="op", source="net.py:1"),) * 2, (PLACE,) * 2
    divergence = msgspec.structs.replace(other_value("n2", "n2"), equal_at=elsewhere)
    assert mending().without_known(divergence) == divergence
    without = msgspec.structs.replace(divergence, equal_at=elsewhere[1:])
    assert mending("n1").without_known(divergence) == without


def test_the_other_sides_value_is_put_in_once() -> None:
    known = mending()
    for _ in range(2):
        assert put_in(known, seam("n1", at("n1"))) == []
        assert known.put_in == {("n1", 0): PutIn("n1", 0, pack(VALUE))}


@pytest.mark.parametrize(
    ("own", "other", "whys"),
    [((2, 3), (2, 4), ["size"]), ((2, 3), (6,), []), ((2, 1, 3), (2, 3), [])],
)
def test_a_value_is_put_in_where_it_has_as_many_elements(
    own: tuple[int, ...], other: tuple[int, ...], whys: list[Obstacle]
) -> None:
    left, right = (graph("torch-tape", ("sin", "exp"), np.ones(it)) for it in (own, other))
    known = mending(left=left, right=right)
    assert put_in(known, seam("n1", at("n1"))) == whys
    assert list(known.put_in) == ([] if whys else [("n1", 0)])


IMAGES = np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3)


def images(engine: str, *, are_last: bool, value: AnyArray) -> GradGraph:
    """An op on images, which one side reads with their channels last."""
    made = HandmadeGraph()
    read = made.leaf("x", "input", IMAGES)
    if are_last:
        read = made.add("transpose", [read], value=np.moveaxis(IMAGES, 1, -1))
    pooled = np.moveaxis(value, 1, -1) if are_last else value
    made.result("out", made.add("pool", [read], value=pooled), pooled)
    return made.record(engine=engine)


@pytest.mark.parametrize("is_known", [True, False])
def test_a_value_is_turned_as_what_it_is_computed_from(is_known: bool) -> None:
    here = images("torch-tape", are_last=False, value=IMAGES + 1)
    there = images("jax-tape", are_last=True, value=IMAGES * 2)
    if not is_known:
        there = without_values(there)
    known = mending(left=here, right=there)
    joint = Joint(("n1", 0), ("n2", 0), ((1, 2, 3, 3), (1, 3, 3, 2)))
    assert put_in(known, seam("n1", joint)) == ([] if is_known else ["layout"])
    values = [it.value and unpack(it.value).tolist() for it in known.put_in.values()]
    assert values == ([(IMAGES * 2).tolist()] if is_known else [])


def test_axes_are_in_the_order_of_a_value_that_the_other_side_turns() -> None:
    draws = np.random.default_rng(0)
    read, gradient = draws.normal(size=(2, 3, 3)), draws.normal(size=(3, 3, 2))
    here, there = HandmadeGraph(), HandmadeGraph()
    first = here.leaf("x", "input", read)
    here.add("back", [first], phase="backward", shape=(2, 3, 3))
    second = there.leaf("x", "input", read.transpose(1, 0, 2))
    turned = there.add("transpose", [second], value=read.transpose(2, 1, 0))
    own = there.add("back", phase="backward", value=gradient)
    there.add(
        "transpose", [own], phase="backward", forward=turned, value=gradient.transpose(1, 2, 0)
    )
    sides = GraphView(here.record()), GraphView(there.record())
    assert order_of_axes(*sides, (("n1", 0), ("n2", 0))) == (2, 1, 0)


def test_why_nothing_is_put_in_is_noted() -> None:
    assert put_in(mending(right=without_values(THERE)), seam("n1", at("n1"))) == ["no_value"]
    stopped = GradientStopped(
        phase="backward", ends=(end("n2"), end("n2")), side="left", places=(PLACE, PLACE)
    )
    assert put_in(mending(), seam("n2"), divergence=stopped) == ["stopped"]
    extra = ExtraOps(phase="forward", ends=(end("n0"), end("n0")), side="left", row=row())
    assert put_in(mending(), seam("n0"), divergence=extra) == ["no_place"]


def test_the_gradient_of_a_known_divergence_is_known_and_that_of_another_op_is_new() -> None:
    known = mending("n1")
    assert is_known(known, "n5")
    assert not is_known(known, "n4")
    assert known.is_known(other_value("n1", "n1"), seam("n1", at("n1")))


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_that_are_equal_since_values_were_put_in_there_are_not_called_equal(
    side: SideName,
) -> None:
    known = Mending(HERE, THERE, side)
    put_in(known, seam("n1", side=side))
    instead, further = [Place(label="op", source=f"net.py:{line}") for line in (1, 2)]
    pairs = [(instead, further), (further, instead)]
    divergence = msgspec.structs.replace(other_value("n2", "n2"), equal_at=tuple(pairs))
    seen = known.without_known(divergence)
    assert isinstance(seen, OtherValue)
    assert seen.equal_at == (pairs[side == "left"],)


def test_an_assumed_divergence_waits_until_it_is_sure() -> None:
    known = mending()
    assert put_in(known, seam("n2", at("n2"), is_assumed=True)) == []
    assert known.put_in == {}
    assert not known.is_known(other_value("n2", "n2"), seam("n2"))


def test_what_is_equal_by_a_value_that_was_put_in_is_not_equal_by_itself() -> None:
    pairs = [same("n1"), same("n2")]
    assert mending().see(pairs) == {"n1", "n2"}
    assert mending("n2").see(pairs) == {"n1"}


def test_a_gradient_that_a_known_line_adds_is_no_new_divergence() -> None:
    known = mending("n1")
    for line in (1, 2):
        added = GradientAdded(
            phase="backward",
            ends=(end("n4"), end("n4")),
            side="right",
            total=PLACE,
            term=Place(label="Mul", source=f"net.py:{line}"),
            rest=PLACE,
        )
        assert known.is_known(added, seam("n4")) == (line == 1)


def test_the_gradient_of_a_leaf_that_a_known_op_gives_is_put_in() -> None:
    for known, slots in ((mending(), []), (mending("n1"), [("n5", 0)])):
        known.mend_gradients(["dx"], ())
        assert list(known.put_in) == slots


def handing_on(engine: str, *, scale: int = 1, has_sum: bool = False, add: float = 0) -> GradGraph:
    """x → first → second → out; what second hands on to first's gradient may be a sum of two."""
    made = HandmadeGraph()
    x = made.leaf("x", "input", VALUE)
    first = made.add("sin", [x], value=VALUE, id_="first")
    second = made.add("exp", [first], value=VALUE, id_="second")
    made.result("out", second, VALUE)
    given = np.tile(VALUE + np.float32(add), scale)
    handed = made.back("back", second, [], [second], value=given, id_="handed")
    if has_sum:
        handed = made.accumulate("add", [handed, handed], value=given, id_="sum")
    gradient = made.back("back", first, [handed], [first], value=VALUE, id_="gradient")
    made.gradient("dx", gradient, VALUE)
    return made.record(engine=engine)


def same(name: str) -> Pair:
    return Pair(left=name, right=name, left_output=0, right_output=0, number=1, how="value")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("read", ["handed", "sum"])
def test_what_a_known_op_hands_on_is_the_gradient_that_the_reader_s_counterpart_reads(
    side: SideName, read: str
) -> None:
    here = handing_on("torch-tape")
    there = handing_on("mindspore-tape", has_sum=read == "sum", add=1)
    known = Mending(*((here, there) if side == "left" else (there, here)), side)
    put_in(known, seam("second", side=side))
    known.mend_gradients([], [same("second")])
    assert known.put_in == {}
    known.mend_gradients([], [same("first")])
    assert known.put_in == {("handed", 0): PutIn("handed", 0, pack(VALUE + 1))}


def test_nothing_is_handed_on_in_another_size_or_to_a_reader_that_is_known_or_is_a_sum() -> None:
    here = handing_on("torch-tape")
    for own, other, parts in (
        (here, handing_on("mindspore-tape", scale=2), ["second"]),
        (here, here, ["second", "first"]),
        (handing_on("torch-tape", has_sum=True), here, ["second"]),
    ):
        known = mending(*parts, left=own, right=other)
        known.mend_gradients([], [same("first")])
        assert known.put_in == {}


def test_what_was_put_in_at_a_place_alike_is_taken_back_where_it_is_not_alike() -> None:
    known = mending()
    place = seam("n1", at("n1"))
    for _ in range(2):
        assert known.join(place)
        assert is_known(known, "n5")
        assert not known.join(place)
        known.take_back(place)
        assert (known.put_in, is_known(known, "n5")) == ({}, False)


def test_large_values_are_asked_for_as_long_as_there_is_room() -> None:
    large = np.ones(SMALL + 1, np.float32)
    made = HandmadeGraph()
    for array in (large, VALUE, large, large):
        made.add("op", value=array)
    held = made.record()
    room = 2 * (SMALL + 1)
    assert list(large_slots(held, held.by_id(), room)) == [("n0", 0), ("n2", 0)]
    assert list(large_slots(held, held.by_id(), room - 1)) == [("n0", 0)]
    found = with_values(held, {("n0", 0): pack(large), ("n2", 0): None})
    known = [node.whole(0) for node in found.nodes]
    assert known == [pack(large), pack(VALUE), None, None]
    assert without_large(found) == held


def test_the_gradient_of_what_leads_to_a_value_that_was_put_in_is_known() -> None:
    known = mending()
    put_in(known, seam("n2", at("n2")))
    assert not is_known(known, "n5", same("n1"))
    assert is_known(known, "n5")


def test_the_gradient_of_what_lies_otherwise_before_a_known_divergence_is_known() -> None:
    known = mending()
    assert not is_known(known, "n5")
    put_in(known, seam("n2")._replace(laid=frozenset({("left", "n1")})))
    assert is_known(known, "n5")


@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_a_run_that_gives_the_results_of_the_plain_one_is_told_from_one_that_does_not(
    factor: float,
) -> None:
    again = images("torch-tape", are_last=False, value=IMAGES * np.float32(factor))
    plain = images("torch-tape", are_last=False, value=IMAGES)
    assert give_the_same_results(again, plain) == (factor == 1)
    assert not give_the_same_results(without_values(again), plain)


def test_a_gradient_is_known_as_long_as_it_is_computed_from_one_of_a_known_op() -> None:
    made = HandmadeGraph()
    x = made.leaf("x", "input", VALUE)
    first, other = (made.add("op", [x], value=VALUE, line=line) for line in (1, 2))
    terms = [
        made.add("back", phase="backward", forward=forward, value=VALUE, line=3)
        for forward in (first, other)
    ]
    total = made.accumulate("add", terms, value=VALUE, line=3)
    made.gradient("dx", total, VALUE)
    graph = made.record(engine="torch-tape")
    (result,) = (node.id for node in graph.nodes if node.name == "dx")
    known = mending(first, left=graph, right=graph)
    assert is_known(known, result)
    assert is_known(known, total)  # whatever its terms are equal to
    equal = same(terms[0])
    assert not is_known(known, result, equal)
    assert is_known(known, result, msgspec.structs.replace(equal, how="reordered"))
    put_in(known, seam(terms[0], at(terms[0])))
    assert not is_known(known, result)
