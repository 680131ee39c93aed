"""What a row of ops reads in the place of something else, and what one side alone does ahead of it."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.causes.candidates import Suspect, suspects_at
from explorer.compare.causes.choice import COSTS, cause_of, cost
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray
from explorer.model.causes import (
    Edit,
    FromNode,
    RemoveOperator,
    Rewire,
    SetArguments,
    Trial,
    Tried,
    form_of,
)
from explorer.model.graph import Output
from explorer.numeric.summaries import summarise
from explorer.words.causes import in_short
from tests.support.alignments import parting
from tests.support.divergence_records import other_value
from tests.support.written_nets import given, net, two_nets

# An activation of the other factor; and a divergence of two distributions the wrong way round, of which one
# factor is made beside the row of ops.
GATED = """
    gate = MatMul @1: x @ x / 4
    up = MatMul @2: x @ x.T / 4
    - act = SiLU @3: gate / (1 + np.exp(-gate))
    - out = Mul @3: act * up
    + act = SiLU @3: up / (1 + np.exp(-up))
    + out = Mul @3: act * gate
"""
DIVERGENCE = """
    gate = LogSoftmax @1: x - np.log(np.exp(x).sum())
    up = LogSoftmax @2: x * x - np.log(np.exp(x * x).sum())
    - apart = Sub @3: gate - up
    - share = Exp @3: np.exp(gate)
    - out = Mul @3: share * apart
    + out = KLDiv @3: np.exp(up) * (up - gate)
"""


@pytest.mark.parametrize("text", [GATED, DIVERGENCE])
def test_two_values_that_a_row_reads_are_exchanged_wherever_it_reads_them(text: str) -> None:
    left = net("torch-tape", text)
    right = net("jax-tape", text, side="right")
    view = GraphView(left)
    divergence = align(left, right).divergence
    assert divergence is not None
    lines = {node: it.source[0] for node, it in view.nodes.items() if it.source}
    gate, up = (next(node for node, it in lines.items() if it == f"net.py:{n}") for n in (1, 2))
    exchanges = []
    for suspect in suspects_at(divergence, view, GraphView(right)):
        for trial in suspect.trials if suspect.side == "left" else ():
            sources = [it.source for it in trial.edits if isinstance(it, Rewire)]
            if {it.node for it in sources if isinstance(it, FromNode)} == {gate, up}:
                exchanges.append(trial.edits)
    (edits,) = exchanges

    put_in = {}
    for edit in edits:
        assert isinstance(edit, Rewire)
        assert isinstance(edit.source, FromNode)
        put_in.update({(edit.node, slot): edit.source.node for slot in edit.slots})
    readers = [edge for node in (gate, up) for edge in view.out_of(view.nodes[node])]
    other = {gate: up, up: gate}
    assert put_in == {(edge.target, edge.input): other[edge.origin] for edge in readers}
    assert form_of(edits) == "inputs"
    assert cost(edits) < min(COSTS["several"], COSTS["value"])
    assert "exchanged" in in_short(edits, "Mul")


SCALED = """
    scores = MatMul @1: x @ x
    - scaled = Div @2: scores / 2
    + scaled = Div @2: scores / 3.5
    - out = Softmax @3: np.exp(scaled) / np.exp(scaled).sum(1, keepdims=True)
    + top = ReduceMax @3: scaled.max(1, keepdims=True)
    + low = Sub @3: scaled - top
    + high = Exp @3: np.exp(low)
    + total = ReduceSum @3: high.sum(1, keepdims=True)
    + out = Div @3: high / total
"""


def test_a_number_ahead_of_a_written_out_softmax_is_compared_with_the_other_number() -> None:
    left, right = (
        given(graph, "net.py:2", {"other": number})
        for graph, number in zip(two_nets(SCALED), (2.0, 3.5), strict=True)
    )
    assert "`Div` (net.py:2) and `Div` (net.py:2)" in parting(left, right).sentence


TURNED = """
    split = Reshape @1: x.reshape(2, 2, 2, 2)
    - turned = Transpose @2: split.transpose(0, 2, 1, 3)
    + turned = Turn @2: split.transpose(0, 2, 3, 1)
    flat = Reshape @3: turned.reshape(4, 4)
    - out = MatMul @4: flat @ x
    + out = Linear @4: flat @ x
