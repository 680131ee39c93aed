"""What is said of a cause, and of what was tried in vain."""

import msgspec
import pytest

from explorer.model.causes import (
    Attempt,
    Attempts,
    Edits,
    Factor,
    FromNode,
    FromThere,
    InsertOperator,
    Mend,
    RemoveOperator,
    Rewire,
    SetArguments,
)
from explorer.model.divergence import Place
from explorer.model.graph import Arguments
from explorer.words.causes import (
    attempts,
    attempts_text,
    heading,
    how_proven,
    mend_texts,
    sentence,
    where_to_write,
)
from tests.support.explained import ATTEMPTS, CAUSE, EPS, OPERATOR, WITH_CAUSE, explained
from tests.support.sample_report import DIVERGENCE, alignment

ENGINES = ("torch-tape", "mindspore-graph")
FITTING = Attempt("aten.norm", EPS, 0.0), Attempt("aten.exp.default", OPERATOR, 0.0)
READ_THERE = tuple(Rewire(node=it, slots=(1,), source=FromNode("", 0, it, True)) for it in "ab")
PARTED = alignment(*ENGINES, DIVERGENCE)


def test_a_cause_has_a_heading_its_evidence_and_code_for_either_net() -> None:
    assert heading(CAUSE, ENGINES) == "Why: `eps=0.01` in the place of `eps=1e-05` (torch-tape)"
    assert how_proven(CAUSE).endswith("; 61 changes were tried")
    left, right = mend_texts(CAUSE, ENGINES)
    assert (left.framework, left.code) == ("PyTorch", "nn.BatchNorm2d(eps=0.01)")
    assert (right.framework, right.code) == ("MindSpore", "nn.BatchNorm2d(eps=1e-05)")
    assert left.code in sentence(CAUSE, ENGINES)
    assert where_to_write(right, ("a.py:1", "b.py:2")) == "In MindSpore's net, at b.py:2"
    assert where_to_write(left, ("", "b.py:2")) == "In PyTorch's net"


@pytest.mark.parametrize(
    "edits",
    [
        (InsertOperator(op="mul", factor=Factor(0.125)),),
        (RemoveOperator(), InsertOperator(op="mul", factor=Factor(0.125))),
    ],
)
def test_what_follows_from_recorded_values_is_not_said_to_be_tried(edits: Edits) -> None:
    found = msgspec.structs.replace(CAUSE, edits=edits, proven="recorded_values", mends=())
    assert sentence(found, ENGINES).startswith("Cause, from the recorded values: ")
    assert "tried" not in how_proven(found)


@pytest.mark.parametrize(
    ("call", "arguments", "code"),
    [
        ("**", {"y": 2.0}, "… ** 2.0"),
        ("/", {"x": 1.0}, "1.0 / …"),
        ("jnp.var", {"ddof": 1}, "jnp.var(…, ddof=1)"),
    ],
)
def test_a_number_is_written_beside_an_operator(call: str, arguments: Arguments, code: str) -> None:
    mend = Mend(side="left", call=call, arguments=arguments)
    found = msgspec.structs.replace(CAUSE, mends=(mend,))
    (text,) = mend_texts(found, ("jax-tape", "torch-tape"))
    assert (text.framework, text.code) == ("JAX", code)


def test_where_nothing_explains_it_the_sentence_says_so_with_the_nearest_change() -> None:
    assert attempts(explained(PARTED, has_cause=False)) == (
        "61 changes were tried here: none gives the other side's value; the nearest is `eps=0.1`"
        " in the place of `eps=1e-05`, which leaves them 0.25 apart"
    )
    assert attempts(explained(PARTED)) == attempts(PARTED) == ""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (msgspec.structs.replace(ATTEMPTS, tried=1, nearest=()), "1 change was tried here: it"),
        (
            msgspec.structs.replace(ATTEMPTS, fitting=(*FITTING, FITTING[0])),
            "several give the other side's value (`eps=0.01` in the place of `eps=1e-05` and"
            " `aten.relu.default` in the place of `aten.exp.default`)",
        ),
        (msgspec.structs.replace(ATTEMPTS, is_repeated=False), "does not give its own value"),
        (WITH_CAUSE, "`eps=0.01` in the place of `eps=1e-05` gives the other side's value"),
    ],
)
def test_each_outcome_of_trials_is_said_as_what_it_is(made: Attempts, said: str) -> None:
    assert said in attempts_text(made)


def test_beside_a_cause_no_other_change_is_said_to_fit() -> None:
    made = msgspec.structs.replace(ATTEMPTS, fitting=FITTING)
    assert "several" not in attempts_text(made, CAUSE)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            (InsertOperator(op="mul", factor=Factor(0.3172)),),
            "Relation, from the recorded values: ",
        ),
        ((InsertOperator(op="mul", factor=Factor(0.3)),), "Cause, tried: "),
        ((InsertOperator(op="not", slots=(1,)),), "with the condition, its input 2, inverted, "),
        (
            (RemoveOperator(later=Place(label="norm.weight", source="net.py:3")),),
            "; mindspore-graph comes to `norm.weight` later, at net.py:3",
        ),
        (
            (
                Rewire(slots=(0,), source=FromThere("add")),
                SetArguments(own={"eps": 1e-5}, arguments={"eps": 1e-6}),
            ),
            "in the place of `eps=1e-05`, and the other side's values of its inputs, ",
        ),
        (
            (
                Rewire(source=FromNode("n1", label="y")),
                Rewire(source=FromNode("n2", label="sub (net.py:2)")),
            ),
            " with the factors `y` and `sub (net.py:2)` exchanged gives the value of ",
        ),
        (READ_THERE, " with `a` and `b` in the place of its own, "),
        (
            (InsertOperator(op="where", name="ne (net.py:2)", numbers=(3, 8)),),
            " as the mean of the 3 of 8 elements for which `ne (net.py:2)` holds gives ",
        ),
    ],
)
def test_what_a_cause_has_beside_its_change_is_said(edits: Edits, said: str) -> None:
    found = msgspec.structs.replace(CAUSE, edits=edits, mends=())
    assert said in sentence(found, ENGINES)
