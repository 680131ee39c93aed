"""What is tried where ops are in another order, and where a state starts at other numbers."""

from typing import NamedTuple

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.causes.candidates import MOST_OPS, Suspect, suspects_at
from explorer.compare.causes.choice import COSTS, cause_of, cost
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import unpack
from explorer.model.causes import (
    Edits,
    FromNode,
    FromSlot,
    FromThere,
    InsertOperator,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    Trial,
    Tried,
    Zeros,
    form_of,
)
from explorer.model.graph import Output, SideName
from explorer.numeric.summaries import summarise
from explorer.words.causes import sentence
from tests.support.divergence_records import other_value, row
from tests.support.narrowing import present
from tests.support.written_nets import given, net


class Try(NamedTuple):
    """Edits that are tried on a side: of ops in a row, to give the value of an op of the other side."""

    side: SideName
    row: tuple[str, ...]
    other: str
    edits: Edits = ()


def tries(text: str, engines: tuple[str, str] = ("torch-tape", "mindspore-tape")) -> list[Try]:
    """All that is tried at the first divergence of two nets."""
    left, right = net(engines[0], text), net(engines[1], text, side="right")
    divergence = align(left, right).divergence
    assert divergence is not None
    found = []
    for suspect in suspects_at(divergence, GraphView(left), GraphView(right)):
        nodes = (left if suspect.side == "left" else right).by_id()
        for trial in suspect.trials:
            ops = tuple(nodes[node].op for node in trial.row)
            found += [Try(suspect.side, ops, suspect.other.op, trial.edits)] if trial.edits else []
    return found


def exchanged(text: str, engines: tuple[str, str] = ("torch-tape", "mindspore-tape")) -> set[Try]:
    """What is tried in the opposite order, without the edits."""
    return {it._replace(edits=()) for it in tries(text, engines) if form_of(it.edits) == "order"}


# A start at other numbers


@pytest.mark.parametrize(
    ("left", "right", "own", "other"),
    [("Ones", "aten.new_zeros.default", 1.0, 0.0), ("Zeros", "aten.full.default", 0.0, 0.5)],
)
def test_numbers_that_the_other_side_fills_in_are_tried_by_their_op_and_line(
    left: str, right: str, own: float, other: float
) -> None:
    found = tries(f"""
    - start = {left} @1: np.full((4, 4), {own})
    + start = {right} @1: np.full_like(x, {other})
    kept = MatMul @2: start @ x
    new = Tanh @3: np.tanh(x)
    out = Add @4: kept + new
    """)
    given = {}
    for it in found:
        (edit, *_) = it.edits
        if isinstance(edit, Rewire) and isinstance(edit.source, FromThere):
            assert (it.row, edit.slots) == (("MatMul",), (0,))
            numbers = unpack(present(edit.source.value))
            given[it.side, edit.source.label] = set(numbers.ravel())
    labels = f"{right} (net.py:1)", f"{left} (net.py:1)"
    assert given == {("left", labels[0]): {other}, ("right", labels[1]): {own}}


def test_zeros_are_tried_in_the_place_of_the_fill_that_a_value_beside_a_row_is_made_of() -> None:
    found = tries("""
    gate = Sigmoid @1: 1 / (1 + np.exp(-x))
    new = Tanh @2: np.tanh(x)
    - start = Ones @3: np.ones((4, 4))
    + start = Zeros @3: np.zeros((4, 4))
    kept = Mul @4: gate * start
    sum = Add @5: kept + new
    out = MatMul @6: sum @ x
    """)
    zeros = [
        (it.side, it.row, edit.source)
        for it in found
        for edit in it.edits
        if isinstance(edit, Rewire) and isinstance(edit.source, Zeros)
    ]
    assert zeros == [("left", ("Mul", "Add"), Zeros("Ones (net.py:3)", is_filled=True))]


# Another order