"""


def test_the_axes_of_a_transposition_ahead_of_an_op_are_exchanged() -> None:
    left = given(net("torch-tape", TURNED), "net.py:2", {"dims": (0, 2, 1, 3)})
    right = net("jax-tape", TURNED, side="right")
    ids = {node.op: node.id for node in (*left.nodes, *right.nodes)}
    divergence = other_value(ids["MatMul"], ids["Linear"])
    found = suspects_at(divergence, GraphView(left), GraphView(right))
    turned = [
        edit.arguments["dims"]
        for suspect in found
        for trial in suspect.trials
        for edit in trial.edits
        if isinstance(edit, SetArguments) and trial.row[0] == ids["Transpose"]
    ]
    # In the order that they have the op is left out.
    assert len(turned) == 5
    assert (0, 2, 3, 1) in turned


def test_what_a_value_is_made_of_is_tried_in_its_place_before_what_is_like_it() -> None:
    decoys = "\n".join(f"    like{place} = MatMul @3: x @ x + {place}" for place in range(16))
    text = f"""
    h = Tanh @1: np.tanh(x)
    made = MatMul @2: h @ h
{decoys}
    - out = Mul @4: x * made
    + out = Mul @4: x * h
    """
    left, right = net("torch-tape", text), net("jax-tape", text, side="right")
    divergence = align(left, right).divergence
    assert divergence is not None
    sources = {
        edit.source.node
        for suspect in suspects_at(divergence, GraphView(left), GraphView(right))
        for trial in suspect.trials
        for edit in trial.edits
        if isinstance(edit, Rewire) and isinstance(edit.source, FromNode)
        if suspect.side == "left" and edit.slots == (1,)
    }
    ids = {node.op: node.id for node in left.nodes}
    assert ids["Tanh"] in sources


def test_another_order_costs_less_than_a_number_where_an_op_has_zero() -> None:
    of_zero = SetArguments(own={"y": 0.0}, arguments={"y": 0.5})
    ahead = Rewire(node="n1", slots=(0,), source=FromNode("n0"))
    order = ahead, Rewire(slots=(0,), source=FromNode("n1"), label="relu")
    assert form_of(order) == "order"
    assert cost((SetArguments(own={"y": 0.1}, arguments={"y": 0.5}),)) < cost(order)
    assert cost(order) < cost((of_zero,))


@pytest.mark.parametrize(
    ("edit", "is_inverted", "is_explained"),
    [
        (SetArguments(node="n1", arguments={"diagonal": 0}), False, True),
        (RemoveOperator(node="n1"), False, False),
        # The op has the opposite already: what changes nothing explains nothing.
        (SetArguments(node="n1", arguments={"diagonal": 0}), True, False),
    ],
)
def test_a_condition_of_the_other_sense_is_explained_by_other_arguments_alone(
    edit: Edit, is_inverted: bool, is_explained: bool
) -> None:
    wanted = np.triu(np.ones((3, 3))) > 0
    own = wanted if is_inverted else np.eye(3) > 0

    def held(condition: AnyArray) -> tuple[Output, ...]:
        return (Output(condition.shape, "bool", summarise(condition)),)

    graph = net("torch-tape", "out = Triu @1: np.triu(x)")
    node = graph.nodes[1]
    trials = Trial(("n1",)), Trial(("n1",), (edit,))
    suspect = Suspect("left", node, node, held(own)[0], held(~wanted)[0], trials)
    cause = cause_of(suspect, Tried((held(own), held(wanted))), graph, graph)
    assert bool(cause and cause.is_opposite) == is_explained
    assert is_explained or cause is None
