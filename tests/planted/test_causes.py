"""Whether a cause that is named states a fact of a mistake."""

import pytest

from explorer.model.causes import Cause, Edit, ReplaceOperator, SetArguments
from explorer.model.divergence import End, OtherValue, Place, Reading, Row
from explorer.model.divergence import Inputs as Read
from explorer.model.graph import Arguments
from tests.planted.causes import is_true
from tests.planted.facts import Fact

END = End(node="n0", source="net.py:1", value=Reading("element", (), (1.0,)))
ROW = Row(first=Place(label="norm"), last="norm", count=1)
DIVERGENCE = OtherValue(phase="forward", ends=(END, END), rows=(ROW, ROW), inputs=Read())


def cause(edit: Edit, op: str = "aten.gelu.default") -> Cause:
    return Cause(
        side="left",
        node="n0",
        op=op,
        edits=(edit,),
        proven="computed_again",
        greatest=0.0,
        noise=None,
        layers=(None, None),
        tried=1,
    )


@pytest.mark.parametrize(
    ("fact", "own", "arguments", "verdict"),
    [
        (Fact("argument", argument="eps", values=(1e-5, 1e-3)), {"eps": 1e-5}, {"eps": 1e-3}, True),
        (
            Fact("argument", argument="epsilon", values=(1e-5, 1e-3)),
            {"eps": 1e-5},
            {"eps": 1e-3},
            True,
        ),
        (Fact("argument", argument="p", values=(0.5, 0.1)), {"eps": 1e-5}, {"eps": 1e-3}, False),
        (Fact("axis", op="softmax"), {"dim": 0}, {"dim": 1}, True),
        (Fact("factor", factor=4.0), {"other": 2.0}, {"other": 8.0}, True),
        (Fact("factor", factor=5.0), {"other": 2.0}, {"other": 8.0}, False),
        (Fact("mask"), {"eps": 1e-5}, {"eps": 1e-3}, False),
    ],
)
def test_arguments_state_what_they_are_called_or_what_they_are(
    fact: Fact, own: Arguments, arguments: Arguments, verdict: bool
) -> None:
    found = cause(SetArguments(own=own, arguments=arguments), "aten._softmax.default")
    assert is_true(fact, DIVERGENCE, found) is verdict


def test_an_operator_states_itself_and_no_other_one() -> None:
    found = cause(ReplaceOperator(op="aten.silu.default"))
    assert is_true(Fact("other op", op="silu"), DIVERGENCE, found)
    assert is_true(Fact("other op", op="gelu"), DIVERGENCE, found)
    assert not is_true(Fact("other op", op="tanh"), DIVERGENCE, found)
    assert not is_true(Fact("other op", op="silu"), DIVERGENCE, None)