@pytest.mark.parametrize("is_later", [True, False])
def test_an_op_ahead_is_left_out_up_to_the_bias_that_is_an_op_of_its_own(is_later: bool) -> None:
    norm = "({0} - {0}.mean(1, keepdims=True)) / {0}.std(1, keepdims=True)"
    later = f"""
    - scores = MatMul @4: query @ norm.T
    + scores = MatMul @4: query @ h.T
    share = Sigmoid @5: 1 / (1 + np.exp(-scores))
    sum = Add @6: h + share
    + norm = LayerNorm @7: {norm.format("sum")}
    - out = Exp @8: np.exp(sum)
    + out = Exp @8: np.exp(norm)
    """
    text = f"""
    weight = parameter: np.random.default_rng(2).standard_normal((4, 4))
    bias = parameter: np.arange(4.0)
    h = Tanh @1: np.tanh(x)
    - norm = LayerNorm @2: {norm.format("h")}
    - product = MatMul @3: norm @ weight
    - query = BiasAdd @3: product + bias
    + query = aten.addmm.default @3: h @ weight + bias
    {later if is_later else "out = Add @4: h + query"}
    """
    found = tries(text, ("mindspore-tape", "torch-tape"))
    rows = [(it.row, it.other) for it in found if isinstance(it.edits[0], RemoveOperator)]
    assert (("LayerNorm", "MatMul", "BiasAdd"), "aten.addmm.default") in rows


PRODUCTS = """
    weight = parameter: np.random.default_rng(2).standard_normal((4, 4))
    back = parameter: np.random.default_rng(4).standard_normal((4, 4))
    bias = parameter: np.arange(4.0)
"""
BIAS_FIRST = """
    - one = aten.addmm.default @1: x @ weight + bias
    - out = aten.mm.default @2: one @ back
    + one = MatMul @1: x @ back
    + two = MatMul @2: one @ weight
    + out = BiasAdd @2: two + bias
"""
BIAS_LAST = """
    - one = aten.mm.default @1: x @ back
    - out = aten.addmm.default @2: one @ weight + bias
    + one = MatMul @1: x @ weight
    + two = BiasAdd @1: one + bias
    + out = MatMul @2: two @ back
"""
NO_PRODUCTS = """
    - one = Softmax @1: np.exp(x) / np.exp(x).sum(0, keepdims=True)
    - out = Softmax @2: np.exp(one) / np.exp(one).sum(1, keepdims=True)
    + one = Softmax @1: np.exp(x) / np.exp(x).sum(1, keepdims=True)
    + out = Softmax @2: np.exp(one) / np.exp(one).sum(0, keepdims=True)
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (BIAS_FIRST, [Try("left", ("aten.mm.default", "aten.addmm.default"), "BiasAdd")]),
        (BIAS_LAST, [Try("left", ("aten.addmm.default", "aten.mm.default"), "MatMul")]),
        (NO_PRODUCTS, []),
    ],
)
def test_of_two_ops_of_one_kind_products_alone_are_tried_in_the_other_order(
    text: str, wanted: list[Try]
) -> None:
    assert [it for it in exchanged(PRODUCTS + text) if it.side == "left"] == wanted


# What is zero in the product, or of which the norm is the same, is no other value there.
PRODUCT = """
    mask = input: np.arange(4)[:, None] // 2.0
    share = input: np.arange(16.0).reshape(4, 4) * (np.arange(4) // 2)
    h = Tanh @1: np.tanh(x)
    - done = MatMul @2: share @ h
    - scaled = Mul @3: done * mask
    + scaled = Mul @2: h * mask
    + done = MatMul @3: share @ scaled
    - out = Sin @4: np.sin(scaled)
    + out = Sin @4: np.sin(done)
"""
NORM = """
    - done = LayerNorm @1: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    - scaled = Mul @2: done * 0.5
    + scaled = Mul @1: x * 0.5
    + done = LayerNorm @2: (scaled - scaled.mean(1, keepdims=True)) / scaled.std(1, keepdims=True)
    - out = Sin @3: np.sin(scaled)
    + out = Sin @3: np.sin(done)
"""


@pytest.mark.parametrize(("text", "op"), [(PRODUCT, "MatMul"), (NORM, "LayerNorm")])
def test_a_factor_behind_an_op_is_tried_ahead_of_it_where_the_other_side_has_one_there(
    text: str, op: str
) -> None:
    assert exchanged(text) == {Try("left", ("Mul", op), op)}
    assert not exchanged(text.replace("+ scaled = Mul", "+ scaled = Sub"))


def test_an_op_is_tried_ahead_of_the_one_before_where_the_other_side_writes_that_out() -> None:
    found = exchanged(
        """
    scores = MatMul @1: x @ x.T
    share = Softmax @1: np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    - best = aten.topk.default @2: np.sort(share)[:, :2]
    + cut = top_k @2: np.sort(scores)[:, :2]
    + most = reduce_max @2: cut.max(1, keepdims=True)
    + low = sub @2: cut - most
    + high = exp @2: np.exp(low)
    + total = reduce_sum @2: high.sum(1, keepdims=True)
    + best = div @2: high / total
    sum = Tanh @4: np.tanh(best)
    even = Mean @5: share.mean(0)
    out = Add @6: sum.sum() + even
    """,
        ("torch-tape", "jax-tape"),
    )
    assert Try("left", ("aten.topk.default", "Softmax"), "div") in found


# Inputs, and what is tried of a row


@pytest.mark.parametrize(
    ("read", "out", "is_tried"),
    [
        ("Mean @1: x.mean(1, keepdims=True)", "Sub @2: x - h", True),
        ("Mean @1: x.mean(1, keepdims=True)", "MatMul @2: x @ h", False),
        ("Tanh @1: np.tanh(x)", "MatMul @2: x @ h", True),
    ],
)
def test_inputs_of_other_shapes_are_exchanged_but_those_of_products(
    read: str, out: str, is_tried: bool
) -> None:
    found = tries(f"""
    h = {read}
    - out = {out}
    + out = Custom @2: np.tanh(x * h)
    """)
    places = (0, 1), (1, 0)
    swap = tuple(Rewire(node="n2", slots=(to,), source=FromSlot(of)) for to, of in places)
    assert (("left", swap) in [(it.side, it.edits) for it in found]) is is_tried


@pytest.mark.parametrize("count", [MOST_OPS, MOST_OPS + 1])
def test_of_a_long_row_the_first_op_alone_is_tried(count: int) -> None:
    steps = "\n".join(f"h{it} = Tanh @{it}: np.tanh(h{it - 1})" for it in range(1, count))
    left = net("torch-tape", f"h0 = Tanh @9: np.tanh(x)\n{steps}")
    right = net("mindspore-tape", "out = Custom @1: np.sin(x)")
    rows = row(f"n{count}", count), row("n1")
    divergence = other_value("n1", "n1", rows=rows)
    found = suspects_at(divergence, GraphView(left), GraphView(right))
    edited = {it.row[0] for one in found for it in one.trials if it.edits and one.side == "left"}
    assert edited == {f"n{it}" for it in range(1, count + 1 if count <= MOST_OPS else 2)}


# What counts more, or less


def read_instead(text: str, slot: int) -> dict[str, bool]:
    """What is tried in the place of an input of the left net's Mul, and whether the other side reads it."""
    edits = [it.edits[0] for it in tries(text) if it.side == "left" and it.row == ("Mul",)]
    sources = [it.source for it in edits if isinstance(it, Rewire) and it.slots == (slot,)]
    return {it.label: it.is_read_there for it in sources if isinstance(it, FromNode)}


def test_a_value_that_the_other_side_reads_is_told_from_one_of_its_shape() -> None:
    found = read_instead(
        """
    one = Tanh @1: np.tanh(x)
    two = Sin @2: np.sin(x)
    three = Cos @3: np.cos(x)
    - out = Mul @4: one * three
    + out = Mul @4: two * three
    sum = Add @5: one + two
    late = Exp @6 back: np.exp(x)
    result sum = sum
    result out = out
    gradient x = late
    """,
        0,
    )
    assert found["Sin (net.py:2)"]
    assert "Exp (net.py:6)" not in found  # which backward computes
    assert not found["x"]
    sources = FromNode("n2", is_read_there=True), FromNode("n2")
    costs = [cost((Rewire(slots=(0,), source=it),)) for it in sources]
    assert COSTS[FromSlot] < costs[0] < COSTS["several"] < costs[1]


@pytest.mark.parametrize(("read", "label"), [("weight", "weight"), ("places", "Range (net.py:4)")])
def test_another_layout_and_what_is_made_of_numbers_alone_count_no_more(
    read: str, label: str
) -> None:
    found = read_instead(
        f"""
    weight = parameter: np.random.default_rng(2).standard_normal((4, 4))
    turned = Transpose @3: weight.T
    first = constant: 1.0
    places = Range @4: np.arange(16.0).reshape(4, 4) * first
    - out = Mul @5: x * turned
    + out = Mul @5: x * {read}
    """,
        1,
    )
    assert not found[label]


def test_what_is_dropped_between_two_ops_counts_as_left_out() -> None:
    ahead = Rewire(node="n3", slots=(0,), source=FromNode("n0"))
    behind = Rewire(slots=(0,), source=FromNode("n3"), label="mean")
    dropped = RemoveOperator(node="n2")
    assert form_of((ahead, dropped, behind)) == "order"
    assert cost((ahead, behind)) < COSTS["removed"] < cost((ahead, dropped, behind))


@pytest.mark.parametrize(("op", "is_tried"), [("aten.rsub.Scalar", True), ("Mul", False)])
def test_what_is_read_is_negated_where_a_number_is_added(op: str, is_tried: bool) -> None:
    x = "x = input: np.arange(16, dtype=np.float32).reshape(4, 4)\n"
    left = given(net("torch-tape", f"{x} out = {op} @1: 1 - x"), "net.py:1", {"other": 1})
    right = net("mindspore-tape", f"{x} out = Add @1: x + 1")
    ids = [next(it.id for it in graph.nodes if it.kind == "op") for graph in (left, right)]
    found = suspects_at(other_value(*ids), GraphView(left), GraphView(right))
    edits = [edit for one in found for it in one.trials for edit in it.edits]
    factors = [it.number for it in edits if isinstance(it, InsertOperator) and it.factor]
    assert (-1.0 in factors) is is_tried


@pytest.mark.parametrize(
    ("edit", "is_explained"),
    [
        (ReplaceOperator(node="n1", op="Sum"), True),
        (Rewire(node="n1", slots=(0,), source=FromNode("n0")), False),
    ],
)
def test_the_op_within_the_other_row_is_named_whose_value_another_operator_gives(
    edit: ReplaceOperator | Rewire, is_explained: bool
) -> None:
    graph = net("torch-tape", "out = Mean @1: x.mean(1)")
    node = graph.nodes[1]
    value = np.array([1.0, 2.5, -3.0, 7.0], np.float32)
    own, inner, last = (Output((4,), "float32", summarise(value / it)) for it in (4, 1, 3))
    trials = Trial(("n1",)), Trial(("n1",), (edit,))
    suspect = Suspect(
        "left", node, node, own, last, trials, within=(("reduce_sum (net.py:2)", inner),)
    )
    found = cause_of(suspect, Tried(((own,), (inner,))), graph, graph)
    assert (found is not None) is is_explained
    if found is not None:
        assert not found.mends
        said = sentence(found, ("torch-tape", "jax-tape"))
        assert "value of `reduce_sum (net.py:2)`, from which jax-tape computes its own" in said
